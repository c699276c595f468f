import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RRateLimiter;
import org.redisson.api.RateType;
import org.redisson.api.RedissonClient;
import org.redisson.api.ratelimiter.RateLimiterArgs;
import org.redisson.client.RedisException;

// Redisson's RRateLimiter: every method, what it stores, and what is left after a kill.
public final class RedissonRateLimiter {
  private static final RedissonClient REDISSON = RedissonConnection.connect();
  private static final Duration MINUTE = Duration.ofMinutes(1);
  private static final Duration HOUR = Duration.ofHours(1);
  private static final long MANY = 1_000_000;
  // What the restart left for the check behind it.
  private static long granted;

  private RedissonRateLimiter() {}

  private static RRateLimiter limiter(String key, long count, Duration period) {
    RRateLimiter limiter = REDISSON.getRateLimiter(key);
    Report.expect(limiter.trySetRate(RateType.OVERALL, count, period), true, "trySetRate");
    return limiter;
  }

  private static void setRate() {
    RRateLimiter limiter = limiter("set", 5, MINUTE);
    Report.expect(limiter.trySetRate(RateType.OVERALL, 9, MINUTE), false, "the second trySetRate");
    Report.expect(Plain.hash("set"), Map.of("rate", "5", "interval", "60000", "type", "0",
        "keepAliveTime", "0"), "stored");
    limiter.tryAcquire(4);
    limiter.setRate(RateType.OVERALL, 7, Duration.ofSeconds(30));
    Report.expect(limiter.availablePermits(), 7L, "permits after setRate");
    var config = limiter.getConfig();
    Report.expect(List.of(config.getRate(), config.getRateInterval(), config.getRateType()),
        List.of(7L, 30_000L, RateType.OVERALL), "getConfig");
  }

  private static void updateRate() {
    RRateLimiter limiter = REDISSON.getRateLimiter("update");
    var ten = RateLimiterArgs.of(RateType.OVERALL, 10, MINUTE).keepState(true);
    Report.expect(limiter.updateRate(ten), false, "updateRate of none");
    limiter.trySetRate(RateType.OVERALL, 5, MINUTE);
    limiter.tryAcquire(3);
    Report.expect(limiter.updateRate(ten), true, "updateRate");
    Report.expect(limiter.availablePermits(), 7L, "state kept");
    limiter.updateRate(RateLimiterArgs.of(RateType.OVERALL, 4, MINUTE));
    Report.expect(limiter.availablePermits(), 4L, "state dropped");
    limiter.setRate(RateLimiterArgs.of(RateType.OVERALL, 6, MINUTE)
        .keepAliveTime(Duration.ofMinutes(2)));
    Report.expect(limiter.tryAcquire(6), true, "six");
    Report.expect(limiter.tryAcquire(), false, "the seventh");
    for (String key : List.of("update", "{update}:value", "{update}:permits")) {
      Report.between(119_000, Plain.number("PTTL", key), 120_000, "PTTL of " + key);
    }
  }

  private static void overall() {
    RRateLimiter limiter = limiter("overall", 5, MINUTE);
    Report.expect(limiter.availablePermits(), 5L, "at first");
    for (long left = 4; left >= 2; --left) {
      Report.expect(limiter.tryAcquire(), true, "acquired");
      Report.expect(limiter.availablePermits(), left, "left");
    }
    Report.expect(limiter.tryAcquire(3), false, "three of two");
    Report.expect(limiter.tryAcquire(2), true, "two of two");
    Report.expect(limiter.tryAcquire(), false, "one of none");
    Report.expect(Plain.types("*overall*"),
        "overall hash, {overall}:permits zset, {overall}:value string", "stored");
    Report.expect(Plain.ask("GET", "{overall}:value"), "0", "value");
    Report.expect(Plain.number("ZCARD", "{overall}:permits"), 4L, "grants");
    // A byte for the length, 16 random ones, and the permits in four: 2 in the last grant.
    String last = (String) ((List<?>) Plain.ask("ZRANGE", "{overall}:permits", "-1", "-1")).get(0);
    Report.expect(last.charAt(0) + last.substring(17), "\u0010\u0002\0\0\0", "a packed grant");
    Report.expect(Plain.number("PTTL", "{overall}:value"), -1L, "PTTL");
  }

