import io.github.bucket4j.Bandwidth;
import io.github.bucket4j.Bucket;
import io.github.bucket4j.BucketConfiguration;
import io.github.bucket4j.ConsumptionProbe;
import io.github.bucket4j.TokensInheritanceStrategy;
import io.github.bucket4j.distributed.ExpirationAfterWriteStrategy;
import io.github.bucket4j.distributed.proxy.AbstractProxyManagerBuilder;
import io.github.bucket4j.distributed.proxy.ProxyManager;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

// What is asked of Bucket4j, whichever client it speaks through. It decides by itself, and writes
// back a state that only it can read if nobody else has written one in between.
final class Bucket4jChecks {
  private static final Duration HOUR = Duration.ofHours(1);
  private static final long MANY = 1_000_000;

  private final ProxyManager<String> buckets;
  private final boolean sendsSha;
  // What the restart left for the check behind it.
  private long granted;

  // `sendsSha`: it calls scripts by their SHA-1.
  Bucket4jChecks(ProxyManager<String> buckets, boolean sendsSha) {
    this.buckets = buckets;
    this.sendsSha = sendsSha;
  }

  // A key lives until its bucket is full again, and ten seconds more.
  static <B extends AbstractProxyManagerBuilder<?, ?, B>> B expiring(B builder) {
    return builder.expirationAfterWrite(ExpirationAfterWriteStrategy
        .basedOnTimeForRefillingBucketUpToMax(Duration.ofSeconds(10)));
  }

  private static BucketConfiguration greedy(long capacity, Duration period) {
    return BucketConfiguration.builder().addLimit(Bandwidth.builder().capacity(capacity)
        .refillGreedy(capacity, period).build()).build();
  }

  // Nothing comes back for an hour.
  private static BucketConfiguration many() {
    return BucketConfiguration.builder().addLimit(Bandwidth.builder().capacity(MANY)
        .refillIntervally(MANY, HOUR).build()).build();
  }

  private Bucket bucket(String key, BucketConfiguration configuration) {
    return buckets.builder().build(key, () -> configuration);
  }

  private static void expect(ConsumptionProbe probe, boolean consumed, long left, String what) {
    Report.expect(List.of(probe.isConsumed(), probe.getRemainingTokens()), List.of(consumed, left),
        what);
  }

  private void figures() {
    Bucket bucket = bucket("figures", greedy(5, HOUR));
    for (long left = 4; left >= 2; --left) {
      expect(bucket.tryConsumeAndReturnRemaining(1), true, left, "one");
    }
    ConsumptionProbe denied = bucket.tryConsumeAndReturnRemaining(3);
    expect(denied, false, 2, "three of two");
    Report.between(715, denied.getNanosToWaitForRefill() / 1e9, 720, "seconds to wait");
    expect(bucket.tryConsumeAndReturnRemaining(2), true, 0, "two of two");
    Report.expect(bucket.tryConsume(1), false, "one of none");
    Report.expect(bucket.getAvailableTokens(), 0L, "left");
  }

  private void stored() {
    Report.expect(Plain.types("figures"), "figures string", "stored");
    Report.between(3600, Plain.number("PTTL", "figures") / 1e3, 3611, "seconds until all is back");
    Report.expect(buckets.getProxyConfiguration("figures").orElseThrow(), greedy(5, HOUR),
        "settings as stored");
    Report.expect(((String) Plain.ask("GET", "figures")).indexOf('\0') >= 0, true, "NUL in it");
    buckets.removeProxy("figures");
    Report.expect(Plain.number("EXISTS", "figures"), 0L, "removed");
  }

  private void verbs() {
    Bucket bucket = bucket("verbs", greedy(10, HOUR));
    bucket.tryConsume(4);
    Report.expect(bucket.tryConsumeAsMuchAsPossible(9), 6L, "as much as possible");
    bucket.addTokens(3);
    Report.expect(bucket.getAvailableTokens(), 3L, "added");
    Report.between(719, bucket.consumeIgnoringRateLimits(5) / 1e9, 720, "seconds of debt");
    Report.expect(bucket.getAvailableTokens(), -2L, "owed");
    bucket.forceAddTokens(14);
    Report.expect(bucket.getAvailableTokens(), 12L, "more than the capacity");
    bucket.reset();
    Report.expect(bucket.getAvailableTokens(), 10L, "reset");
    Report.expect(bucket.estimateAbilityToConsume(11).canBeConsumed(), false, "eleven of ten");
    bucket.tryConsume(4);
    bucket.replaceConfiguration(greedy(20, HOUR), TokensInheritanceStrategy.PROPORTIONALLY);
    Report.expect(bucket.getAvailableTokens(), 12L, "6 of 10 are 12 of 20");
  }

