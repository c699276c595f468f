// Asks Bucket4j on a clock of our own, and prints what it answers. The seed is fixed: the same
// Bucket4j prints the same bytes.
//
// Its interval refill keeps the grid of the bucket's creation, ours the grid of the first take from
// full: so a full bucket is asked on its grid only, where the two are the same. It is changed on its
// grid, too: elsewhere Bucket4j counts the time since the last refill at the new rate.

import io.github.bucket4j.Bandwidth;
import io.github.bucket4j.Bucket;
import io.github.bucket4j.BucketConfiguration;
import io.github.bucket4j.ConsumptionProbe;
import io.github.bucket4j.TimeMeter;
import io.github.bucket4j.TokensInheritanceStrategy;
import java.time.Duration;
import java.util.Random;

public final class BucketVectors {
  private static final class Clock implements TimeMeter {
    long nowNs = 0;

    @Override
    public long currentTimeNanos() {
      return nowNs;
    }

    @Override
    public boolean isWallClockBased() {
      return false;
    }
  }

  private final Random random = new Random(20_240_602);
  private final Clock clock = new Clock();
  private Bucket bucket;
  private boolean interval;
  private long capacity;
  private long count;
  private long periodNs;

  private long between(long low, long high) {
    return low + (long) (random.nextDouble() * (high - low + 1));
  }

  private Bandwidth draw(long initial) {
    var refill = Bandwidth.builder().capacity(capacity);
    Duration period = Duration.ofNanos(periodNs);
    var stage = interval ? refill.refillIntervally(count, period) : refill.refillGreedy(count, period);
    return stage.initialTokens(initial).build();
  }

  private String shape(long initial) {
    return String.format("%s %d %d %d %d", interval ? "INTERVAL" : "GREEDY", capacity, count, periodNs,
        initial);
  }

  // A sequence of whole tokens has an interval of whole nanoseconds, and is asked at its multiples.
  private void drawRate(boolean whole) {
    capacity = between(1, 60);
    count = between(1, 40);
    long[] periods = {2_000, 100_000, 7_777_777, 1_000_000_000L, 60_000_000_000L, 86_400_000_000_000L};
    periodNs = periods[random.nextInt(periods.length)];
    if (whole) {
      periodNs -= periodNs % count;
    }
  }

  private void begin(boolean whole) {
    clock.nowNs = 0;
    drawRate(whole);
    long initial = between(0, 2) == 0 ? between(0, capacity) : capacity;
    bucket = Bucket.builder().addLimit(draw(initial)).withCustomTimePrecision(clock).build();
    System.out.printf("limit %s %d%n", shape(initial), whole ? 1 : 0);
  }

  private void pause(boolean whole) {
    long stepNs = periodNs / count;
    long pauseNs = between(0, 5) == 0 ? between(0, 3 * periodNs) : between(0, 2 * stepNs);
    clock.nowNs += whole ? pauseNs / stepNs * stepNs : pauseNs;
    if (interval && bucket.getAvailableTokens() >= capacity) {
      goToGrid();
    }
  }

  private void goToGrid() {
    long passedNs = clock.nowNs % periodNs;
    clock.nowNs += passedNs == 0 ? 0 : periodNs - passedNs;
  }

  private void step(boolean whole) {
    pause(whole);
    long permits = between(1, Math.max(1, between(0, 3) == 0 ? capacity : capacity / 4));
    long what = between(0, 19);
    if (what == 0) {
      bucket.addTokens(permits);
      System.out.printf("add %d %d %d%n", clock.nowNs, permits, bucket.getAvailableTokens());
    } else if (what == 1) {
      bucket.consumeIgnoringRateLimits(permits);
      System.out.printf("force %d %d %d%n", clock.nowNs, permits, bucket.getAvailableTokens());
    } else {
      ConsumptionProbe probe = bucket.tryConsumeAndReturnRemaining(permits);
      System.out.printf("take %d %d %d %d %d %d%n", clock.nowNs, permits, probe.isConsumed() ? 1 : 0,
          probe.getRemainingTokens(), probe.getNanosToWaitForRefill(), probe.getNanosToWaitForReset());
    }
  }

  // The last thing of a sequence: afterwards the fractions may differ.
  private void change(boolean whole) {
    pause(whole);
    if (interval) {
      goToGrid();
    }
    drawRate(whole);
    var modes = TokensInheritanceStrategy.values();
    TokensInheritanceStrategy mode = modes[random.nextInt(modes.length)];
    var to = BucketConfiguration.builder().addLimit(draw(capacity)).build();
    bucket.replaceConfiguration(to, mode);
    System.out.printf("change %d %s %s %d%n", clock.nowNs, mode, shape(capacity),
        bucket.getAvailableTokens());
  }

  public static void main(String[] args) {
    BucketVectors vectors = new BucketVectors();
    for (int sequence = 0; sequence < 300; ++sequence) {
      boolean whole = sequence % 4 < 2;
      vectors.interval = sequence % 2 == 1;
      vectors.begin(whole);
      for (int step = 0; step < 20; ++step) {
        vectors.step(whole);
      }
      vectors.change(whole);
    }
  }
}
