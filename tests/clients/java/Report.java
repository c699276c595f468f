import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

// What every Java program of tests/clients and tests/migrate shares: its orders, its report, its
// callers. The lines that it writes are described in ../harness/session.py.
final class Report {
  interface Body {
    void run() throws Exception;
  }

  interface Call<T> {
    T call() throws Exception;
  }

  // Ends a check: this server or library cannot be asked.
  static final class Skip extends RuntimeException {
    Skip(String why) {
      super(why);
    }
  }

  static final int CALLERS = 16;
  static final int PORT = Integer.parseInt(System.getenv("CLIENTS_PORT"));
  static final String PROTOCOL = System.getenv("CLIENTS_PROTOCOL");
  // Of how many owners the cluster is; 0: the server is none.
  static final int OWNERS = Integer.parseInt(System.getenv().getOrDefault("CLIENTS_OWNERS", "0"));
  static final boolean IS_WEIR = "weir".equals(System.getenv("CLIENTS_SERVER"));
  static final boolean IS_DURABLE = "1".equals(System.getenv("CLIENTS_DURABLE"));
  private static final int TIMES_MAX = 5;
  private static final int WHY_MAX = 600;
  private static final int RECONNECT_MS_MAX = 15_000;
  private static final BufferedReader INPUT =
      new BufferedReader(new InputStreamReader(System.in));

  private Report() {}

  static synchronized void say(String format, Object... values) {
    System.out.println(String.format(format, values));
    System.out.flush();
  }

  // Only tests/migrate: what its page says of a source.
  static void figure(String format, Object... values) {
    say("figure " + format, values);
  }

  // The version of the jar that a class came from, as its file is named.
  static String version(Class<?> type) {
    String jar = type.getProtectionDomain().getCodeSource().getLocation().getPath();
    return jar.replaceAll(".*?-(\\d[\\w.]*?)(\\.RELEASE)?\\.jar$", "$1");
  }

  private static Throwable cause(Throwable error) {
    boolean isWrapped = error instanceof CompletionException || error instanceof ExecutionException;
    return isWrapped && error.getCause() != null ? cause(error.getCause()) : error;
  }

  static void check(String name, Body body) {
    try {
      body.run();
      say("ok %s", name);
    } catch (Skip skip) {
      say("skip %s: %s", name, skip.getMessage());
    } catch (Exception | AssertionError | LinkageError error) {
      String why = cause(error).toString().replaceAll("\\s+", " ");
      say("not ok %s: %s", name, why.substring(0, Math.min(WHY_MAX, why.length())));
    }
  }

  // A check of times alone: a busy machine may spoil it, a fault spoils it each time.
  static void checkTimes(String name, Body body) {
    check(name, () -> {
      for (int attempt = 1; attempt < TIMES_MAX; ++attempt) {
        try {
          body.run();
          return;
        } catch (AssertionError | CompletionException | ExecutionException late) {
          continue;
        }
      }
      body.run();
    });
  }

  static void expect(Object got, Object wanted, String what) {
    if (!wanted.equals(got)) {
      throw new AssertionError(what + ": " + got + ", wanted " + wanted);
    }
  }

  static void between(double low, double got, double high, String what) {
    if (got < low || got > high) {
      throw new AssertionError(what + ": " + got + ", wanted " + low + " to " + high);
    }
  }

  // Lettuce gives up a connection now and then before it has said anything on it, Redis' or weir's;
  // that is no answer of a server, so it asks again.
  private static final String NOT_ASKED = "RedisHandshakeHandler not registered";
  private static final int ASKED_MAX = 3;

  // The library's own error of this kind, with the server's words in it or in what caused it.
  static void refused(Class<? extends Throwable> kind, String text, Body body) throws Exception {
    refused(kind, text, body, ASKED_MAX);
  }

  private static void refused(Class<? extends Throwable> kind, String text, Body body, int left)
      throws Exception {
    try {
      body.run();
    } catch (Exception error) {
      String words = "";
      for (Throwable part = error; part != null; part = part.getCause()) {
        words += part.getMessage() + "; ";
      }
      if (words.contains(NOT_ASKED) && left > 1) {
        refused(kind, text, body, left - 1);
        return;
      }
      expect(kind.isInstance(cause(error)), true, error + " is a " + kind.getName());
      expect(words.contains(text), true, "'" + text + "' in '" + words + "'");
      return;
    }
    throw new AssertionError("no error, wanted one with '" + text + "'");
  }

  static void needWeir(String why) {
    if (!IS_WEIR) {
      throw new Skip(why);
    }
  }

  static void needDurable() {
    if (!IS_DURABLE) {
      throw new Skip("the server keeps nothing over a restart");
    }
  }

  // What `body` answers to each of so many threads that start at once.
  static <T> List<T> together(int callers, Call<T> body) throws Exception {
    var gate = new CyclicBarrier(callers);
    var tasks = new ArrayList<FutureTask<T>>();
    for (int caller = 0; caller < callers; ++caller) {
      tasks.add(new FutureTask<>(() -> {
        gate.await();
        return body.call();
      }));
    }
    tasks.forEach(task -> new Thread(task).start());
    var results = new ArrayList<T>();
    for (var task : tasks) {
      results.add(task.get());
    }
    return results;
  }

  // How many of 16 times 20 calls were admitted, made by 16 callers at once.
  static long admittedTogether(Call<Boolean> call) throws Exception {
    return together(CALLERS, () -> {
      long admitted = 0;
      for (int turn = 0; turn < 20; ++turn) {
        admitted += call.call() ? 1 : 0;
      }
      return admitted;
    }).stream().mapToLong(Long::longValue).sum();
  }

  // Has the server killed and started again; returns when it answers.
  static void restartServer() throws IOException {
    say("restart");
    if (INPUT.readLine() == null) {
      throw new IOException("the server did not come back");
    }
  }

  // Has an owner of a cluster give a slot to another; returns when all of them say so.
  static void moveSlot(int slot) {
    say("move %d", slot);
    try {
      if (INPUT.readLine() == null) {
        throw new IOException("the slot did not move");
      }
    } catch (IOException error) {
      throw new IllegalStateException(error);
    }
  }

  // The first answer that is no error: a library may first have to find out that it was cut off.
  static <T> T eventually(Call<T> call) throws Exception {
    long endNs = System.nanoTime() + RECONNECT_MS_MAX * 1_000_000L;
    while (true) {
      try {
        return call.call();
      } catch (Exception error) {
        if (System.nanoTime() > endNs) {
          throw error;
        }
        Thread.sleep(20);
      }
    }
  }
}