  private void twoLimits() {
    Duration minute = Duration.ofMinutes(1);
    Bucket bucket = bucket("two", BucketConfiguration.builder()
        .addLimit(Bandwidth.builder().capacity(3).refillIntervally(3, minute).build())
        .addLimit(Bandwidth.builder().capacity(20).refillGreedy(20, HOUR).initialTokens(7).build())
        .build());
    expect(bucket.tryConsumeAndReturnRemaining(2), true, 1, "two");
    expect(bucket.tryConsumeAndReturnRemaining(2), false, 1, "two of one");
    long[] left = bucket.asVerbose().getAvailableTokens().getDiagnostics()
        .getAvailableTokensPerEachBandwidth();
    Report.expect(List.of(left[0], left[1]), List.of(1L, 5L), "left of each");
  }

  private void waits() throws Exception {
    buckets.removeProxy("waits");
    Bucket bucket = bucket("waits", greedy(5, Duration.ofMillis(500)));
    long beginNs = System.nanoTime();
    Report.expect(bucket.tryConsume(5), true, "five");
    Report.expect(bucket.asBlocking().tryConsume(1, Duration.ofMillis(5)), false, "short wait");
    Report.expect(bucket.asBlocking().tryConsume(3, Duration.ofSeconds(5)), true, "long wait");
    Report.between(300, (System.nanoTime() - beginNs) / 1e6, 1000, "ms waited for three");
    Thread.sleep(520);
    Report.expect(bucket.getAvailableTokens(), 5L, "after the period");
  }

  private void concurrent() throws Exception {
    Bucket bucket = bucket("crowd", greedy(100, HOUR));
    Report.expect(Report.admittedTogether(() -> bucket.tryConsume(1)), 100L, "admitted");
    Report.expect(bucket.getAvailableTokens(), 0L, "left");
  }

  private void async() throws Exception {
    if (!buckets.isAsyncModeSupported()) {
      throw new Report.Skip("Bucket4j has no asynchronous form over this client");
    }
    var bucket = buckets.asAsync().builder().build("async",
        () -> CompletableFuture.completedFuture(greedy(5, HOUR)));
    Report.expect(bucket.tryConsume(4).get(), true, "four");
    Report.expect(bucket.tryConsume(2).get(), false, "two of one");
    Report.expect(bucket.getAvailableTokens().get(), 1L, "left");
  }

  private void foreign() throws Exception {
    Plain.ask("LPUSH", "list", "x");
    Bucket bucket = bucket("list", greedy(5, HOUR));
    Report.refused(Exception.class, "WRONGTYPE", () -> bucket.tryConsume(1));
    Report.expect(Plain.number("LLEN", "list"), 1L, "what was there");
  }

  private void restart() throws Exception {
    bucket("kept", greedy(5, HOUR)).tryConsume(3);
    Bucket traffic = bucket("traffic", many());
    granted = Restart.granted(Exception.class, () -> traffic.tryConsume(1));
  }

  private void kept() {
    Report.needDurable();
    Bucket bucket = bucket("kept", greedy(5, HOUR));
    var replies = new ArrayList<Boolean>();
    for (int turn = 0; turn < 3; ++turn) {
      replies.add(bucket.tryConsume(1));
    }
    Report.expect(replies, List.of(true, true, false), "two of five are left");
    long stored = MANY - bucket("traffic", many()).getAvailableTokens();
    Report.between(granted, stored, granted + Restart.CALLERS, "grants stored");
    Report.between(3595, Plain.number("PTTL", "kept") / 1e3, 3611, "seconds until all is back");
  }

  void run() {
    Report.say("version %s", Report.version(buckets.getClass()));
    Report.check("protocol", () -> {
      bucket("protocol", greedy(5, HOUR)).getAvailableTokens();
      Plain.expectProtocol(1);
    });
    Report.check("figures", this::figures);
    Report.check("stored", this::stored);
    Report.check("verbs", this::verbs);
    Report.check("two-limits", this::twoLimits);
    Report.checkTimes("waits-and-window", this::waits);
    Report.check("concurrent", this::concurrent);
    Report.check("async", this::async);
    Report.check("errors", this::foreign);
    Report.check("restart", this::restart);
    Report.check("limiter-kept", this::kept);
    if (sendsSha) {
      Report.check("scripts-kept", () -> Plain.expectScriptsKept(2));
    }
    Report.say("done");
    System.exit(0);
  }
}
