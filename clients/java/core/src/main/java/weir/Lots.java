package weir;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;

/**
 * Permits taken ahead in blocks and handed out in the process, for limits above what a round trip for each call
 * carries. Exact in sum: what is not used goes back when its key is idle, and at the end. Of a process that dies the
 * blocks that it held stay charged.
 *
 * <p>A block is what the process' share of the limit gains in the time of a block, and at most half of its capacity.
 * While weir is away blocks are taken as a limiter takes then.
 */
public final class Lots implements AutoCloseable {
  private final Engine engine;
  private final long blockNs;
  private final Map<String, Lot> lots = new ConcurrentHashMap<>();
  private final Future<?> upkeep;

  Lots(Engine engine, Duration block) {
    this.engine = engine;
    this.blockNs = block.toNanos();
    this.upkeep = engine.weir.timer().every(blockNs, this::giveBackWhatIsIdle);
  }

  /**
   * Takes one permit.
   *
   * @param key of the limits
   * @return whether it was granted
   */
  public boolean take(String key) {
    return take(key, 1);
  }

  /**
   * Takes permits, all or none. Asks weir where the block is used up, and else answers at once.
   *
   * @param key of the limits
   * @param cost permits
   * @return whether they were granted
   */
  public boolean take(String key, long cost) {
    if (engine.observer == null) {
      return taken(key, cost);
    }
    Boolean decided = lot(key).decided(cost);
    if (decided != null) {
      engine.observer.handedOut(Outcome.ofLot(decided));
      return decided;
    }
    return Weir.await(Observed.call(engine, "take", key, () -> CompletableFuture.completedFuture(taken(key, cost)),
        Outcome::of));
  }

  private Lot lot(String key) {
    Lot lot = lots.get(key);
    return lot != null ? lot : lots.computeIfAbsent(key, name -> new Lot(engine, name, blockNs));
  }

  private boolean taken(String key, long cost) {
    while (true) {
      Lot lot = lot(key);
      Boolean granted = lot.take(cost);
      if (granted != null) {
        return granted;
      }
      lots.remove(key, lot);
    }
  }

  private void giveBackWhatIsIdle() {
    lots.forEach((key, lot) -> {
      if (lot.giveBackIfIdle()) {
        lots.remove(key, lot);
      }
    });
  }

  /** Gives back what is left. */
  @Override
  public void close() {
    upkeep.cancel(false);
    Weir.await(CompletableFuture.allOf(lots.values().stream().map(Lot::close).toArray(CompletableFuture[]::new)));
    lots.clear();
  }
}
