package weir;

import io.lettuce.core.RedisException;
import io.lettuce.core.api.StatefulConnection;
import io.netty.channel.ConnectTimeoutException;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/**
 * The connection that calls share, made anew where it has ended or is silent, and those of calls that wait.
 *
 * <p>Whoever finds it ended makes the next one; who comes meanwhile waits for the same. One that was late once is
 * given up, as its network may drop everything, and closed a little later: others still wait for their answers on it.
 */
final class Connections implements AutoCloseable {
  private static final int IDLE_MAX = 8;
  private static final long CLOSE_AFTER_NS = TimeUnit.SECONDS.toNanos(2);

  private final Supplier<CompletableFuture<StatefulConnection<String, String>>> connect;
  private final Timer timer;
  private final long giveUpNs;
  private final AtomicReference<CompletableFuture<StatefulConnection<String, String>>> current =
      new AtomicReference<>();
  private final Deque<StatefulConnection<String, String>> idle = new ConcurrentLinkedDeque<>();
  private final boolean endWithClient;
  private volatile boolean closed;

  /**
   * `giveUpNs`: after so much another connection is tried. `endWithClient`: the client is shut down after close(), and
   * ends them.
   */
  Connections(Supplier<CompletableFuture<StatefulConnection<String, String>>> connect, Timer timer,
      long giveUpNs, boolean endWithClient) {
    this.connect = connect;
    this.timer = timer;
    this.giveUpNs = giveUpNs;
    this.endWithClient = endWithClient;
  }

  CompletableFuture<StatefulConnection<String, String>> shared() {
    while (true) {
      CompletableFuture<StatefulConnection<String, String>> found = current.get();
      if (found != null && !hasEnded(found)) {
        return found;
      }
      CompletableFuture<StatefulConnection<String, String>> made = new CompletableFuture<>();
      if (current.compareAndSet(found, made)) {
        make(made);
        return made;
      }
    }
  }

  private static boolean hasEnded(CompletableFuture<StatefulConnection<String, String>> connecting) {
    return connecting.isDone() && (connecting.isCompletedExceptionally() || !connecting.join().isOpen());
  }

  private void make(CompletableFuture<StatefulConnection<String, String>> made) {
    Future<?> late = timer.after(giveUpNs, () -> made.completeExceptionally(new ConnectTimeoutException()));
    made.whenComplete((connection, error) -> late.cancel(false));
    Aside.THREADS.execute(() -> connect(made)); // a client that was given may look up names in it
  }

  private void connect(CompletableFuture<StatefulConnection<String, String>> made) {
    if (closed) {
      made.completeExceptionally(new RedisException("closed"));
      return;
    }
    try {
      connect.get().whenComplete((connection, error) -> {
        if (error != null) {
          made.completeExceptionally(Failures.unwrap(error));
        } else if (closed || !made.complete(connection)) {
          connection.closeAsync();
          made.completeExceptionally(new RedisException("closed"));
        }
      });
    } catch (RuntimeException error) {
      made.completeExceptionally(error);
    }
  }

  /** A connection for a call that waits, to be given back or dropped. */
  CompletableFuture<StatefulConnection<String, String>> borrow() {
    for (var found = idle.pollFirst(); found != null; found = idle.pollFirst()) {
      if (found.isOpen()) {
        return CompletableFuture.completedFuture(found);
      }
      found.closeAsync();
    }
    CompletableFuture<StatefulConnection<String, String>> made = new CompletableFuture<>();
    make(made);
    return made;
  }

  void giveBack(StatefulConnection<String, String> connection) {
    if (closed || idle.size() >= IDLE_MAX || !connection.isOpen()) {
      connection.closeAsync();
    } else {
      idle.addFirst(connection);
    }
  }

  /** After a call that was not answered, or whose answer was that weir does not serve. */
  void drop(StatefulConnection<String, String> connection, boolean waits) {
    if (waits) { // who has gone has taken nothing
      connection.closeAsync();
      return;
    }
    CompletableFuture<StatefulConnection<String, String>> found = current.get();
    boolean isCurrent = found != null && found.isDone() && !found.isCompletedExceptionally()
        && found.join() == connection;
    if (isCurrent && current.compareAndSet(found, null) && !closed) {
      timer.after(CLOSE_AFTER_NS, connection::closeAsync);
    }
  }

  @Override
  public void close() {
    closed = true;
    CompletableFuture<StatefulConnection<String, String>> found = current.getAndSet(null);
    if (endWithClient) {
      return;
    }
    if (found != null) {
      found.thenAccept(StatefulConnection::closeAsync);
    }
    idle.forEach(StatefulConnection::closeAsync);
  }
}
