package weir;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static weir.WeirServer.waitUntil;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import weir.core.Away;
import weir.core.Failure;

/** A weir-server that dies, hangs, is late, or whose replies are lost: nothing is charged twice, nobody waits long. */
class OutagesTest {
  private static final Duration DEADLINE = Duration.ofMillis(100);
  private static final long SLACK_MS = 300; // a busy machine runs this process late
  private static final Duration LONG = Duration.ofSeconds(30); // where time is not asked for
  private static final String LIMIT = "FIXED 1000/1h";

  private final List<Weir> weirs = new ArrayList<>();
  private WeirServer server;

  /** Takes, and knows the longest. */
  private static final class Caller {
    final WeirLimiter limiter;
    long longestMs;

    Caller(WeirLimiter limiter) {
      this.limiter = limiter;
    }

    Verdict take(String key) {
      long begin = System.nanoTime();
      Verdict verdict = limiter.take(key);
      longestMs = Math.max(longestMs, (System.nanoTime() - begin) / 1_000_000);
      return verdict;
    }

    Source source() {
      return take("k").source();
    }

    void inTime() {
      assertTrue(longestMs < DEADLINE.toMillis() + SLACK_MS, "the longest took " + longestMs + " ms");
    }

    void back() throws Exception {
      waitUntil("weir is back", () -> {
        if (limiter.state().away()) {
          take("other");
        }
        return !limiter.state().away();
      });
    }
  }

  @BeforeEach
  void start() throws Exception {
    server = WeirServer.started();
  }

  @AfterEach
  void end() throws Exception {
    weirs.forEach(Weir::close);
    server.close();
  }

  private Weir weir(String url, Duration deadline) {
    Weir weir = Weir.builder(url).deadline(deadline).build();
    weirs.add(weir);
    return weir;
  }

  private static Caller caller(WeirLimiter.Builder builder) throws Exception {
    Caller caller = new Caller(builder.build());
    waitUntil("weir answers", () -> caller.source() == Source.WEIR);
    caller.longestMs = 0;
    return caller;
  }

  private long remaining() throws Exception {
    return server.remaining("k", LIMIT);
  }

  @Test
  void killedAndStartedAgain() throws Exception {
    List<Change> changes = new CopyOnWriteArrayList<>();
    Caller caller = caller(weir(server.url(), LONG).limiter(LIMIT).processes(2).listener(changes::add));
    long left = remaining();
    server.kill();
    for (int turn = 0; turn < 5; turn++) {
      assertEquals(Source.LOCAL, caller.source());
    }
    assertEquals(Optional.of(Failure.GONE), caller.limiter.state().cause());
    assertEquals(5, caller.limiter.state().decidedHere());
    server.start();
    caller.back();
    assertEquals(left, remaining());
    assertEquals(Source.WEIR, caller.source());
    assertEquals(left - 5 - 1, remaining(), "what was granted meanwhile is charged once");
    caller.source();
    assertEquals(left - 5 - 2, remaining());
    assertEquals(List.of(true, false), changes.stream().map(Change::away).toList());
    caller.inTime();
  }

  @Test
  void stoppedAndContinued() throws Exception {
    Caller caller = caller(weir(server.url(), DEADLINE).limiter(LIMIT).processes(2));
    server.signal("STOP");
    List<Source> sources = IntStream.range(0, 20).mapToObj(turn -> caller.source()).distinct().toList();
    State state = caller.limiter.state();
    server.signal("CONT");
    assertEquals(List.of(Source.LOCAL), sources);
    assertEquals(Optional.of(Failure.LATE), state.cause());
    caller.inTime();
    caller.back();
    assertEquals(Source.WEIR, caller.source());
  }

  @Test
  void slowAndTricklingPeers() throws Exception {
    for (String fault : List.of("delay", "trickle")) {
      try (Proxy proxy = new Proxy(server.port)) {
        Caller caller = caller(weir(proxy.url(), DEADLINE).limiter(LIMIT).processes(2));
        proxy.delayMs = fault.equals("delay") ? 2000 : 0;
        proxy.trickleMs = fault.equals("delay") ? 0 : 20;
        for (int turn = 0; turn < 5; turn++) {
          assertEquals(Source.LOCAL, caller.source(), fault);
        }
        caller.inTime();
        proxy.cut(); // and now the handshake is slow
        waitUntil("it probes", () -> caller.source() == Source.LOCAL && caller.limiter.state().probes() > 1);
        assertTrue(caller.limiter.state().away(), fault);
        caller.inTime();
        proxy.delayMs = 0;
        proxy.trickleMs = 0;
        caller.back();
      }
    }
  }

