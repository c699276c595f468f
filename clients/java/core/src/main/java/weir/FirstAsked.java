package weir;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;

/** Lettuce gives up a new connection now and then before it has said anything on it: it is asked once more. */
final class FirstAsked {
  private static final String NOT_ASKED = "RedisHandshakeHandler not registered";

  private FirstAsked() {}

  static <T> CompletableFuture<T> retried(Supplier<? extends CompletionStage<T>> connect) {
    return connect.get().handle((connection, error) -> {
      if (error == null) {
        return CompletableFuture.completedFuture(connection);
      }
      return isNotAsked(error) ? connect.get().toCompletableFuture() : CompletableFuture.<T>failedFuture(error);
    }).thenCompose(Function.identity()).toCompletableFuture();
  }

  private static boolean isNotAsked(Throwable error) {
    for (Throwable part = error; part != null; part = part.getCause()) {
      if (String.valueOf(part.getMessage()).contains(NOT_ASKED)) {
        return true;
      }
    }
    return false;
  }
}
