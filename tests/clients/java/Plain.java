import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

// A look at the server past the library: one command on a RESP2 connection of its own, without any
// handshake. A byte of a reply is a character of the same number.
final class Plain {
  record Calls(long calls, long failed) {}

  private Plain() {}

  // A Long, a String, a List of these, or null; an error reply is thrown.
  static Object ask(String... words) {
    try {
      return askAt(Report.PORT, words);
    } catch (IllegalStateException error) {
      if (!error.getMessage().startsWith("MOVED ")) {
        throw error;
      }
      return askAt(Integer.parseInt(error.getMessage().replaceAll(".*:", "")), words);
    }
  }

  // What each owner of a cluster answers.
  private static List<Object> askAll(String... words) {
    var ports = new TreeSet<Long>(List.of((long) Report.PORT));
    if (Report.OWNERS > 0) {
      for (Object row : (List<?>) ask("CLUSTER", "SLOTS")) {
        ports.add((Long) ((List<?>) ((List<?>) row).get(2)).get(1));
      }
    }
    return ports.stream().map(port -> askAt(port.intValue(), words)).toList();
  }

  private static Object askAt(int port, String... words) {
    try (var socket = new Socket("127.0.0.1", port)) {
      var request = new StringBuilder("*" + words.length + "\r\n");
      for (String word : words) {
        request.append("$" + word.length() + "\r\n" + word + "\r\n");
      }
      socket.getOutputStream().write(request.toString().getBytes(StandardCharsets.ISO_8859_1));
      return read(new DataInputStream(new BufferedInputStream(socket.getInputStream())));
    } catch (IOException error) {
      throw new IllegalStateException(words[0] + ": " + error, error);
    }
  }

  private static String line(DataInputStream input) throws IOException {
    var line = new StringBuilder();
    for (int next = input.readUnsignedByte(); next != '\r'; next = input.readUnsignedByte()) {
      line.append((char) next);
    }
    input.readUnsignedByte();
    return line.toString();
  }

  private static String bulk(DataInputStream input, int length) throws IOException {
    byte[] bytes = new byte[length];
    input.readFully(bytes);
    input.readUnsignedByte();
    input.readUnsignedByte();
    return new String(bytes, StandardCharsets.ISO_8859_1);
  }

  private static Object read(DataInputStream input) throws IOException {
    String head = line(input);
    String rest = head.substring(1);
    switch (head.charAt(0)) {
      case ':':
        return Long.valueOf(rest);
      case '-':
        throw new IllegalStateException(rest);
      case '$':
        return rest.equals("-1") ? null : bulk(input, Integer.parseInt(rest));
      case '*':
        List<Object> items = rest.equals("-1") ? null : new ArrayList<>();
        for (int left = Integer.parseInt(rest); left > 0; --left) {
          items.add(read(input));
        }
        return items;
      default:
        return rest;
    }
  }

  static long number(String... words) {
    return (Long) ask(words);
  }

  // The names and types of the keys that match, in one line: "a hash, b string".
  static String types(String pattern) {
    var types = new TreeSet<String>();
    for (Object keys : askAll("KEYS", pattern)) {
      for (Object key : (List<?>) keys) {
        types.add(key + " " + ask("TYPE", key.toString()));
      }
    }
    return String.join(", ", types);
  }

  static Map<Object, Object> hash(String key) {
    var fields = new TreeMap<Object, Object>();
    var items = (List<?>) ask("HGETALL", key);
    for (int index = 0; index < items.size(); index += 2) {
      fields.put(items.get(index), items.get(index + 1));
    }
    return fields;
  }

  // The calls of a command since the server was started, none included.
  static Calls calls(String command) {
    String key = "cmdstat_" + command + ":calls=";
    for (String line : ((String) ask("INFO", "commandstats")).split("\r\n")) {
      if (line.startsWith(key)) {
        String failed = line.replaceAll(".*failed_calls=(\\d+).*", "$1");
        return new Calls(Long.parseLong(line.substring(key.length()).split(",")[0]),
            Long.parseLong(failed));
      }
    }
    return new Calls(0, 0);
  }

  // Each connection of the library speaks the protocol that was asked for.
  static void expectProtocol(int connectionsMin) {
    int found = 0;
    for (Object rows : askAll("CLIENT", "LIST")) {
      for (String row : ((String) rows).split("\n")) {
        if (!row.contains(" cmd=client|list ")) {
          Report.expect(row.contains(" resp=" + Report.PROTOCOL), true, "RESP of " + row);
          ++found;
        }
      }
    }
    Report.between(connectionsMin, found, 1000, "connections");
  }

  // Since the restart no script had to be sent again: weir keeps them, Redis does not.
  static void expectScriptsKept(long callsMin) {
    if (Report.OWNERS > 0) {
      throw new Report.Skip("an owner is sent a script when it is first asked");
    }
    Report.needWeir("Redis forgets scripts at a restart");
    Report.needDurable();
    Calls sha = calls("evalsha");
    Report.between(callsMin, sha.calls, 1000, "EVALSHA");
    Report.expect(sha.failed, 0L, "EVALSHA refused");
    Report.expect(calls("eval").calls + calls("script|load").calls, 0L, "scripts sent again");
  }
}
