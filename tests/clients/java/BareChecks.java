import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

// The checks of ../README.md's table, for a bare client.
final class BareChecks {
  private static final String ALL_BYTES = IntStream.range(0, 256)
      .mapToObj(value -> String.valueOf((char) value)).collect(Collectors.joining());
  private static final String NO_THROTTLE = "Redis has no CL.THROTTLE";

  private final Bare client;
  // What the restart left for the checks behind it.
  private long acknowledged;
  private long restartedNs;

  BareChecks(Bare client) {
    this.client = client;
  }

  private List<Long> throttle(String key, String... numbers) {
    var words = new ArrayList<>(List.of(key));
    words.addAll(List.of(numbers));
    return client.numbers("CL.THROTTLE", words.toArray(String[]::new));
  }

  private void handshake() {
    Report.expect(client.ping(), "PONG", "PING");
    Report.expect(client.echo("a b"), "a b", "ECHO");
    Plain.expectProtocol(1);
  }

  private void clientList() {
    Report.needWeir("Redis 7.0 has no CLIENT SETINFO");
    String rows = client.clientList();
    for (String wanted : List.of(" lib-name=" + client.name(), " lib-ver=" + client.version())) {
      Report.expect(rows.contains(wanted), true, wanted + " in " + rows);
    }
  }

  private void clientName() {
    try (Bare named = client.again(null, "named-client")) {
      Report.expect(named.ping(), "PONG", "PING");
      Report.expect(client.clientList().contains(" name=named-client "), true, "the name");
    }
  }

  private void binary() {
    String key = "bin:" + ALL_BYTES;
    for (String value : List.of("", "\0", ALL_BYTES, "\r\n$5\r\n", ALL_BYTES.repeat(4096))) {
      Report.expect(client.set(key, value), "OK", "SET");
      Report.expect(client.get(key).equals(value), true, value.length() + " bytes unchanged");
    }
    Report.expect(client.get("absent") == null, true, "an absent key is null");
  }

  private void pipeline() {
    var keys = IntStream.range(0, 500).mapToObj(index -> "pipe:" + index).toList();
    var wanted = new ArrayList<Object>();
    for (String key : keys) {
      wanted.add("OK");
      wanted.add(key);
    }
    Report.expect(client.pipeline(keys), wanted, "replies");
  }

  private void expiry() throws Exception {
    client.set("ttl", "x");
    Report.expect(List.of(client.ttl("ttl"), client.ttl("absent")), List.of(-1L, -2L), "TTL");
    Report.expect(client.expire("ttl", 100), true, "EXPIRE");
    Report.between(99, client.ttl("ttl"), 100, "TTL");
    Report.between(99_000, client.pttl("ttl"), 100_000, "PTTL");
    Report.expect(client.persist("ttl"), true, "PERSIST");
    Report.expect(client.setFor("soon", "x", 30), "OK", "SET PX");
    Thread.sleep(60);
    Report.expect(client.get("soon") == null, true, "gone");
    Report.expect(client.exists("soon"), false, "EXISTS");
  }

  private void incrConcurrent() throws Exception {
    var all = Report.together(Report.CALLERS,
        () -> IntStream.range(0, 100).mapToObj(turn -> client.incr("count")).toList()).stream()
        .flatMap(List::stream).sorted().toList();
    Report.expect(all, IntStream.rangeClosed(1, Report.CALLERS * 100).mapToObj(Long::valueOf)
        .toList(), "numbers");
  }

  private void scan() {
    client.setAll(IntStream.range(0, 1000).mapToObj(index -> "scan:" + index).toList(), "x");
    Report.expect(client.scan("scan:*").size(), 1000, "keys");
  }

  private void throttleFigures() {
    Report.needWeir(NO_THROTTLE);
    Report.expect(throttle("user:42", "15", "30", "60"), List.of(0L, 16L, 15L, -1L, 2L), "first");
    for (long left = 4; left >= 0; --left) {
      Report.expect(throttle("five", "4", "1", "10").get(2), left, "left");
    }
    var denied = throttle("five", "4", "1", "10");
    Report.expect(denied.subList(0, 3), List.of(1L, 5L, 0L), "denied");
    Report.between(9, denied.get(3), 10, "retry_after");
  }

