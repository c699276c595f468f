package weir;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import weir.core.Cost;

/**
 * What a process has taken ahead of one key: a block that is handed out, and perhaps the next one.
 *
 * <p>The lock is held while weir is asked. The timer, by which that ends in time, must not wait for it.
 */
final class Lot {
  private static final int BLOCK_LASTS = 5; // times of a block, after which its rest is given back
  private static final Duration MARGIN = Duration.ofSeconds(10);

  private final Engine engine;
  private final String key;
  private final long blockNs;
  private final AtomicBoolean fetching = new AtomicBoolean();
  private final ReentrantLock lock = new ReentrantLock();
  private volatile Block block;
  private volatile Block next;
  private volatile long deniedUntilNs = System.nanoTime();
  private volatile boolean ended; // it is in no map any more

  /** A hold of which `left` permits are not handed out yet; below 0 it is closed. */
  private static final class Block {
    private static final long CLOSED = Long.MIN_VALUE;
    private final Hold hold;
    private final long granted;
    private final long bornNs = System.nanoTime();
    private final AtomicLong left;
    private long seen;

    Block(Hold hold) {
      this.hold = hold;
      this.granted = hold.verdict().granted();
      this.left = new AtomicLong(granted);
      this.seen = granted;
    }

    boolean take(long cost) {
      for (long found = left.get(); found >= cost; found = left.get()) {
        if (left.compareAndSet(found, found - cost)) {
          return true;
        }
      }
      return false;
    }

    boolean isLow() {
      return left.get() < granted / 2;
    }

    boolean isIdle() {
      long found = left.get();
      boolean isSame = found == seen;
      seen = found;
      return isSame;
    }

    /** What is left goes back to weir. */
    CompletableFuture<?> close() {
      long rest = left.getAndSet(CLOSED);
      return rest > 0 ? hold.settleAsync(granted - rest) : CompletableFuture.completedFuture(null);
    }
  }

  Lot(Engine engine, String key, long blockNs) {
    this.engine = engine;
    this.key = key;
    this.blockNs = blockNs;
  }

  /** Null where what was taken ahead, or a denial that lasts, does not decide. */
  Boolean decided(long cost) {
    return handOut(cost) ? Boolean.TRUE : next == null && isDenied() ? Boolean.FALSE : null;
  }

  private boolean handOut(long cost) {
    Block found = block;
    boolean isThere = found != null && found.take(cost);
    if (isThere && next == null && found.isLow()) {
      fetchAhead();
    }
    return isThere;
  }

  /** Null if it has ended: then another one is asked. */
  Boolean take(long cost) {
    if (handOut(cost)) {
      return true;
    }
    long endNs = engine.endNs();
    if (!lockBy(endNs)) { // as a call that weir has not answered in time
      return engine.decide(key, new Cost(cost), false, true).allowed();
    }
    try {
      return ended ? null : (Boolean) takeNext(cost, endNs);
    } finally {
      lock.unlock();
    }
  }

  private boolean lockBy(long endNs) {
    boolean isInterrupted = false;
    try {
      while (true) {
        try {
          return lock.tryLock() || lock.tryLock(endNs - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException error) {
          isInterrupted = true;
        }
      }
    } finally {
      if (isInterrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private boolean takeNext(long cost, long endNs) {
    if (block != null && block.take(cost)) {
      return true;
    }
    if (next != null) {
      replace(next);
      next = null;
      if (block.take(cost)) {
        return true;
      }
    }
    if (isDenied()) {
      return false;
    }
    Hold hold = Weir.await(fetch(cost, endNs));
    if (!hold.verdict().allowed()) {
      denied(hold.verdict());
      return false;
    }
    replace(new Block(hold));
    return block.take(cost);
  }

  private boolean isDenied() {
    return System.nanoTime() - deniedUntilNs < 0;
  }

  private void denied(Verdict verdict) {
    long retryNs = verdict.retryAfter().map(Duration::toNanos).orElse(blockNs);
    deniedUntilNs = System.nanoTime() + Math.min(retryNs, blockNs);
  }

  private void replace(Block with) {
    if (block != null) {
      block.close();
    }
    block = with;
  }

  private CompletableFuture<Hold> fetch(long atLeast, long endNs) {
    Duration lasts = Duration.ofNanos(blockNs * BLOCK_LASTS).plus(MARGIN);
    long size = Math.max(atLeast, engine.blockSize(blockNs));
    return Calls.take(engine, Take.from(key).cost(size).upTo(), lasts, endNs)
        .thenApply(verdict -> new Hold(engine, key, verdict.granted(), verdict));
  }

  private void fetchAhead() {
    if (isDenied() || fetching.getAndSet(true)) {
      return;
    }
    fetch(1, engine.endNs()).whenComplete((hold, error) -> {
      if (error == null && !hold.verdict().allowed()) {
        denied(hold.verdict());
      } else if (error == null) {
        Block found = new Block(hold);
        next = found;
        if (ended) {
          found.close();
        }
      }
      fetching.set(false);
    });
  }

  /** Gives back what is not used. True if it holds nothing any more, and has ended. */
  boolean giveBackIfIdle() {
    if (!lock.tryLock()) { // it is in use
      return false;
    }
    try {
      boolean isIdle = isIdle(block) & isIdle(next);
      ended = isIdle && !fetching.get() && block == null && next == null;
      return ended;
    } finally {
      lock.unlock();
    }
  }

  private boolean isIdle(Block found) {
    if (found == null) {
      return true;
    }
    boolean isIdle = found.isIdle();
    if (isIdle || System.nanoTime() - found.bornNs > blockNs * BLOCK_LASTS) {
      found.close();
      block = block == found ? null : block;
      next = next == found ? null : next;
    }
    return isIdle;
  }

  CompletableFuture<?> close() {
    lock.lock();
    try {
      ended = true;
      CompletableFuture<?> one = block == null ? CompletableFuture.completedFuture(null) : block.close();
      CompletableFuture<?> other = next == null ? CompletableFuture.completedFuture(null) : next.close();
      block = null;
      next = null;
      return CompletableFuture.allOf(one, other);
    } finally {
      lock.unlock();
    }
  }
}
