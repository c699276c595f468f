import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.redisson.Redisson;
import org.redisson.api.RRateLimiter;
import org.redisson.api.RateType;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisException;
import org.redisson.config.Config;

// Redisson's RRateLimiter on both servers, beside RL.TAKE, RL.ACQUIRE and RL.REFUND of SLIDINGLOG.
public final class RedissonDriver {
  private static final RedissonClient REDIS = connect(Server.REDIS);
  private static final RedissonClient WEIR = connect(Server.WEIR);
  private static final int ACQUIRE_LATE_MS = 60;
  private static final int REDISSON_LATE_MS = 400;

  private RedissonDriver() {}

  private static RedissonClient connect(Server server) {
    Config config = new Config();
    config.setThreads(2).setNettyThreads(2).useSingleServer()
        .setAddress("redis://127.0.0.1:" + server.port)
        .setConnectionPoolSize(4).setConnectionMinimumIdleSize(2);
    return Redisson.create(config);
  }

  private static RRateLimiter limiter(RedissonClient client, String key, long count,
      long periodMs) {
    RRateLimiter limiter = client.getRateLimiter(key);
    limiter.trySetRate(RateType.OVERALL, count, Duration.ofMillis(periodMs));
    return limiter;
  }

  private static String answer(boolean admitted, long left) {
    return admitted + " " + left;
  }

  private static Lockstep.Limiter library(RedissonClient client, String key, long count,
      long periodMs) {
    RRateLimiter limiter = limiter(client, key, count, periodMs);
    return cost -> answer(limiter.tryAcquire(cost), limiter.availablePermits());
  }

  private static Map<String, Lockstep.Limiter> limiters(long count, long periodMs) {
    String key = Server.newKey("redisson");
    var all = new LinkedHashMap<String, Lockstep.Limiter>();
    all.put("Redisson on Redis", library(REDIS, key, count, periodMs));
    all.put("Redisson on weir", library(WEIR, key, count, periodMs));
    all.put("RL.TAKE", cost -> {
      var verdict = Server.WEIR.verdict("RL.TAKE %s:rl SLIDINGLOG %d/%dms COST %d", key, count,
          periodMs, cost);
      return answer(verdict.allowed(), verdict.remaining());
    });
    return all;
  }

  // One of the limiters, which is used while another thread waits for it.
  private interface Waiting {
    boolean take(int cost);

    boolean acquire(int cost);
  }

  private static Waiting library(RRateLimiter limiter) {
    return new Waiting() {
      @Override
      public boolean take(int cost) {
        return limiter.tryAcquire(cost);
      }

      @Override
      public boolean acquire(int cost) {
        return limiter.tryAcquire(cost, Duration.ofSeconds(4));
      }
    };
  }

  private static Waiting natively(String key) {
    return new Waiting() {
      @Override
      public boolean take(int cost) {
        return Server.WEIR.verdict("RL.TAKE %s SLIDINGLOG 4/1s COST %d", key, cost).allowed();
      }

      @Override
      public boolean acquire(int cost) {
        return Server.OTHER_WEIR.verdict("RL.ACQUIRE %s SLIDINGLOG 4/1s COST %d TIMEOUT 4000", key,
            cost).allowed();
      }
    };
  }

  // Four a second: two taken at 0, two at 300 ms. From 350 ms on somebody waits for `cost`;
  // somebody else asks for one at 1100 ms, if `barges`. How long after 1300 ms the first is served.
  private static double lateMs(Waiting limiter, int cost, boolean barges) throws Exception {
    long beginNs = System.nanoTime();
    limiter.take(2);
    Lockstep.waitUntil(beginNs + 300_000_000);
    long beforeNs = System.nanoTime();
    limiter.take(2);
    long afterNs = System.nanoTime();
    Lockstep.waitUntil(beginNs + 350_000_000);
    var served = CompletableFuture.supplyAsync(() -> {
      Report.expect(limiter.acquire(cost), true, "served");
      return System.nanoTime();
    }, task -> new Thread(task).start());
    if (barges) {
      Lockstep.waitUntil(beginNs + 1_100_000_000);
      limiter.take(1);
    }
    long servedNs = served.get();
    Report.expect(servedNs - beforeNs >= 1_000_000_000, true, "not before the instant");
    return (servedNs - afterNs) / 1e6 - 1000;
  }

  private static CompletableFuture<Double> together(Waiting limiter, int cost, boolean barges) {
    return CompletableFuture.supplyAsync(() -> {
      try {
        return lateMs(limiter, cost, barges);
      } catch (Exception error) {
        throw new AssertionError(error);
      }
    }, task -> new Thread(task).start());
  }

  private static double[] late(int cost, boolean barges) throws Exception {
    String key = Server.newKey("wait");
    var onRedis = together(library(limiter(REDIS, key, 4, 1000)), cost, barges);
    var onWeir = together(library(limiter(WEIR, key, 4, 1000)), cost, barges);
    var natively = together(natively(key + ":rl"), cost, barges);
    return new double[] {onRedis.get(), onWeir.get(), natively.get()};
  }

