import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.redisson.api.GcraResult;
import org.redisson.api.RGcra;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisException;

// Redisson's RGcra. It sends the command GCRA, which Redis 7 does not have: there only the settings
// can be asked for.
public final class RedissonGcra {
  private static final RedissonClient REDISSON = RedissonConnection.connect();
  private static final String WHY = "Redis 7 has no command GCRA";

  private RedissonGcra() {}

  private static RGcra limiter(String key, long burst, long tokens, Duration period) {
    RGcra limiter = REDISSON.getGcra(key);
    Report.expect(limiter.trySetRate(burst, tokens, period), true, "trySetRate");
    return limiter;
  }

  // Times are compared exactly: they are rounded up, and no second passes within a check's instant.
  private static void expect(GcraResult got, boolean limited, long limit, long left, long retry,
      long full) {
    Report.expect(got, new GcraResult(limited, limit, left, retry, full), "result");
  }

  private static void settings() {
    RGcra limiter = limiter("settings", 4, 5, Duration.ofSeconds(90));
    Report.expect(limiter.trySetRate(9, 9, Duration.ofSeconds(9)), false, "the second trySetRate");
    Report.expect(Plain.hash("{settings}:config"), Map.of("maxBurst", "4", "rate", "5", "period",
        "90"), "stored");
    limiter.setRate(7, 1, Duration.ofMillis(2500));
    var config = limiter.getConfig();
    Report.expect(List.of(config.getMaxBurst(), config.getTokensPerPeriod(), config.getPeriod()),
        List.of(7L, 1L, Duration.ofMillis(2500)), "getConfig");
  }

  private static void figures() {
    Report.needWeir(WHY);
    RGcra limiter = limiter("figures", 4, 6, Duration.ofMinutes(1));
    expect(limiter.tryAcquire(), false, 5, 4, -1, 10);
    expect(limiter.tryAcquire(2), false, 5, 2, -1, 30);
    expect(limiter.tryAcquire(3), true, 5, 2, 10, 30);
    expect(limiter.tryAcquire(2), false, 5, 0, -1, 50);
    expect(limiter.tryAcquire(), true, 5, 0, 10, 50);
    expect(limiter.tryAcquire(6), true, 5, 0, -1, 50);
    Report.between(48_000, Plain.number("PTTL", "figures"), 50_000, "PTTL until all is back");
    limiter.setRate(2, 1, Duration.ofMinutes(1));
    expect(limiter.tryAcquire(), false, 3, 2, -1, 60);
  }

  // The form that names the rate with each call stores no settings.
  private static void withoutSettings() {
    Report.needWeir(WHY);
    RGcra limiter = REDISSON.getGcra("direct");
    expect(limiter.tryAcquire(2, 1, Duration.ofSeconds(30)), false, 3, 2, -1, 30);
    expect(limiter.tryAcquire(2, 1, Duration.ofSeconds(30), 2), false, 3, 0, -1, 90);
    expect(limiter.tryAcquire(2, 1, Duration.ofSeconds(30)), true, 3, 0, 30, 90);
    Report.expect(Plain.number("EXISTS", "{direct}:config"), 0L, "settings");
  }

  private static void window() throws Exception {
    Report.needWeir(WHY);
    REDISSON.getGcra("window").delete();
    RGcra limiter = limiter("window", 0, 5, Duration.ofSeconds(2));
    Report.expect(limiter.tryAcquire().isLimited(), false, "limited at first");
    Report.expect(limiter.tryAcquire().isLimited(), true, "limited at once");
    Thread.sleep(420);
    Report.expect(limiter.tryAcquire().isLimited(), false, "limited after 2 s / 5");
    Thread.sleep(420);
    Report.expect(Plain.number("EXISTS", "window"), 0L, "a limiter that is full again");
  }

  private static void concurrent() throws Exception {
    Report.needWeir(WHY);
    RGcra limiter = limiter("crowd", 99, 1, Duration.ofHours(1));
    Report.expect(Report.admittedTogether(() -> !limiter.tryAcquire().isLimited()), 100L,
        "admitted");
  }

  private static void errors() throws Exception {
    Report.refused(RedisException.class, "GCRA rate is not set",
        () -> REDISSON.getGcra("none").tryAcquire());
    Report.needWeir(WHY);
    limiter("text", 1, 1, Duration.ofSeconds(1));
    Plain.ask("SET", "text", "x");
    Report.refused(RedisException.class, "WRONGTYPE", () -> REDISSON.getGcra("text").tryAcquire());
    Report.expect(Plain.ask("GET", "text"), "x", "what was there");
  }

  private static void expiry() {
    RGcra limiter = limiter("expire", 4, 6, Duration.ofMinutes(1));
    Report.expect(limiter.expire(Duration.ofSeconds(20)), true, "expire");
    Report.between(19_000, Plain.number("PTTL", "{expire}:config"), 20_000, "PTTL of the settings");
    Report.expect(limiter.delete(), true, "delete");
    Report.expect(Plain.types("*expire*"), "", "left of the deleted");
  }

  private static void restart() throws Exception {
    limiter("kept", 4, 1, Duration.ofHours(1));
    for (int turn = 0; turn < 3 && Report.IS_WEIR; ++turn) {
      REDISSON.getGcra("kept").tryAcquire();
    }
    Report.restartServer();
    Report.eventually(() -> REDISSON.getKeys().count());
    Report.needDurable();
    Report.expect(REDISSON.getGcra("kept").getConfig().getMaxBurst(), 4L, "burst");
  }

  private static void kept() {
    Report.needWeir(WHY);
    Report.needDurable();
    GcraResult got = REDISSON.getGcra("kept").tryAcquire(2);
    Report.expect(List.of(got.isLimited(), got.getAvailableTokens()), List.of(false, 0L), "two");
    // The second that the server was away is counted.
    Report.between(17_900, got.getFullBurstAfterSeconds(), 17_999, "seconds until all is back");
    Report.expect(REDISSON.getGcra("kept").tryAcquire().isLimited(), true, "one of none");
  }

  public static void main(String[] arguments) {
    Report.say("version %s", Report.version(RGcra.class));
    Report.check("settings", RedissonGcra::settings);
    Report.checkTimes("figures", () -> {
      REDISSON.getGcra("figures").delete();
      figures();
    });
    Report.check("without-settings", RedissonGcra::withoutSettings);
    Report.checkTimes("window", RedissonGcra::window);
    Report.check("concurrent", RedissonGcra::concurrent);
    Report.check("errors", RedissonGcra::errors);
    Report.check("expire-and-delete", RedissonGcra::expiry);
    Report.check("restart", RedissonGcra::restart);
    Report.check("limiter-kept", RedissonGcra::kept);
    Report.check("scripts-kept", () -> Plain.expectScriptsKept(2));
    Report.say("done");
    System.exit(0);
  }
}
