import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

// The checks of every Java client of clusters; a client does each thing in its own way.
final class ClusterChecks {
  interface Client extends AutoCloseable {
    String version();

    String set(String key, String value);

    String get(String key);

    long incr(String key);

    // CL.THROTTLE with a burst of 5 an hour: whether it admits.
    boolean throttle(String key);

    // A command with keys of two slots.
    void crossSlot() throws Exception;

    // Sets each key to itself in one go; the values then.
    List<String> pipeline(List<String> keys);

    // By the SHA-1 of the script, which has one key and one argument.
    long script(String text, String key, String argument);

    // MULTI, INCR of each key, EXEC.
    List<Long> multi(List<String> keys);

    Client again();

    @Override
    void close();
  }

  private record Count(String key, long acknowledged, long meanwhile) {}

  private static final int LAST = 16383;
  private static final int CHUNK = 2048;
  private static final long RESUME_NS_MAX = 10_000_000_000L;

  private final Client client;
  private final List<String> keys;
  private final Map<String, Long> written = new HashMap<>();

  ClusterChecks(Client client) throws Exception {
    this.client = client;
    keys = Files.readAllLines(Path.of(System.getenv("CLIENTS_KEYS")));
  }

  private void moved() {
    if (Report.OWNERS == 1) {
      throw new Report.Skip("a single owner has nobody to give a slot to");
    }
    Report.expect(client.get(keys.get(7)) == null, true, "nothing there");
    Report.moveSlot(7);
    Report.expect(client.set(keys.get(7), "moved"), "OK", "SET");
    try (Client another = client.again()) {
      Report.expect(another.get(keys.get(7)), "moved", "GET of another client");
    }
  }

  private void everySlot() {
    for (int begin = 0; begin < keys.size(); begin += CHUNK) {
      var some = keys.subList(begin, begin + CHUNK);
      var values = client.pipeline(some);
      for (int at = 0; at < CHUNK; ++at) {
        Report.expect(String.valueOf(values.get(at)), some.get(at), "value " + (begin + at));
      }
    }
    for (int slot = 0; slot <= LAST; slot += 100) {
      Report.expect(client.get(keys.get(slot)), keys.get(slot), "GET");
    }
  }

  private void evalsha() {
    for (long index = 0; index < 50; ++index) {
      Report.expect(client.script("return redis.call('incrby', KEYS[1], ARGV[1])",
          "script:" + index, Long.toString(index)), index, "INCRBY");
    }
  }

  private void multi() {
    for (int tag = 0; tag < 20; ++tag) {
      String key = "{multi" + tag + "}";
      Report.expect(client.multi(List.of(key + "a", key + "b")), List.of(1L, 1L), "EXEC");
    }
  }

  private void crossSlot() throws Exception {
    try {
      client.crossSlot();
    } catch (Exception error) {
      Report.expect(error.toString().toLowerCase().contains("slot"), true, error.toString());
      return;
    }
    throw new AssertionError("keys of several slots were taken");
  }

  private void limiter() throws Exception {
    Report.needWeir("Redis has no CL.THROTTLE");
    var admitted = Report.together(8, () -> IntStream.range(0, 40)
        .filter(user -> client.throttle("user:" + user)).count());
    Report.expect(admitted.stream().mapToLong(Long::longValue).sum(), 200L, "admitted");
  }

  // Two write to the owner that is killed, two to the last one.
  private void restart() throws Exception {
    client.set(keys.get(5), "kept");
    var awayNs = new AtomicLong();
    var upNs = new AtomicLong();
    var roles = new AtomicInteger();
    var counts = Report.together(5, () -> {
      int role = roles.getAndIncrement();
      if (role < 4) {
        return write("{" + keys.get(role % 2 == 0 ? 0 : LAST) + "}traffic", awayNs, upNs);
      }
      Thread.sleep(300);
      awayNs.set(System.nanoTime());
      Report.restartServer();
      upNs.set(System.nanoTime());
      return new Count("", 0, 0);
    });
    for (Count count : counts) {
      written.merge(count.key, count.acknowledged, Long::sum);
      if (Report.OWNERS > 1 && count.key.contains(keys.get(LAST))) {
        Report.between(1, count.meanwhile, 1e9, "writes to another owner meanwhile");
      }
    }
    written.remove("");
  }

  private Count write(String key, AtomicLong awayNs, AtomicLong upNs) throws Exception {
    long acknowledged = 0;
    long meanwhile = 0;
    try (Client mine = client.again()) {
      for (int resumed = 0; resumed < 10;) {
        boolean wasUp = upNs.get() != 0;
        try {
          mine.incr(key);
        } catch (Exception error) {
          if (wasUp && System.nanoTime() - upNs.get() > RESUME_NS_MAX) {
            throw error;
          }
          Thread.sleep(10);
          continue;
        }
        ++acknowledged;
        resumed += wasUp ? 1 : 0;
        meanwhile += awayNs.get() != 0 && !wasUp ? 1 : 0;
      }
    }
    return new Count(key, acknowledged, meanwhile);
  }

  private void dataKept() {
    Report.needDurable();
    Report.expect(client.get(keys.get(5)), "kept", "GET");
    written.forEach((key, acknowledged) -> Report.between(acknowledged,
        Long.parseLong(client.get(key)), acknowledged + 2, "writes of " + key));
  }

  void run() {
    Report.say("version %s", client.version());
    Report.check("moved", this::moved);
    Report.check("every-slot", this::everySlot);
    Report.check("evalsha", this::evalsha);
    Report.check("multi", this::multi);
    Report.check("cross-slot", this::crossSlot);
    Report.check("limiter", this::limiter);
    Report.check("restart", this::restart);
    Report.check("data-kept", this::dataKept);
    Report.say("done");
    System.exit(0);
  }
}
