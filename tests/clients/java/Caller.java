import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

// What the caller programs of Java share: see ../calls/caller.py for what a caller does.
interface Caller {
  // Longer than any TIMEOUT that is asked for.
  int WAIT_MS = 60_000;
  String ADDRESS = "redis://127.0.0.1:" + System.getenv("CLIENTS_PORT");

  Object call(String command, String[] words) throws Exception;

  Object wait(String command, String[] words) throws Exception;

  // 0 when the library's default is to stay.
  static int readMs() {
    String ms = System.getenv("CLIENTS_READ_MS");
    return ms == null ? 0 : Integer.parseInt(ms);
  }

  static String text(Object reply) {
    if (reply instanceof List<?> list) {
      return list.stream().map(Caller::text).collect(Collectors.joining(" "));
    }
    return reply instanceof byte[] bytes ? new String(bytes) : String.valueOf(reply);
  }

  // The reply as JSON: lists stay lists, an entry of a map is a map of one.
  static String shape(Object reply) {
    if (reply instanceof List<?> list) {
      return list.stream().map(Caller::shape).collect(Collectors.joining(",", "[", "]"));
    }
    if (reply instanceof Map<?, ?> map) {
      return map.entrySet().stream().map(Caller::pair).collect(Collectors.joining(",", "{", "}"));
    }
    if (reply instanceof Map.Entry<?, ?> entry) {
      return "{" + pair(entry) + "}";
    }
    return reply instanceof byte[] || reply instanceof String ? quoted(text(reply)) : text(reply);
  }

  private static String pair(Map.Entry<?, ?> entry) {
    return quoted(text(entry.getKey())) + ":" + shape(entry.getValue());
  }

  private static String quoted(String text) {
    String escaped = text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n")
        .replace("\r", "\\r").replace("\t", "\\t");
    return "\"" + escaped + "\"";
  }

  static void say(String line) {
    System.out.println(line.replaceAll("\\s+", " "));
  }

  private void answer(String[] line) {
    String[] words = Arrays.copyOfRange(line, 3, line.length);
    try {
      Object reply = line[1].equals("wait") ? wait(line[2], words) : call(line[2], words);
      say(line[0] + " ok " + (line[1].equals("shape") ? shape(reply) : text(reply)));
    } catch (Exception error) {
      say(line[0] + " error " + error.getClass().getSimpleName() + ": " + error.getMessage());
    }
  }

  default void obey(Class<?> library) throws Exception {
    String jar = library.getProtectionDomain().getCodeSource().getLocation().getPath();
    say("version " + jar.replaceAll(".*?-(\\d[\\w.]*?)(\\.RELEASE)?\\.jar$", "$1"));
    var input = new BufferedReader(new InputStreamReader(System.in));
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      String[] words = line.split(" ");
      new Thread(() -> answer(words)).start();
    }
    System.exit(0);
  }
}
