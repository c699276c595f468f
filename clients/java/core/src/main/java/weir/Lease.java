package weir;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A lease of CONCURRENCY: renewed until it is closed, and given back then.
 */
public final class Lease implements AutoCloseable {
  private final Engine engine;
  private final String key;
  private final long cost;
  private final Verdict verdict;
  private final Renewals renewals;
  private final CompletableFuture<Void> lost = new CompletableFuture<>();
  private final AtomicBoolean closed = new AtomicBoolean();
  private volatile Future<?> renewing;

  Lease(Engine engine, String key, long cost, Verdict verdict) {
    this.engine = engine;
    this.key = key;
    this.cost = cost;
    this.verdict = verdict;
    this.renewals = new Renewals(Renewals.leaseNs(verdict), System.nanoTime());
    if (verdict.id().isPresent()) {
      renewLater();
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

  private void renewLater() {
    renewing = engine.weir.timer().after(renewals.pauseNs(System.nanoTime()), this::renew);
  }

  private void renew() {
    long sentNs = System.nanoTime();
    Calls.renew(engine, key, verdict.id().getAsLong()).whenComplete((reply, error) -> {
      if (error == null && reply.isPresent()) {
        renewals.answered(sentNs, reply.get() != Calls.NOTHING && !reply.get().equals(0L));
      } else { // a fault of the program, too: the lease is lost at its end
        renewals.missed(System.nanoTime());
      }
      if (closed.get()) {
        return;
      }
      if (renewals.isLost()) {
        lost.complete(null);
      } else {
        renewLater();
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
