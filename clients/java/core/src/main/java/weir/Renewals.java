package weir;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;
import weir.core.Spec;

/** When a lease is renewed. Instants are System.nanoTime(), which callers hand in. Safe for threads. */
final class Renewals {
  private static final int EACH = 3; // in the length of a lease
  private static final long NS_PER_MS = 1_000_000;
  // The first pause after a renewal that weir has not answered; each further one is twice as long, but not longer than.
  private static final long SOON_NS = 50 * NS_PER_MS;
  private static final long SOON_MOST_NS = 1000 * NS_PER_MS;
  private static final double JITTER_LEAST = 0.8;
  private static final double JITTER_MOST = 1.2;

  private final long lastsNs;
  private long givenNs;
  private long soonNs; // the next pause, where weir has not answered; else 0
  private boolean lost;

  /** Of a lease that lasts so long, and that weir gave at that instant. */
  Renewals(long lastsNs, long givenNs) {
    this.lastsNs = lastsNs;
    this.givenNs = givenNs;
  }

  /** The shortest LEASE among the limits. */
  static long leaseNs(Verdict verdict) {
    int limits = Math.min(verdict.limits().size(), verdict.specs().size());
    return IntStream.range(0, limits).filter(index -> verdict.specs().get(index).kind() == Spec.Kind.LEASES)
        .mapToObj(index -> verdict.limits().get(index).window()).min(Duration::compareTo)
        .orElse(Duration.ofSeconds(1)).toNanos();
  }

  /** How long until the next one; none ends after the lease. */
  synchronized long pauseNs(long nowNs) {
    long regular = lastsNs / EACH;
    if (soonNs == 0) {
      return regular;
    }
    long soon = (long) (soonNs * ThreadLocalRandom.current().nextDouble(JITTER_LEAST, JITTER_MOST));
    soonNs = Math.min(2 * soonNs, SOON_MOST_NS);
    return Math.max(0, Math.min(Math.min(soon, regular), givenNs + lastsNs - nowNs));
  }

  /** weir has answered the one that was sent then, whether the lease runs. */
  synchronized void answered(long sentNs, boolean runs) {
    lost = !runs;
    givenNs = sentNs;
    soonNs = 0;
  }

  /** weir has not answered one. */
  synchronized void missed(long nowNs) {
    lost = nowNs - givenNs >= lastsNs;
    soonNs = soonNs == 0 ? SOON_NS : soonNs;
  }

  synchronized boolean isLost() {
    return lost;
  }
}