  private static void perClient() {
    RedissonClient second = RedissonConnection.connect();
    for (RedissonClient one : List.of(REDISSON, second)) {
      RRateLimiter limiter = one.getRateLimiter("each");
      Report.expect(limiter.trySetRate(RateType.PER_CLIENT, 3, MINUTE), one == REDISSON, "set");
      Report.expect(limiter.tryAcquire(3), true, "three of three");
      Report.expect(limiter.tryAcquire(), false, "one of none");
      String id = one.getId();
      Report.expect(Plain.ask("GET", "{each}:value:" + id), "0", "value of a client");
      Report.expect(Plain.ask("TYPE", "{each}:permits:" + id), "zset", "permits of a client");
    }
    Report.expect(Plain.number("EXISTS", "{each}:value"), 0L, "a value of all");
    second.shutdown();
  }

  private static void window() throws Exception {
    RRateLimiter limiter = limiter("window", 3, Duration.ofMillis(400));
    long beginNs = System.nanoTime();
    Report.expect(limiter.tryAcquire(3), true, "three");
    Report.expect(limiter.tryAcquire(1, 20, TimeUnit.MILLISECONDS), false, "too short a wait");
    Report.expect(limiter.tryAcquire(1, Duration.ofSeconds(5)), true, "a long wait");
    Report.between(400, (System.nanoTime() - beginNs) / 1e6, 1500, "ms waited");
    Report.expect(limiter.availablePermits(), 2L, "left");
    limiter.tryAcquire(2);
    long againNs = System.nanoTime();
    limiter.acquire();
    Report.between(150, (System.nanoTime() - againNs) / 1e6, 1500, "ms in acquire");
    Thread.sleep(420);
    Report.expect(limiter.availablePermits(), 3L, "after the window");
    Report.expect(Plain.number("ZCARD", "{window}:permits"), 0L, "grants after the window");
  }

  // Four at a time, every 200 ms: the last of twelve comes in the third turn.
  private static void queue() throws Exception {
    RRateLimiter limiter = limiter("queue", 4, Duration.ofMillis(200));
    long beginNs = System.nanoTime();
    var instants = Report.together(12, () -> {
      limiter.acquire();
      return System.nanoTime();
    });
    Collections.sort(instants);
    Report.between(400, (instants.get(11) - beginNs) / 1e6, 5000, "ms until the last had one");
    Report.between(0, (instants.get(3) - beginNs) / 1e6, 200, "ms until four had one");
  }

  private static void release() {
    RRateLimiter limiter = limiter("release", 5, MINUTE);
    limiter.tryAcquire(4);
    limiter.release(3);
    Report.expect(limiter.availablePermits(), 4L, "given back");
    limiter.release(9);
    Report.expect(limiter.availablePermits(), 5L, "no more than the rate");
  }

  private static void expire() {
    RRateLimiter limiter = limiter("expire", 5, MINUTE);
    limiter.tryAcquire();
    Report.expect(limiter.remainTimeToLive(), -1L, "no expiry");
    Report.expect(limiter.expireIfSet(MINUTE), false, "expireIfSet without one");
    Report.expect(limiter.expireIfNotSet(MINUTE), true, "expireIfNotSet");
    for (String key : List.of("expire", "{expire}:value", "{expire}:permits")) {
      Report.between(59_000, Plain.number("PTTL", key), 60_000, "PTTL of " + key);
    }
    Report.expect(limiter.expireIfGreater(Duration.ofSeconds(30)), false, "not greater");
    Report.expect(limiter.expireIfLess(Duration.ofSeconds(30)), true, "less");
    Report.between(29_000, limiter.remainTimeToLive(), 30_000, "remainTimeToLive");
    Instant instant = Instant.ofEpochMilli(System.currentTimeMillis() + 90_000);
    Report.expect(limiter.expire(instant), true, "expire at an instant");
    Report.expect(limiter.getExpireTime(), instant.toEpochMilli(), "getExpireTime");
    Report.expect(limiter.clearExpire(), true, "clearExpire");
    Report.expect(Plain.number("PTTL", "{expire}:value"), -1L, "PTTL of the value");
    Report.expect(limiter.expire(Duration.ofMillis(30)), true, "expire soon");
  }