  private void throttleConcurrent() throws Exception {
    Report.needWeir(NO_THROTTLE);
    Report.expect(Report.admittedTogether(() -> throttle("crowd", "99", "1", "3600").get(0) == 0),
        100L, "admitted");
  }

  private void errors() throws Exception {
    client.set("text", "x");
    Report.refused(client.refusal(), "not an integer", () -> client.incr("text"));
    Report.refused(client.refusal(), "unknown command", () -> client.unknown("NOSUCH"));
    Report.refused(client.refusal(), "WRONGTYPE", () -> {
      if (Report.IS_WEIR) {
        throttle("text", "1", "1", "1");
      }
      client.push("text", "y");
    });
    Report.expect(client.get("text"), "x", "text");
  }

  private Report.Body pingWith(String password) {
    return () -> {
      try (Bare other = client.again(password, null)) {
        Report.expect(other.ping(), "PONG", "PING");
      }
    };
  }

  private void password() throws Exception {
    client.password("s e c r e t");
    try {
      pingWith("s e c r e t").run();
      Report.refused(client.failure(), "WRONGPASS", pingWith("wrong"));
      Report.refused(client.failure(), "NOAUTH", pingWith(null));
    } finally {
      client.password("");
    }
  }

  private void info() {
    String text = client.info();
    for (String line : List.of("redis_version:7.", "redis_mode:standalone\r\n", "role:master\r\n",
        "loading:0\r\n", "tcp_port:" + Report.PORT + "\r\n")) {
      Report.expect(text.contains(line), true, line.strip() + " in INFO");
    }
  }

  // Four callers count and are killed in the middle; they go on by themselves.
  private void restart() throws Exception {
    client.set("kept", ALL_BYTES);
    client.set("kept:ttl", "x");
    client.expire("kept:ttl", 1000);
    for (int turn = 0; turn < 4 && Report.IS_WEIR; ++turn) {
      throttle("limit", "9", "1", "1000");
    }
    restartedNs = System.nanoTime();
    acknowledged = Restart.granted(client.failure(), () -> client.incr("traffic") > 0);
  }

  private void dataKept() {
    Report.needDurable();
    Report.expect(ALL_BYTES.equals(client.get("kept")), true, "256 bytes as they were");
    Report.between(900, client.ttl("kept:ttl"), 999, "TTL");
    Report.expect(client.scan("scan:*").size(), 1000, "keys");
    Report.between(acknowledged, Long.parseLong(client.get("traffic")),
        acknowledged + Restart.CALLERS, "stored writes");
  }

  private void limiterKept() {
    Report.needWeir(NO_THROTTLE);
    Report.needDurable();
    var reply = throttle("limit", "9", "1", "1000", "0");
    Report.expect(reply.subList(0, 4), List.of(0L, 10L, 6L, -1L), "reply");
    double passed = (System.nanoTime() - restartedNs) / 1e9;
    Report.between(4000 - passed - 1, reply.get(4), 4001 - passed, "reset_after");
    for (long limited : new long[] {0, 0, 0, 0, 0, 0, 1}) {
      Report.expect(throttle("limit", "9", "1", "1000").get(0), limited, "limited");
    }
  }

  void run() {
    Report.check("handshake", this::handshake);
    Report.check("client-list", this::clientList);
    Report.check("client-name", this::clientName);
    Report.check("binary", this::binary);
    Report.check("pipeline", this::pipeline);
    Report.check("expiry", this::expiry);
    Report.check("incr-concurrent", this::incrConcurrent);
    Report.check("scan", this::scan);
    Report.check("throttle-figures", this::throttleFigures);
    Report.check("throttle-concurrent", this::throttleConcurrent);
    Report.check("errors", this::errors);
    Report.check("password", this::password);
    Report.check("info", this::info);
    Report.check("restart", this::restart);
    Report.check("reconnect", () -> Report.expect(client.ping(), "PONG", "PING"));
    Report.check("data-kept", this::dataKept);
    Report.check("limiter-kept", this::limiterKept);
    Report.say("done");
    System.exit(0);
  }
}
