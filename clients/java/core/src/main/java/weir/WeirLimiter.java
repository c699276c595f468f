package weir;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import weir.core.Away;
import weir.core.Core;
import weir.core.Cost;
import weir.core.Limits;
import weir.core.Spec;

/**
 * Limits of weir under keys: {@code weir.limiter("100/1m BURST 20").build().take("user:42")}. Safe for threads.
 *
 * <p>Calls throw what Lettuce throws where the program or its settings are at fault: WRONGTYPE, NOPERM, a policy that
 * is not there. Where weir is away nothing is thrown: it is decided as {@link Builder#away} says.
 */
public final class WeirLimiter {
  private static final Duration HOLD = Duration.ofSeconds(60);
  private final Engine engine;

  WeirLimiter(Engine engine) {
    this.engine = engine;
  }

  Engine engine() {
    return engine;
  }

  /**
   * Takes one permit from all limits of the key, or from none.
   *
   * @param key of the limits
   * @return the verdict
   */
  public Verdict take(String key) {
    return Weir.await(takeAsync(key));
  }

  /**
   * Takes permits.
   *
   * @param key of the limits
   * @param cost permits
   * @return the verdict
   */
  public Verdict take(String key, long cost) {
    return take(Take.from(key).cost(cost));
  }

  /**
   * Takes with options.
   *
   * @param take what is taken
   * @return the verdict
   */
  public Verdict take(Take take) {
    return Weir.await(takeAsync(take));
  }

  /**
   * Takes one permit without waiting for the answer.
   *
   * @param key of the limits
   * @return the verdict to come
   */
  public CompletableFuture<Verdict> takeAsync(String key) {
    return takeAsync(Take.from(key));
  }

  /**
   * Takes with options without waiting for the answer.
   *
   * @param take what is taken
   * @return the verdict to come
   */
  public CompletableFuture<Verdict> takeAsync(Take take) {
    return Observed.verdict(engine, "take", take.key(), () -> Calls.take(engine, take, null));
  }

  /**
   * The verdict that take() would give; changes nothing.
   *
   * @param key of the limits
   * @param cost one number, or one for each limit; 1 where it is left out
   * @return the verdict
   */
  public Verdict peek(String key, long... cost) {
    return Weir.await(peekAsync(key, cost));
  }

  /**
   * The same without waiting.
   *
   * @param key of the limits
   * @param cost one number, or one for each limit; 1 where it is left out
   * @return the verdict to come
   */
  public CompletableFuture<Verdict> peekAsync(String key, long... cost) {
    return Observed.verdict(engine, "peek", key,
        () -> Calls.peek(engine, key, cost.length == 0 ? Cost.ONE : new Cost(cost)));
  }

  /**
   * Waits for its turn.
   *
   * @param key of the limits
   * @param timeout how long at most
   * @return the verdict
   * @throws InterruptedException if the thread is interrupted meanwhile: then the turn is given up
   */
  public Verdict acquire(String key, Duration timeout) throws InterruptedException {
    return Weir.awaitInterruptibly(acquireAsync(Take.from(key), timeout));
  }

  /**
   * The same without blocking.
   *
   * @param take what is taken; not with upTo()
   * @param timeout how long it waits at most
   * @return the verdict to come; who cancels it gives up the turn
   */
  public CompletableFuture<Verdict> acquireAsync(Take take, Duration timeout) {
    return Observed.verdict(engine, "acquire", take.key(), () -> Calls.acquire(engine, take, timeout));
  }

  /**
   * Books now what may be used after a wait.
   *
   * @param take what is booked
   * @return the booking
   */
  public Reservation reserve(Take take) {
    return Weir.await(reserveAsync(take, Optional.empty()));
  }

  /**
   * The same, if the wait is no longer than that.
   *
   * @param take what is booked
   * @param maxWait the longest wait
   * @return the booking
   */
  public Reservation reserve(Take take, Duration maxWait) {
    return Weir.await(reserveAsync(take, Optional.of(maxWait)));
  }

  /**
   * The same without waiting.
   *
   * @param take what is booked
   * @param maxWait the longest wait, if there is one
   * @return the booking to come
   */
  public CompletableFuture<Reservation> reserveAsync(Take take, Optional<Duration> maxWait) {
    return Observed.call(engine, "reserve", take.key(), () -> Calls.reserve(engine, take, maxWait.orElse(null)),
        Outcome::of);
  }

  /**
   * Gives a booking back.
   *
   * @param key of the booking
   * @param reservation the booking
   * @return how many permits came back
   */
  public long cancel(String key, Reservation reservation) {
    if (reservation.id().isEmpty()) {
      return 0;
    }
    return Weir.await(Observed.call(engine, "cancel", key,
        () -> Calls.ofId(engine, "RL.CANCEL", key, reservation.id().getAsLong())
            .thenApply(reply -> reply.filter(Long.class::isInstance).map(Long.class::cast).orElse(0L)),
        back -> Outcome.of(back > 0)));
  }

  /**
   * Takes an estimate, which is settled with what was used; for a minute at most.
   *
   * @param key of the limits
   * @param estimate permits
   * @return the hold, to be closed
   * @throws DeniedException if there is not enough
   */
  public Hold hold(String key, long estimate) {
    return hold(key, estimate, HOLD);
  }

