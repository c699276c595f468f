package weir;

import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.protocol.AsyncCommand;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Requests that come within a time leave together, in one write. */
final class Batch {
  private final Timer timer;
  private final long tickNs;
  private Map<StatefulConnection<String, String>, List<AsyncCommand<String, String, Object>>> waiting =
      new LinkedHashMap<>();

  Batch(Timer timer, long tickNs) {
    this.timer = timer;
    this.tickNs = tickNs;
  }

  synchronized void add(StatefulConnection<String, String> connection,
      List<AsyncCommand<String, String, Object>> commands) {
    if (waiting.isEmpty()) {
      timer.after(tickNs, this::flush);
    }
    waiting.computeIfAbsent(connection, any -> new ArrayList<>()).addAll(commands);
  }

  private void flush() {
    Map<StatefulConnection<String, String>, List<AsyncCommand<String, String, Object>>> leaving;
    synchronized (this) {
      leaving = waiting;
      waiting = new LinkedHashMap<>();
    }
    leaving.forEach(LettuceTransport::send);
  }
}
