import io.github.bucket4j.Bandwidth;
import io.github.bucket4j.Bucket;
import io.github.bucket4j.BucketConfiguration;
import io.github.bucket4j.ConsumptionProbe;
import io.github.bucket4j.TokensInheritanceStrategy;
import io.github.bucket4j.redis.lettuce.cas.LettuceBasedProxyManager;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.regex.Pattern;

// Bucket4j in this process and, through its Lettuce module, on both servers, beside RL.* of
// TOKENBUCKET.
public final class Bucket4jDriver {
  private static final int LATE_MS = 30;
  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final Duration SECONDS = Duration.ofSeconds(2);

  private Bucket4jDriver() {}

  private static Bandwidth greedy(long capacity, Duration period) {
    return Bandwidth.builder().capacity(capacity).refillGreedy(capacity, period).build();
  }

  private static Bucket local(Bandwidth... limits) {
    var builder = Bucket.builder();
    for (Bandwidth limit : limits) {
      builder.addLimit(limit);
    }
    return builder.build();
  }

  private static Bucket remote(Server server, String key, Bandwidth... limits) {
    var builder = BucketConfiguration.builder();
    for (Bandwidth limit : limits) {
      builder.addLimit(limit);
    }
    var configuration = builder.build();
    return LettuceBasedProxyManager.builderFor(server.client).build().builder()
        .build(key.getBytes(), () -> configuration);
  }

  private static String answer(boolean allowed, long left) {
    return allowed + " " + left;
  }

  private static Lockstep.Limiter library(Bucket bucket) {
    return cost -> {
      ConsumptionProbe probe = bucket.tryConsumeAndReturnRemaining(cost);
      return answer(probe.isConsumed(), probe.getRemainingTokens());
    };
  }

  private static Map<String, Lockstep.Limiter> limiters(String limits, Bandwidth... bandwidths) {
    String key = Server.newKey("bucket4j");
    var all = new LinkedHashMap<String, Lockstep.Limiter>();
    Bucket[] buckets = {remote(Server.REDIS, key, bandwidths), remote(Server.WEIR, key, bandwidths),
      local(bandwidths)};
    all.put("Bucket4j", library(buckets[2]));
    all.put("Bucket4j on Redis", library(buckets[0]));
    all.put("Bucket4j on weir", library(buckets[1]));
    all.put("RL.TAKE", cost -> {
      var verdict = Server.WEIR.verdict("RL.TAKE %s:rl %s COST %d", key, limits, cost);
      return answer(verdict.allowed(), verdict.remaining());
    });
    return all;
  }

  // Every kind of taking and giving, within an hour's interval, so that nothing comes back.
  private static void verbs() {
    Bucket bucket = local(Bandwidth.builder().capacity(10).refillIntervally(10, Duration.ofHours(1))
        .initialTokens(6).build());
    String line = "RL.%s " + Server.newKey("verbs") + "%s%s";
    String limits = " TOKENBUCKET 10/1h CAPACITY 10 INITIAL 6 REFILL INTERVAL";
    Function<String, long[]> take = rest -> Server.WEIR.numbers(line, "TAKE", limits, rest);
    Report.expect(take.apply(" COST 2")[2], bucket.tryConsumeAndReturnRemaining(2)
        .getRemainingTokens(), "tryConsume");
    Report.expect(take.apply(" COST 9 UPTO")[6], bucket.tryConsumeAsMuchAsPossible(9),
        "tryConsumeAsMuchAsPossible");
    bucket.addTokens(3);
    Report.expect(Server.WEIR.numbers(line, "REFUND", "", " 3")[2], bucket.getAvailableTokens(),
        "addTokens");
    bucket.consumeIgnoringRateLimits(5);
    Report.expect(take.apply(" COST 5 FORCE")[0], 1L, "consumeIgnoringRateLimits");
    bucket.addTokens(7);
    Report.expect(Server.WEIR.numbers(line, "REFUND", "", " 7")[2], bucket.getAvailableTokens(),
        "what is left of the debt");
    Report.expect(Server.WEIR.numbers(line, "PEEK", limits, " COST 6")[0] == 1,
        bucket.estimateAbilityToConsume(6).canBeConsumed(), "estimateAbilityToConsume");
    Report.figure("verbs: tryConsume, as much as possible, add, force, estimate: the same");
  }