  /**
   * The same for another time.
   *
   * @param key of the limits
   * @param estimate permits
   * @param lasts until then it is to be settled; a day at most
   * @return the hold, to be closed
   * @throws DeniedException if there is not enough
   */
  public Hold hold(String key, long estimate, Duration lasts) {
    return Weir.await(holdAsync(key, estimate, lasts));
  }

  /**
   * The same without waiting.
   *
   * @param key of the limits
   * @param estimate permits
   * @param lasts until then it is to be settled
   * @return the hold to come, or a DeniedException
   */
  public CompletableFuture<Hold> holdAsync(String key, long estimate, Duration lasts) {
    return Observed.verdict(engine, "hold", key, () -> Calls.take(engine, Take.from(key).cost(estimate), lasts))
        .thenApply(verdict -> new Hold(engine, key, estimate, granted(verdict)));
  }

  /**
   * Takes a lease of CONCURRENCY, which renews itself until it is closed.
   *
   * @param key of the limits
   * @return the lease, to be closed
   * @throws DeniedException if there is none
   */
  public Lease lease(String key) {
    return Weir.await(Observed.verdict(engine, "lease", key, () -> Calls.take(engine, Take.from(key), null))
        .thenApply(verdict -> new Lease(engine, key, 1, granted(verdict))));
  }

  /**
   * The same, waiting for its turn.
   *
   * @param key of the limits
   * @param timeout how long at most
   * @return the lease, to be closed
   * @throws DeniedException if there was none in time
   * @throws InterruptedException if the thread is interrupted meanwhile
   */
  public Lease lease(String key, Duration timeout) throws InterruptedException {
    return new Lease(engine, key, 1, granted(Weir.awaitInterruptibly(
        Observed.verdict(engine, "lease", key, () -> Calls.acquire(engine, Take.from(key), timeout)))));
  }

  private static Verdict granted(Verdict verdict) {
    if (!verdict.allowed()) {
      throw new DeniedException(verdict);
    }
    return verdict;
  }

  /**
   * A key of this limiter for {@link Weir#takeAll}.
   *
   * @param key of the limits
   * @param cost permits
   * @return the part
   */
  public Part part(String key, long cost) {
    return new Part(this, key, cost);
  }

  /**
   * Permits taken ahead and handed out in the process, for limits above what a round trip for each call carries.
   *
   * @param block the time that a block is meant for, such as 100 ms
   * @return the lots, to be closed
   * @throws IllegalArgumentException for CONCURRENCY, which is given back one by one, and for a time not above 0
   */
  public Lots lots(Duration block) {
    boolean isOfLeases = engine.known().orElse(List.of()).stream().anyMatch(spec -> spec.kind() == Spec.Kind.LEASES);
    if (isOfLeases || block.isZero() || block.isNegative()) {
      throw new IllegalArgumentException("lots are of a time above 0, and not of CONCURRENCY");
    }
    return new Lots(engine, block);
  }

  /**
   * Whether weir is away for this limiter, since when, and what was decided where.
   *
   * @return the state
   */
  public State state() {
    return engine.state();
  }

  /** How a limiter is made. */
  public static final class Builder {
    private final Weir weir;
    private final List<String> words;
    private final List<Consumer<Change>> listeners = new ArrayList<>();
    private Away away = Away.LOCAL;
    private Double processes;
    private String fallback;
    private Observer observer;
    private int keysMax = Core.KEYS_MAX;

    Builder(Weir weir, String limits) {
      this.weir = weir;
      this.words = Limits.words(limits);
    }

    /**
     * What is decided while weir is away.
     *
     * @param mode local where it is left out
     * @return this
     */
    public Builder away(Away mode) {
      away = mode;
      return this;
    }

    /**
     * How many processes use these limits: each hands out so many a part while weir is away.
     *
     * @param count where it is left out what weir tells counts, or 1
     * @return this
     */
    public Builder processes(double count) {
      processes = count;
      return this;
    }

    /**
     * Of a policy: its limits until weir has told them.
     *
     * @param limits as in RL.TAKE
     * @return this
     */
    public Builder fallback(String limits) {
      fallback = limits;
      return this;
    }

    /**
     * How many keys are kept for the time when weir is away; the longest unused goes first.
     *
     * @param count 10,000 where it is left out
     * @return this
     */
    public Builder keysMax(int count) {
      keysMax = count;
      return this;
    }

    /**
     * Who is told of each change between away and back, in order, on a thread for that.
     *
     * @param listener may take its time; no call waits for it
     * @return this
     */
    public Builder listener(Consumer<Change> listener) {
      listeners.add(listener);
      return this;
    }

    /**
     * Who is told of calls: a {@code weir.telemetry.Telemetry}, for OpenTelemetry.
     *
     * @param told nobody where it is left out
     * @return this
     */
    public Builder observer(Observer told) {
      observer = told;
      return this;
    }

    /**
     * The limiter.
     *
     * @return a limiter of which nothing is used
     * @throws IllegalArgumentException if nothing can be made of the limits
     */
    public WeirLimiter build() {
      Core core = Engine.core(words, away, processes, keysMax, fallback);
      WeirLimiter made = new WeirLimiter(new Engine(weir, words, core, listeners, observer));
      if (observer != null) {
        observer.limiter(made);
      }
      return made;
    }
  }
}
