package weir;

import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Requests to weir. Instants are System.nanoTime(). */
interface Transport extends AutoCloseable {
  /**
   * The replies in order, each a value or a Throwable; or an error if there are none by that instant.
   *
   * @param waits whether the request waits in weir: it goes by a connection of its own
   */
  CompletableFuture<List<Object>> send(List<Command> commands, long endNs, boolean waits);

  @Override
  void close();
}