  @Test
  void lostRepliesAreChargedOnce() throws Exception {
    try (Proxy proxy = new Proxy(server.port)) {
      Caller caller = caller(weir(proxy.url(), LONG).limiter(LIMIT).processes(2));
      long before = remaining();
      for (int turn = 0; turn < 10; turn++) {
        proxy.lose.set(1);
        assertEquals(Source.WEIR, caller.source());
      }
      assertEquals(before - 10, remaining());
    }
  }

  @Test
  void cutConnections() throws Exception {
    try (Proxy proxy = new Proxy(server.port)) {
      Caller caller = caller(weir(proxy.url(), LONG).limiter(LIMIT).processes(2));
      long before = remaining();
      for (int turn = 0; turn < 10; turn++) {
        proxy.cut();
        assertEquals(Source.WEIR, caller.source());
      }
      assertEquals(before - 10, remaining());
    }
  }

  @Test
  void modes() throws Exception {
    Map<Away, Caller> callers = new EnumMap<>(Away.class);
    for (Away away : Away.values()) {
      callers.put(away, caller(weir(server.url(), LONG).limiter(LIMIT).processes(2).away(away)));
    }
    server.kill();
    Map<Away, Verdict> verdicts = new EnumMap<>(Away.class);
    callers.forEach((away, caller) -> verdicts.put(away, caller.take("k")));
    assertTrue(verdicts.get(Away.LOCAL).allowed());
    assertFalse(verdicts.get(Away.STRICT).allowed());
    assertTrue(verdicts.get(Away.OPEN).allowed());
    assertFalse(verdicts.get(Away.CLOSED).allowed());
    assertTrue(verdicts.get(Away.CLOSED).headers().containsKey("Retry-After"));
    assertEquals("\"fixed0\";q=1000;w=3600", verdicts.get(Away.LOCAL).headers().get("RateLimit-Policy"));
  }

  @Test
  void otherCallsWhileAway() throws Exception {
    Weir weir = weir(server.url(), LONG);
    Caller caller = caller(weir.limiter("10/1s").processes(2));
    Caller leases = caller(weir.limiter("CONCURRENCY 4 LEASE 10s").processes(2));
    server.kill();
    assertEquals(Source.LOCAL, caller.source());
    try (Hold hold = caller.limiter.hold("k", 1)) {
      hold.used(1);
    }
    assertTrue(caller.limiter.acquire("k", Duration.ofSeconds(5)).allowed());
    assertTrue(caller.limiter.reserve(Take.from("k").cost(2)).granted());
    assertFalse(caller.limiter.peek("k", 5).allowed());
    try (Lease lease = leases.limiter.lease("k")) {
      assertFalse(leases.take("k").allowed());
      assertFalse(lease.isLost());
    }
    assertTrue(leases.limiter.peek("k").allowed());
  }

  @Test
  void leaseOutlivesARestart() throws Exception {
    Caller caller = caller(weir(server.url(), LONG).limiter("CONCURRENCY 3 LEASE 6s").processes(1));
    try (Lease lease = caller.limiter.lease("pool")) {
      server.kill();
      Thread.sleep(2500); // a renewal fails
      assertFalse(lease.isLost());
      server.start();
      Thread.sleep(5000); // beyond the first end
      assertFalse(lease.isLost());
    }
    caller.back();
    waitUntil("it is given back", () -> server.remaining("pool", "CONCURRENCY 3 LEASE 6s") == 3);
  }

  @Test
  void nobodyIsThere() throws Exception {
    server.kill();
    Weir weir = weir(server.url(), LONG);
    Caller caller = new Caller(weir.limiter(LIMIT).processes(2).build());
    assertEquals(Source.LOCAL, caller.source());
    caller.inTime();
    assertEquals(Optional.of(Failure.GONE), caller.limiter.state().cause());
    server.start();
    caller.back();
    assertEquals(Source.WEIR, caller.source());
  }
}