  private static void waiting() throws Exception {
    double[] ms = late(3, false);
    Report.figure("waiting for 3 of 4 a second: behind the exact instant Redisson on Redis %.0f "
        + "ms, on weir %.0f ms, RL.ACQUIRE %.0f ms", ms[0], ms[1], ms[2]);
    Report.between(-1000, ms[2], ACQUIRE_LATE_MS, "RL.ACQUIRE");
    Report.between(-1000, ms[0], REDISSON_LATE_MS, "Redisson on Redis");
    Report.between(-1000, ms[1], REDISSON_LATE_MS, "Redisson on weir");
  }

  // Whoever wants one permit overtakes the one who waits for four, except natively.
  private static void fairness() throws Exception {
    double[] ms = late(4, true);
    Report.figure("waiting for 4 while another takes 1: behind the exact instant Redisson on Redis "
        + "%.0f ms, RL.ACQUIRE %.0f ms", ms[0], ms[2]);
    Report.between(-1000, ms[2], ACQUIRE_LATE_MS, "RL.ACQUIRE");
    Report.between(500, ms[0], 2500, "Redisson on Redis");
  }

  // More than the rate can never be had: an error in Redisson, a denial here.
  private static void tooMany() {
    String key = Server.newKey("many");
    try {
      limiter(WEIR, key, 5, 1000).tryAcquire(6);
    } catch (RedisException error) {
      var verdict = Server.WEIR.verdict("RL.TAKE %s:rl SLIDINGLOG 5/1s COST 6", key);
      Report.expect(verdict.allowed(), false, "allowed");
      Report.expect(verdict.retryMs(), -1L, "retry");
      return;
    }
    throw new AssertionError("Redisson took 6 of 5");
  }

  private static void givingBack() {
    String key = Server.newKey("release");
    for (RedissonClient client : List.of(REDIS, WEIR)) {
      RRateLimiter limiter = limiter(client, key, 5, 60_000);
      limiter.tryAcquire(4);
      limiter.release(3);
      Report.expect(limiter.availablePermits(), 4L, "released");
      limiter.setRate(RateType.OVERALL, 7, Duration.ofMinutes(1));
      Report.expect(limiter.availablePermits(), 7L, "set anew");
    }
    Server.WEIR.verdict("RL.TAKE %s:rl SLIDINGLOG 5/1m COST 4", key);
    Report.expect(Server.WEIR.verdict("RL.REFUND %s:rl 3", key).remaining(), 4L, "RL.REFUND");
    Server.WEIR.call("RL.RESET %s:rl", key);
    Report.expect(Server.WEIR.verdict("RL.PEEK %s:rl SLIDINGLOG 7/1m COST 0", key).remaining(), 7L,
        "RL.RESET");
  }

  // RGcra sends the command GCRA, which Redis 7.0 does not have.
  private static void gcra() {
    String key = Server.newKey("gcra");
    var limiter = WEIR.getGcra(key);
    limiter.trySetRate(4, 5, Duration.ofHours(1));
    for (int cost : new int[] {1, 2, 3, 2, 1, 6}) {
      var result = limiter.tryAcquire(cost);
      var verdict = Server.WEIR.verdict("RL.TAKE %s:rl GCRA 5/1h BURST 4 COST %d", key, cost);
      Report.expect(verdict.allowed(), !result.isLimited(), "allowed");
      Report.expect(verdict.limit(), result.getMaxTokens(), "limit");
      Report.expect(verdict.remaining(), result.getAvailableTokens(), "remaining");
    }
    Report.figure("RGcra on weir, 6 requests: as RL.TAKE ... GCRA");
  }

  public static void main(String[] arguments) {
    Report.say("version Redisson 4.7.0");
    Lockstep.checkSame("burst of 40", List.of(new Lockstep.Step(0, 1, 40)), 10_000,
        () -> limiters(20, 60_000));
    var staggered = List.of(new Lockstep.Step(0, 2), new Lockstep.Step(600, 2),
        new Lockstep.Step(1000, 2), new Lockstep.Step(1100, 1), new Lockstep.Step(1200, 1),
        new Lockstep.Step(2300, 3), new Lockstep.Step(2320, 2), new Lockstep.Step(2900, 2),
        new Lockstep.Step(2940, 1), new Lockstep.Step(3400, 1), new Lockstep.Step(3420, 1));
    Lockstep.checkSame("staggered", staggered, 140, () -> limiters(5, 2000));
    Report.checkTimes("waiting", RedissonDriver::waiting);
    Report.checkTimes("fairness", RedissonDriver::fairness);
    Report.check("release and setRate", RedissonDriver::givingBack);
    Report.check("more than the rate", RedissonDriver::tooMany);
    Report.check("RGcra", RedissonDriver::gcra);
    Report.say("done");
    System.exit(0);
  }
}
