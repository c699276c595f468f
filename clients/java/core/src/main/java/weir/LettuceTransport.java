package weir;

import io.lettuce.core.RedisException;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.ProtocolKeyword;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeoutException;
import weir.core.Failure;

/** Requests by Lettuce: one connection for all that does not wait, and one for each call that waits. */
final class LettuceTransport implements Transport {
  private record Keyword(String word) implements ProtocolKeyword {
    @Override
    public byte[] getBytes() {
      return word.getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    public String toString() {
      return word;
    }
  }

  /** Shown in place of a stack, which nobody reads: it is decided here instead. */
  private static final class Late extends TimeoutException {
    private static final long serialVersionUID = 1;

    Late() {
      super("no answer in time");
    }

    @Override
    public synchronized Throwable fillInStackTrace() {
      return this;
    }
  }

  private final Connections connections;
  private final Timer timer;
  private final Batch batch; // null: each request leaves at once

  LettuceTransport(Connections connections, Timer timer, Batch batch) {
    this.connections = connections;
    this.timer = timer;
    this.batch = batch;
  }

  @Override
  public CompletableFuture<List<Object>> send(List<Command> commands, long endNs, boolean waits) {
    CompletableFuture<List<Object>> found = new CompletableFuture<>();
    List<AsyncCommand<String, String, Object>> sent = commands.stream().map(LettuceTransport::made).toList();
    CompletableFuture<StatefulConnection<String, String>> connecting =
        waits ? connections.borrow() : connections.shared();
    Future<?> late = timer.after(endNs - System.nanoTime(), () -> found.completeExceptionally(new Late()));
    connecting.whenComplete((connection, error) -> {
      if (error != null) {
        found.completeExceptionally(error);
      } else if (!found.isDone()) {
        dispatch(connection, sent, waits);
        collect(sent, found);
      } else if (waits) {
        connections.giveBack(connection);
      }
    });
    // Told when the connection is dropped: who sends again then gets another one.
    CompletableFuture<List<Object>> result = new CompletableFuture<>();
    found.whenComplete((replies, error) -> {
      late.cancel(false);
      if (error == null) {
        end(connecting, waits, replies);
        result.complete(replies);
        return;
      }
      sent.forEach(command -> command.cancel(true));
      if (connecting.isDone() && !connecting.isCompletedExceptionally()) {
        connections.drop(connecting.join(), waits);
      }
      result.completeExceptionally(error);
    });
    result.whenComplete((replies, error) -> {
      if (result.isCancelled()) {
        found.cancel(true);
      }
    });
    return result;
  }

  private static AsyncCommand<String, String, Object> made(Command command) {
    CommandArgs<String, String> arguments = new CommandArgs<>(StringCodec.UTF8);
    for (int index = 0; index < command.words().size(); index++) {
      String word = command.words().get(index);
      if (index == command.keyAt()) {
        arguments.addKey(word);
      } else {
        arguments.add(word);
      }
    }
    return new AsyncCommand<>(new io.lettuce.core.protocol.Command<>(new Keyword(command.name()), new ReplyOutput(),
        arguments));
  }

  private void dispatch(StatefulConnection<String, String> connection,
      List<AsyncCommand<String, String, Object>> commands, boolean waits) {
    if (batch != null && !waits) {
      batch.add(connection, commands);
      return;
    }
    send(connection, commands);
  }

  static void send(StatefulConnection<String, String> connection,
      List<AsyncCommand<String, String, Object>> commands) {
    try {
      if (commands.size() == 1) {
        connection.dispatch(commands.get(0));
      } else {
        connection.dispatch(commands);
      }
    } catch (RuntimeException error) {
      commands.forEach(command -> command.completeExceptionally(error));
    }
  }

  /** All replies; a connection that ended while they came is an error of the whole. */
  private static void collect(List<AsyncCommand<String, String, Object>> commands,
      CompletableFuture<List<Object>> result) {
    AsyncCommand<String, String, Object> last = commands.get(commands.size() - 1);
    last.whenComplete((value, error) -> {
      List<Object> replies = new ArrayList<>(commands.size());
      for (AsyncCommand<String, String, Object> command : commands) {
        replies.add(reply(command));
      }
      Object end = replies.get(replies.size() - 1);
      if (end instanceof Throwable failure && !isReply(failure)) {
        result.completeExceptionally(failure);
      } else {
        result.complete(replies);
      }
    });
  }

  private static Object reply(AsyncCommand<String, String, Object> command) {
    if (!command.isDone()) {
      return new Late();
    }
    try {
      return command.join();
    } catch (CancellationException error) { // by Lettuce, as it closed the connection
      return new RedisException("the connection has ended");
    } catch (RuntimeException error) {
      return Failures.unwrap(error);
    }
  }

  private static boolean isReply(Throwable error) {
    return error instanceof io.lettuce.core.RedisCommandExecutionException;
  }

  private void end(CompletableFuture<StatefulConnection<String, String>> connecting, boolean waits,
      List<Object> replies) {
    boolean isGone = replies.get(replies.size() - 1) instanceof Throwable error
        && Failures.of(error).filter(failure -> failure == Failure.GONE).isPresent();
    if (isGone) {
      connections.drop(connecting.join(), waits);
    } else if (waits) {
      connections.giveBack(connecting.join());
    }
  }

  @Override
  public void close() {
    connections.close();
  }
}
