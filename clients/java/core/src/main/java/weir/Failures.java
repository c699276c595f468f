package weir;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisException;
import io.netty.channel.ConnectTimeoutException;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import weir.core.Failure;

/** Which errors of Lettuce mean that weir is away, and which are the program's own. */
final class Failures {
  private Failures() {}

  /** Without what futures wrap it into. */
  static Throwable unwrap(Throwable error) {
    boolean isWrapped = error instanceof CompletionException || error instanceof ExecutionException;
    return isWrapped && error.getCause() != null ? unwrap(error.getCause()) : error;
  }

  /** Nothing if it is a fault of the program, which is raised. An error reply within decides. */
  static Optional<Failure> of(Throwable error) {
    Throwable found = unwrap(error);
    for (Throwable part = found; part != null; part = part.getCause()) {
      if (part instanceof RedisCommandExecutionException reply && reply.getMessage() != null) {
        return Failure.ofError(reply.getMessage());
      }
    }
    for (Throwable part = found; part != null; part = part.getCause()) {
      if (isLate(part)) {
        return Optional.of(Failure.LATE);
      }
    }
    return found instanceof RedisException || found instanceof IOException ? Optional.of(Failure.GONE)
        : Optional.empty();
  }

  /** Whether weir has said it. */
  static boolean isReply(Throwable error) {
    return unwrap(error) instanceof RedisCommandExecutionException;
  }

  private static boolean isLate(Throwable error) {
    return error instanceof TimeoutException || error instanceof RedisCommandTimeoutException
        || error instanceof ConnectTimeoutException || error instanceof CancellationException;
  }

  /** As a blocking call throws it. */
  static RuntimeException thrown(Throwable error) {
    Throwable found = unwrap(error);
    return found instanceof RuntimeException same ? same : new RedisException(found);
  }
}
