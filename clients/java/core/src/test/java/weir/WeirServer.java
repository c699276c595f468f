package weir;

import java.io.BufferedInputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;

/** A weir-server for tests, on a free port and a directory of its own. */
public final class WeirServer implements AutoCloseable {
  /** The program that is tried. */
  public static final String PROGRAM = Stream.of(System.getenv("WEIR_SERVER"), System.getenv("CLIENTS_PROGRAM"))
      .filter(Objects::nonNull).findFirst().orElseGet(() -> root().resolve("build/release/weir-server").toString());
  private static final long PATIENCE_MS = 120_000;

  public final int port;
  public final Path directory;
  private final List<String> command;
  private Process process;

  public WeirServer(String... options) throws Exception {
    directory = Files.createTempDirectory("weir-client-");
    port = freePort();
    command = new ArrayList<>(List.of(PROGRAM, "--port", Integer.toString(port), "--dir",
        directory.resolve("data").toString()));
    command.addAll(List.of(options));
  }

  /** None of those that Linux gives to connections on their way out, as those of other tests are. */
  private static int freePort() {
    while (true) {
      int port = ThreadLocalRandom.current().nextInt(10_000, 32_000);
      try (ServerSocket free = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
        return free.getLocalPort();
      } catch (IOException error) {
        continue; // somebody has it
      }
    }
  }

  /** The tree's top folder. */
  public static Path root() {
    Path folder = Path.of(System.getProperty("weir.tree", "")).toAbsolutePath();
    while (!Files.exists(folder.resolve("clients/conformance"))) {
      folder = folder.getParent();
    }
    return folder;
  }

  public static WeirServer started(String... options) throws Exception {
    return new WeirServer(options).start();
  }

  public WeirServer with(String... options) {
    command.addAll(List.of(options));
    return this;
  }

  public WeirServer start() throws Exception {
    File log = directory.resolve("log").toFile();
    process = new ProcessBuilder(command).redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.appendTo(log)).start();
    waitUntil("weir-server answers", () -> {
      if (!process.isAlive()) {
        throw new AssertionError("weir-server ended: " + Files.readString(log.toPath()));
      }
      return answers();
    });
    return this;
  }

  private boolean answers() {
    try {
      return "PONG".equals(call("PING"));
    } catch (IOException error) {
      return false;
    }
  }

  public boolean lives() {
    return process != null && process.isAlive();
  }

  public String url() {
    return "redis://127.0.0.1:" + port;
  }

  public void kill() throws Exception {
    process.destroyForcibly().waitFor();
  }

  /** STOP or CONT. */
  public void signal(String name) throws Exception {
    new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start().waitFor();
  }

  /** A command on a connection of its own; its reply as text, number, list or null. */
  public Object call(String... words) throws IOException {
    try (Socket socket = connection()) {
      return exchange(socket, words);
    }
  }

  /** The same of a process with this name. */
  public Object callAs(String name, String... words) throws IOException {
    try (Socket socket = connection()) {
      exchange(socket, "CLIENT", "SETNAME", name);
      return exchange(socket, words);
    }
  }

  private Socket connection() throws IOException {
    Socket socket = new Socket("127.0.0.1", port);
    socket.setSoTimeout(10_000);
    return socket;
  }

  private static Object exchange(Socket socket, String... words) throws IOException {
    StringBuilder request = new StringBuilder("*" + words.length + "\r\n");
    for (String word : words) {
      request.append("$").append(word.getBytes(StandardCharsets.UTF_8).length).append("\r\n").append(word)
          .append("\r\n");
    }
    socket.getOutputStream().write(request.toString().getBytes(StandardCharsets.UTF_8));
    return reply(new BufferedInputStream(socket.getInputStream()));
  }

  private static Object reply(InputStream in) throws IOException {
    int kind = in.read();
    String line = line(in);
    return switch (kind) {
      case '+' -> line;
      case '-' -> throw new IllegalStateException(line);
      case ':' -> Long.valueOf(line);
      case '$' -> text(in, Integer.parseInt(line));
      case '*' -> list(in, Integer.parseInt(line));
      default -> throw new IOException("no reply");
    };
  }

  private static String text(InputStream in, int size) throws IOException {
    return size < 0 ? null : new String(in.readNBytes(size + 2), 0, size, StandardCharsets.UTF_8);
  }

  private static List<Object> list(InputStream in, int size) throws IOException {
    List<Object> list = new ArrayList<>();
    for (int index = 0; index < size; index++) {
      list.add(reply(in));
    }
    return list;
  }

  private static String line(InputStream in) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int letter = in.read(); letter != '\r'; letter = in.read()) {
      if (letter < 0) {
        throw new IOException("the connection has ended");
      }
      line.append((char) letter);
    }
    in.read();
    return line.toString();
  }

  /** What is left of a key of one limit, asked beside the client. */
  public long remaining(String key, String limits) throws IOException {
    List<String> words = new ArrayList<>(List.of("RL.PEEK", key));
    words.addAll(List.of(limits.split(" ")));
    words.addAll(List.of("COST", "0"));
    return (Long) ((List<?>) call(words.toArray(String[]::new))).get(2);
  }

  public static void waitUntil(String what, Callable<Boolean> condition) throws Exception {
    long end = System.currentTimeMillis() + PATIENCE_MS;
    while (!condition.call()) {
      if (System.currentTimeMillis() > end) {
        throw new AssertionError("it did not come true that " + what);
      }
      Thread.sleep(20);
    }
  }

  @Override
  public void close() throws Exception {
    if (lives()) {
      kill();
    }
    try (Stream<Path> files = Files.walk(directory)) {
      files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
    }
  }
}
