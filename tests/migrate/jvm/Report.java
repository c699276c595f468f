import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

// What the drivers here say, in the lines that tests/clients/harness/session.py describes.
final class Report {
  interface Body {
    void run() throws Exception;
  }

  private static final int TIMES_MAX = 5;

  private Report() {}

  static void say(String format, Object... values) {
    System.out.println(String.format(format, values));
    System.out.flush();
  }

  static void figure(String format, Object... values) {
    say("figure " + format, values);
  }

  static void check(String name, Body body) {
    try {
      body.run();
      say("ok %s", name);
    } catch (Exception | AssertionError error) {
      Throwable cause = error instanceof CompletionException ? error.getCause() : error;
      say("not ok %s: %s", name, cause.toString().replaceAll("\\s+", " "));
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
    if (!got.equals(wanted)) {
      throw new AssertionError(what + ": " + got + ", wanted " + wanted);
    }
  }

  static void between(double low, double got, double high, String what) {
    if (got < low || got > high) {
      throw new AssertionError(what + ": " + got + ", wanted " + low + " to " + high);
    }
  }
}
