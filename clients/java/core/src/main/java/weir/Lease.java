package weir;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A lease of CONCURRENCY: renewed until it is closed, and given back then.
 */
public final class Lease implements AutoCloseable {
  private static final int RENEWALS = 3; // in the length of a lease
  private static final int ATTEMPTS = 12; // in the length of a lease, while they are not answered

  private final Engine engine;
  private final String key;
  private final long cost;
  private final Verdict verdict;
  private final long lastsNs;
  private final CompletableFuture<Void> lost = new CompletableFuture<>();
  private final AtomicBoolean closed = new AtomicBoolean();
  private volatile long renewedNs = System.nanoTime();
  private volatile Future<?> renewing;

  Lease(Engine engine, String key, long cost, Verdict verdict) {
    this.engine = engine;
    this.key = key;
    this.cost = cost;
    this.verdict = verdict;
    this.lastsNs = verdict.limits().stream().map(LimitState::window).min(Duration::compareTo)
        .orElse(Duration.ofSeconds(1)).toNanos();
    if (verdict.id().isPresent()) {
      renewing = engine.weir.timer().after(lastsNs / RENEWALS, this::renew);
    }
  }

  /**
   * The take of the lease.
   *
   * @return the verdict
   */
  public Verdict verdict() {
    return verdict;
  }

  /**
   * Whether the lease has ended in spite of its renewals.
   *
   * @return true if somebody else may have it
   */
  public boolean isLost() {
    return lost.isDone();
  }

  /**
   * For who wants to be told.
   *
   * @return completes when the lease has ended in spite of its renewals
   */
  public CompletableFuture<Void> lost() {
    return lost.copy();
  }

  private void renew() {
    long began = System.nanoTime();
    Calls.ofId(engine, "RL.RENEW", key, verdict.id().getAsLong()).whenComplete((reply, error) -> {
      boolean isAnswered = error == null && reply.isPresent();
      boolean isEnded = isAnswered && (reply.get() == Calls.NOTHING || reply.get().equals(0L));
      if (isAnswered && !isEnded) {
        renewedNs = began;
      }
      if (closed.get()) {
        return;
      }
      if (isEnded || System.nanoTime() - renewedNs >= lastsNs) {
        lost.complete(null);
      } else {
        renewing = engine.weir.timer().after(lastsNs / (isAnswered ? RENEWALS : ATTEMPTS), this::renew);
      }
    });
  }

  /** Gives the lease back, once. */
  @Override
  public void close() {
    if (closed.getAndSet(true)) {
      return;
    }
    engine.giveBack(key, cost);
    if (verdict.id().isPresent()) {
      renewing.cancel(false);
      Weir.await(Calls.ofId(engine, "RL.RELEASE", key, verdict.id().getAsLong()));
    }
  }
}