  // From full on ours begins a new grid of intervals; Bucket4j keeps that of the bucket's making.
  private static void grid(Bandwidth interval) throws Exception {
    var steps = List.of(new Lockstep.Step(0, 5), new Lockstep.Step(1120, 4),
        new Lockstep.Step(2050, 5));
    var answers = Lockstep.play(steps, 50, () -> limiters("TOKENBUCKET 5/1s REFILL INTERVAL",
        interval), () -> {});
    Report.expect(answers.get("Bucket4j"), List.of("true 0", "true 1", "true 0"), "Bucket4j");
    Report.expect(answers.get("RL.TAKE"), List.of("true 0", "true 1", "false 1"), "RL.TAKE");
    Report.figure("interval, used from full at 1.12 s: the next refill at 2 s by Bucket4j, at 2.12 "
        + "s by RL.TAKE");
  }

  private static void waits() throws Exception {
    Bucket bucket = local(greedy(5, SECOND));
    String line = "RL.%s " + Server.newKey("waits") + " TOKENBUCKET 5/1s COST %d";
    Server.WEIR.verdict(line, "TAKE", 5);
    bucket.tryConsume(5);
    for (int cost = 1; cost <= 5; ++cost) {
      long retryMs = Server.WEIR.verdict(line, "PEEK", cost).retryMs();
      double ms = bucket.estimateAbilityToConsume(cost).getNanosToWaitForRefill() / 1e6;
      Report.between(-LATE_MS, retryMs - ms, LATE_MS, "wait for " + cost);
    }
    long beginNs = System.nanoTime();
    var verdict = Server.WEIR.verdict(line + " TIMEOUT 2000", "ACQUIRE", 3);
    double weirMs = (System.nanoTime() - beginNs) / 1e6;
    Report.expect(verdict.allowed(), true, "RL.ACQUIRE");
    Report.expect(bucket.asBlocking().tryConsume(3, Duration.ofSeconds(2)), true, "asBlocking");
    double bothMs = (System.nanoTime() - beginNs) / 1e6;
    Report.between(540, weirMs, 600 + LATE_MS, "waited in the server");
    Report.between(0, bothMs - weirMs, LATE_MS, "left to wait for Bucket4j");
    Report.figure("waits: for 1 to 5 within %d ms; 3 permits came after %.0f ms in the server, "
        + "%.0f ms later by Bucket4j", LATE_MS, weirMs, bothMs - weirMs);
  }

  private static void changes() {
    for (String mode : List.of("RESET", "ASIS", "PROPORTIONAL", "ADDITIVE")) {
      Bucket bucket = local(greedy(10, Duration.ofHours(1)));
      bucket.tryConsume(4);
      var strategy = TokensInheritanceStrategy.valueOf(mode.replace("ASIS", "AS_IS")
          .replace("PROPORTIONAL", "PROPORTIONALLY"));
      bucket.replaceConfiguration(BucketConfiguration.builder().addLimit(
          greedy(20, Duration.ofHours(1))).build(), strategy);
      String key = Server.newKey("change");
      Server.WEIR.connection.sync().del(key);
      policy(mode, key, 10);
      Server.WEIR.verdict("RL.TAKE %s POLICY %s COST 4", key, mode);
      policy(mode, key, 20);
      Report.expect(Server.WEIR.verdict("RL.PEEK %s POLICY %s COST 0", key, mode).remaining(),
          bucket.getAvailableTokens(), mode);
    }
    Report.figure("replaceConfiguration: the four ways to keep tokens, the same");
  }

