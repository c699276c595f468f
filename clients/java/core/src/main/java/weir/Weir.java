package weir;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * A weir-server, a shard, or a cluster, which limiters share. Safe for threads.
 *
 * <p>Futures are completed on threads of Lettuce: what is chained to them without an executor must not block.
 */
public final class Weir implements AutoCloseable {
  private final Transport transport;
  private final Timer timer;
  private final Options options;
  private final Runnable onClose;
  private final Policies policies;
  private final ExecutorService listening = Aside.inOrder("weir-changes");

  Weir(Transport transport, Timer timer, Options options, Runnable onClose) {
    this.transport = transport;
    this.timer = timer;
    this.options = options;
    this.onClose = onClose;
    this.policies = new Policies(transport);
  }

  /**
   * A server or a shard by its address, with a deadline of 100 ms and one retry.
   *
   * @param uri as Lettuce takes it: {@code redis://}, {@code rediss://}, {@code redis-sentinel://}
   * @return what limiters are made of
   */
  public static Weir connect(String uri) {
    return builder(uri).build();
  }

  /**
   * The same with options.
   *
   * @param uri as Lettuce takes it
   * @return a builder
   */
  public static WeirBuilder builder(String uri) {
    return new WeirBuilder().uri(uri);
  }

  /**
   * With a client of Lettuce in place of an address.
   *
   * @return a builder
   */
  public static WeirBuilder builder() {
    return new WeirBuilder();
  }

  /**
   * A limiter.
   *
   * @param limits as in RL.TAKE, {@code POLICY name} among them
   * @return its builder
   */
  public WeirLimiter.Builder limiter(String limits) {
    return new WeirLimiter.Builder(this, limits);
  }

  /**
   * Takes from several keys, from all or from none, with RL.MTAKE; over slots of a cluster with holds that are settled
   * when all grant.
   *
   * @param parts of limiters of this Weir; at most 16, each key once
   * @return the verdict, key by key
   */
  public Verdicts takeAll(Part... parts) {
    return await(takeAllAsync(parts));
  }

  /**
   * The same without waiting.
   *
   * @param parts of limiters of this Weir
   * @return the verdict to come
   */
  public CompletableFuture<Verdicts> takeAllAsync(Part... parts) {
    return TakeAll.take(List.of(parts));
  }

  /**
   * Named policies.
   *
   * @return RL.POLICY, for users with {@code @ratelimitadmin}
   */
  public Policies policies() {
    return policies;
  }

  Transport transport() {
    return transport;
  }

  /** Who is told of changes may take as long as he likes. */
  Executor listening() {
    return listening;
  }

  Timer timer() {
    return timer;
  }

  Options options() {
    return options;
  }

  /** The value, or the error as it was raised. */
  static <T> T await(CompletableFuture<T> future) {
    try {
      return future.join();
    } catch (CancellationException | java.util.concurrent.CompletionException error) {
      throw Failures.thrown(error);
    }
  }

  /** As await(), for calls that wait: who is interrupted gives up the turn. */
  static <T> T awaitInterruptibly(CompletableFuture<T> future) throws InterruptedException {
    try {
      return future.get();
    } catch (ExecutionException error) {
      throw Failures.thrown(error);
    } catch (InterruptedException error) {
      future.cancel(true);
      throw error;
    }
  }

  /** Waits for the first connection; whether there is one is known to the first call. */
  Weir connected(CompletableFuture<?> connecting, Duration atMost) {
    try {
      connecting.get(atMost.toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException | java.util.concurrent.TimeoutException error) {
      return this;
    } catch (InterruptedException error) {
      Thread.currentThread().interrupt();
    }
    return this;
  }

  /** Closes the connections, and the client unless it was given. */
  @Override
  public void close() {
    transport.close();
    timer.close();
    listening.shutdown();
    onClose.run();
  }
}
