package weir;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import weir.core.Cost;

/**
 * What was taken as an estimate. {@code try (Hold hold = limiter.hold(key, 4000)) { ... hold.used(3127); }} settles it
 * at the end; a block that ends before it says what it used gives everything back.
 */
public final class Hold implements AutoCloseable {
  private final Engine engine;
  private final String key;
  private final long estimate;
  private final Verdict verdict;
  private long used;
  private boolean settled;

  Hold(Engine engine, String key, long estimate, Verdict verdict) {
    this.engine = engine;
    this.key = key;
    this.estimate = estimate;
    this.verdict = verdict;
  }

  /**
   * The take of the estimate.
   *
   * @return the verdict
   */
  public Verdict verdict() {
    return verdict;
  }

  /**
   * Says what was used; close() settles.
   *
   * @param permits more or less than the estimate
   */
  public synchronized void used(long permits) {
    used = permits;
  }

  /**
   * Settles now.
   *
   * @param permits what was used
   * @return false if weir did not get to know: then the estimate stays charged
   */
  public boolean settle(long permits) {
    return Weir.await(settleAsync(permits));
  }

  /**
   * The same without waiting.
   *
   * @param permits what was used
   * @return false if weir did not get to know
   */
  public synchronized CompletableFuture<Boolean> settleAsync(long permits) {
    settled = true;
    if (permits < estimate) {
      engine.giveBack(key, estimate - permits);
    }
    if (verdict.source() != Source.WEIR) {
      if (permits > estimate) {
        engine.charge(key, new Cost(permits - estimate));
      }
      return CompletableFuture.completedFuture(true);
    }
    if (verdict.id().isEmpty()) {
      return CompletableFuture.completedFuture(true);
    }
    long id = verdict.id().getAsLong();
    CompletableFuture<Optional<Object>> reply = permits == 0 ? Calls.ofId(engine, "RL.CANCEL", key, id)
        : Calls.ofId(engine, "RL.SETTLE", key, id, Long.toString(permits));
    return reply.thenApply(found -> found.isPresent() && found.get() != Calls.NOTHING);
  }

  /**
   * Gives everything back.
   *
   * @return false if weir did not get to know
   */
  public boolean cancel() {
    return settle(0);
  }

  /** Settles with what was used, unless that was done. */
  @Override
  public void close() {
    long permits;
    synchronized (this) {
      if (settled) {
        return;
      }
      permits = used;
    }
    settle(permits);
  }
}
