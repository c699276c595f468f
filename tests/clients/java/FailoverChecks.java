import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

// The checks of every Java client that asks sentinels who serves, while that changes; a client does
// each thing in its own way.
//
// Callers add to counters. What they were told must be there in the end, and the time in which one
// of them got nothing but errors is measured.
final class FailoverChecks {
  interface Client {
    String version();

    void incr(String key);

    // By the SHA-1 of the script, which has one key and one argument.
    void script(String text, String key, String argument);

    // INCR twice in one pipeline.
    void pair(String key) throws Exception;

    long counter(String key);
  }

  static final String MASTER = System.getenv("CLIENTS_MASTER");
  private static final String SCRIPT = "return redis.call('INCRBY', KEYS[1], ARGV[1])";
  private static final int CALLERS = 4;
  private static final int RESUMED_MIN = 20;
  private static final long PATIENCE_NS = 20_000_000_000L;
  private static final int SETTLE_MS = 2000; // who serves no more may take a while to say so

  private static final class Caller extends Thread {
    private final Client client;
    private final String key;
    private long acknowledged;
    private int successes;
    private long longestNs;
    private volatile boolean ended;
    private String told = "";

    Caller(Client client, int number) {
      this.client = client;
      this.key = "counter:" + number;
      setDaemon(true);
    }

    private int call(long number) throws Exception {
      if (number % 3 == 0) {
        client.incr(key);
        return 1;
      }
      if (number % 3 == 1) {
        client.script(SCRIPT, key, "2");
      } else {
        client.pair(key);
      }
      return 2;
    }

    private synchronized void note(int added, long ns) {
      acknowledged += added;
      ++successes;
      longestNs = Math.max(longestNs, ns);
    }

    private synchronized void note(Exception error) {
      told = error.toString();
    }

    private synchronized String told() {
      return told;
    }

    private synchronized int successes() {
      return successes;
    }

    private synchronized long longestNs(boolean anew) {
      long ns = longestNs;
      longestNs = anew ? 0 : ns;
      return ns;
    }

    @Override
    public void run() {
      long lastNs = System.nanoTime();
      for (long number = 0; !ended; ++number) {
        try {
          note(call(number), System.nanoTime() - lastNs);
          lastNs = System.nanoTime();
          pause(5);
        } catch (Exception error) {
          note(error);
          pause(20);
        }
      }
    }
  }

  private final Client client;
  private final List<Caller> callers = new ArrayList<>();

  FailoverChecks(Client client) {
    this.client = client;
  }

  static IntStream sentinels() {
    return Stream.of(System.getenv("CLIENTS_SENTINELS").split(",")).mapToInt(Integer::parseInt);
  }

  static void pause(int ms) {
    try {
      Thread.sleep(ms);
    } catch (InterruptedException error) {
      throw new IllegalStateException(error);
    }
  }

  // While somebody else becomes the primary, every caller goes on, and by itself.
  void throughAChange(String name, Report.Body order) throws Exception {
    callers.forEach(caller -> caller.longestNs(true));
    order.run();
    pause(SETTLE_MS);
    long beginNs = System.nanoTime();
    for (Caller caller : callers) {
      int before = caller.successes();
      while (caller.successes() < before + RESUMED_MIN) {
        if (System.nanoTime() - beginNs > PATIENCE_NS) {
          throw new AssertionError("a caller did not go on: " + caller.told());
        }
        pause(20);
      }
    }
    long ns = callers.stream().mapToLong(caller -> caller.longestNs(false)).max().getAsLong();
    Report.figure("%s %.2f s", name, ns / 1e9);
  }

  private void kept() throws Exception {
    for (Caller caller : callers) {
      caller.ended = true;
    }
    for (Caller caller : callers) {
      caller.join(PATIENCE_NS / 1_000_000);
    }
    Report.between(400, callers.stream().mapToLong(caller -> caller.acknowledged).sum(), 1e9,
        "acknowledged");
    Report.needDurable();
    callers.forEach(caller -> Report.between(caller.acknowledged, client.counter(caller.key), 1e9,
        caller.key));
  }

  // `kill` is what happens while who serves is killed, beside the callers.
  void run(Report.Body kill) {
    Report.say("version %s", client.version());
    Report.check("found", () -> client.incr("k"));
    IntStream.range(0, CALLERS).forEach(number -> callers.add(new Caller(client, number)));
    callers.forEach(Thread::start);
    pause(1000);
    kill(kill);
    Report.check("switchover", () -> throughAChange("switchover", () -> Report.moveSlot(0)));
    Report.check("data-kept", this::kept);
    Report.say("done");
    System.exit(0);
  }

  private void kill(Report.Body body) {
    try {
      body.run();
    } catch (Exception error) {
      throw new IllegalStateException(error);
    }
  }

  void run() {
    run(this::ride);
  }

  void ride() {
    Report.check("kill", () -> throughAChange("kill", Report::restartServer));
  }
}