  // How often a decision had to be tried, 8 threads on one bucket: what was read may have changed
  // by the time that it is written back.
  private static void contention() throws Exception {
    Bucket bucket = remote(Server.REDIS, Server.newKey("contended"),
        greedy(100, Duration.ofHours(1)));
    bucket.getAvailableTokens();
    long before = scripts();
    var admitted = new AtomicInteger();
    var threads = new ArrayList<Thread>();
    for (int thread = 0; thread < 8; ++thread) {
      threads.add(new Thread(() -> {
        for (int turn = 0; turn < 25; ++turn) {
          admitted.addAndGet(bucket.tryConsume(1) ? 1 : 0);
        }
      }));
    }
    threads.forEach(Thread::start);
    for (Thread thread : threads) {
      thread.join();
    }
    Report.expect(admitted.get(), 100, "admitted");
    long sent = scripts() - before;
    Report.between(101, sent, 5000, "scripts for 100 grants");
    Report.figure("8 threads, 100 grants from one bucket on Redis: %d scripts sent to write them, "
        + "each after a GET", sent);
  }

  private static long scripts() {
    var calls = Pattern.compile("cmdstat_eval:calls=(\\d+)").matcher(
        Server.REDIS.connection.sync().info("commandstats"));
    return calls.find() ? Long.parseLong(calls.group(1)) : 0;
  }

  private static void policy(String mode, String key, int capacity) {
    Server.WEIR.call("RL.POLICY SET %s TOKENBUCKET %d/1h ONCHANGE %s", mode, capacity, mode);
  }

  public static void main(String[] arguments) {
    Report.say("version Bucket4j 8.19.0");
    limiters("TOKENBUCKET 1/1s", greedy(1, SECOND)).values().forEach(Bucket4jDriver::once);
    Lockstep.checkSame("burst of 40", List.of(new Lockstep.Step(0, 1, 40)), 10_000,
        () -> limiters("TOKENBUCKET 20/1h", greedy(20, Duration.ofHours(1))));
    var paced = List.of(new Lockstep.Step(0, 1, 7), new Lockstep.Step(600, 1, 2),
        new Lockstep.Step(1000, 1), new Lockstep.Step(1800, 3), new Lockstep.Step(2200, 3),
        new Lockstep.Step(4600, 5), new Lockstep.Step(4640, 1));
    Lockstep.checkSame("greedy", paced, 150, () -> limiters("TOKENBUCKET 5/2s", greedy(5, SECONDS)));
    var interval = Bandwidth.builder().capacity(10).refillIntervally(5, SECONDS).build();
    // Never full again: from full on, ours begins a new grid, and Bucket4j keeps its own.
    var slow = List.of(new Lockstep.Step(0, 1, 12), new Lockstep.Step(1800, 1),
        new Lockstep.Step(2200, 4), new Lockstep.Step(3000, 2), new Lockstep.Step(4200, 5));
    Lockstep.checkSame("interval", slow, 150,
        () -> limiters("TOKENBUCKET 5/2s CAPACITY 10 REFILL INTERVAL", interval));
    var levels = List.of(new Lockstep.Step(0, 1, 7), new Lockstep.Step(2200, 1, 5),
        new Lockstep.Step(4400, 1, 2));
    Lockstep.checkSame("two bandwidths", levels, 150,
        () -> limiters("TOKENBUCKET 5/2s TOKENBUCKET 8/1h", greedy(5, SECONDS),
            greedy(8, Duration.ofHours(1))));
    Report.check("grid", () -> grid(Bandwidth.builder().capacity(5).refillIntervally(5, SECOND)
        .build()));
    Report.check("verbs", Bucket4jDriver::verbs);
    Report.checkTimes("waits", Bucket4jDriver::waits);
    Report.check("replaceConfiguration", Bucket4jDriver::changes);
    Report.check("contention", Bucket4jDriver::contention);
    Report.say("done");
    System.exit(0);
  }

  private static void once(Lockstep.Limiter limiter) {
    try {
      limiter.ask(1);
    } catch (Exception error) {
      throw new AssertionError(error);
    }
  }
}
