package weir;

import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandKeyword;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.codec.StringCodec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** By which weir counts the callers of a policy: one a process. */
final class ProcessName {
  private static final int HOST_MAX = 48;
  private static final Path HOST = Path.of("/proc/sys/kernel/hostname"); // of Linux

  private ProcessName() {}

  static String get() {
    String host = host().replaceAll("[^A-Za-z0-9-_.]", "-");
    return "weir-" + host.substring(0, Math.min(HOST_MAX, host.length())) + "-" + ProcessHandle.current().pid();
  }

  private static String host() {
    String told = System.getenv("HOSTNAME");
    if (told != null && !told.isEmpty()) {
      return told;
    }
    try { // InetAddress.getLocalHost() would look the name up
      return Files.readString(HOST).strip();
    } catch (IOException error) {
      return System.getenv().getOrDefault("COMPUTERNAME", "unknown");
    }
  }

  /** Tells it on a new connection; a user who may not is counted by no name. */
  static <T extends StatefulConnection<String, String>> StatefulConnection<String, String> tell(T connection) {
    CommandArgs<String, String> arguments = new CommandArgs<>(StringCodec.UTF8).add(CommandKeyword.SETNAME).add(get());
    connection.dispatch(new AsyncCommand<>(new io.lettuce.core.protocol.Command<>(CommandType.CLIENT,
        new ReplyOutput(), arguments)));
    return connection;
  }
}