  private static void expired() throws Exception {
    Thread.sleep(60);
    Report.expect(Plain.types("*expire*"), "", "left of the expired");
    Report.expect(REDISSON.getRateLimiter("expire").isExists(), false, "isExists");
    RRateLimiter limiter = limiter("gone", 2, MINUTE);
    limiter.tryAcquire();
    Report.expect(limiter.delete(), true, "delete");
    Report.expect(Plain.types("*gone*"), "", "left of the deleted");
  }

  private static void refusals() throws Exception {
    Report.refused(RedisException.class, "RateLimiter is not initialized",
        () -> REDISSON.getRateLimiter("none").tryAcquire());
    RRateLimiter limiter = limiter("many", 5, MINUTE);
    Report.refused(RedisException.class, "Requested permits amount cannot exceed defined rate",
        () -> limiter.tryAcquire(6));
    Plain.ask("SET", "text", "x");
    Report.refused(RedisException.class, "WRONGTYPE",
        () -> REDISSON.getRateLimiter("text").trySetRate(RateType.OVERALL, 1, MINUTE));
    Report.expect(limiter.availablePermits(), 5L, "permits after refusals");
  }

  private static void concurrent() throws Exception {
    RRateLimiter limiter = limiter("crowd", 100, HOUR);
    Report.expect(Report.admittedTogether(limiter::tryAcquire), 100L, "admitted");
    Report.expect(Plain.number("ZCARD", "{crowd}:permits"), 100L, "grants");
  }

  private static void restart() throws Exception {
    limiter("kept", 5, HOUR).tryAcquire(3);
    REDISSON.getRateLimiter("kept").expire(Duration.ofHours(2));
    RRateLimiter traffic = REDISSON.getRateLimiter("traffic");
    granted = Restart.granted(RedisException.class, () -> {
      traffic.trySetRate(RateType.OVERALL, MANY, HOUR);
      return traffic.tryAcquire();
    });
  }

  private static void kept() {
    Report.needDurable();
    RRateLimiter limiter = REDISSON.getRateLimiter("kept");
    Report.expect(limiter.availablePermits(), 2L, "left");
    Report.expect(limiter.tryAcquire(2), true, "two of two");
    Report.expect(limiter.tryAcquire(), false, "one of none");
    Report.between(7_190_000, Plain.number("PTTL", "{kept}:value"), 7_200_000, "PTTL");
    long stored = MANY - REDISSON.getRateLimiter("traffic").availablePermits();
    Report.between(granted, stored, granted + Restart.CALLERS, "grants stored");
    // A call that Redisson sent again writes its entry of the log over the first.
    Report.between(granted, Plain.number("ZCARD", "{traffic}:permits"), stored, "grants logged");
  }

  public static void main(String[] arguments) {
    Report.say("version %s", Report.version(RRateLimiter.class));
    Report.check("protocol", () -> Plain.expectProtocol(3));
    Report.check("set-rate", RedissonRateLimiter::setRate);
    Report.check("update-rate", RedissonRateLimiter::updateRate);
    Report.check("overall", RedissonRateLimiter::overall);
    Report.check("per-client", RedissonRateLimiter::perClient);
    Report.checkTimes("waits-and-window", () -> {
      REDISSON.getRateLimiter("window").delete();
      window();
    });
    Report.checkTimes("acquire-queue", () -> {
      REDISSON.getRateLimiter("queue").delete();
      queue();
    });
    Report.check("release", RedissonRateLimiter::release);
    Report.check("expire", RedissonRateLimiter::expire);
    Report.check("expired-and-deleted", RedissonRateLimiter::expired);
    Report.check("errors", RedissonRateLimiter::refusals);
    Report.check("concurrent", RedissonRateLimiter::concurrent);
    Report.check("restart", RedissonRateLimiter::restart);
    Report.check("limiter-kept", RedissonRateLimiter::kept);
    Report.check("scripts-kept", () -> Plain.expectScriptsKept(3));
    Report.say("done");
    System.exit(0);
  }
}
