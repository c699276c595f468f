package weir;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static weir.WeirServer.waitUntil;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import weir.core.Away;
import weir.core.Failure;

/** A weir-server that dies, hangs, is late, or whose replies are lost: nothing is charged twice, nobody waits long. */
class OutagesTest {
  private static final Duration DEADLINE = Duration.ofMillis(100);
  private static final String LIMIT = "FIXED 1000/1h";

  private final List<Weir> weirs = new ArrayList<>();
  private WeirServer server;

  /** Takes, and times that. */
  private static final class Caller {
    final WeirLimiter limiter;
    final Stopwatch watch = new Stopwatch();

    Caller(WeirLimiter limiter) {
      this.limiter = limiter;
    }

    Verdict take(String key) throws Exception {
      return watch.time(() -> limiter.take(key));
    }

    Source source() throws Exception {
      return take("k").source();
    }

    /** Of some calls. */
    Set<Source> sources(int calls) throws Exception {
      Set<Source> found = EnumSet.noneOf(Source.class);
      for (int call = 0; call < calls; call++) {
        found.add(source());
      }
      return found;
    }

    void inTime() {
      watch.assertWithin(DEADLINE);
    }

    void answered() throws Exception {
      waitUntil("weir answers", () -> source() == Source.WEIR);
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
    caller.answered();
    caller.watch.reset();
    return caller;
  }

  private long remaining() throws Exception {
    return server.remaining("k", LIMIT);
  }

  @Test
  void killedAndStartedAgain() throws Exception {
    List<Change> changes = new CopyOnWriteArrayList<>();
    Caller caller = caller(weir(server.url(), Stopwatch.PATIENCE).limiter(LIMIT).processes(2).listener(changes::add));
    long left = remaining();
    server.kill();
    assertEquals(Set.of(Source.LOCAL), caller.sources(5));
    assertEquals(Optional.of(Failure.GONE), caller.limiter.state().cause());
    assertEquals(5, caller.limiter.state().decidedHere());
    server.start();
    caller.back();
    assertEquals(left, remaining());
    assertEquals(Source.WEIR, caller.source());
    assertEquals(left - 5 - 1, remaining(), "what was granted meanwhile is charged once");
    caller.source();
    assertEquals(left - 5 - 2, remaining());
    waitUntil("both changes are told", () -> changes.size() == 2);
    assertEquals(List.of(true, false), changes.stream().map(Change::away).toList());
  }

  @Test
  void whatIsHandedBackBansNobody() throws Exception {
    String bans = "FIXED 4/1h BAN 1h AFTER 1 WITHIN 1h";
    handsBack(bans, 4, List.of(0L));
    handsBack(bans + " FIXED 100/1d", 3, List.of(0L, 96L)); // of several limits one has less
  }

  private void handsBack(String limits, long taken, List<Long> left) throws Exception {
    String key = "h" + left.size();
    Caller caller = caller(weir(server.url(), Stopwatch.PATIENCE).limiter(limits).processes(2));
    caller.limiter.take(Take.from(key).cost(0));
    server.kill();
    assertEquals(Source.LOCAL, caller.limiter.take(Take.from(key).cost(2)).source());
    server.start();
    caller.back();
    WeirLimiter other = weir(server.url(), Stopwatch.PATIENCE).limiter(limits).build();
    assertTrue(other.take(Take.from(key).cost(taken)).allowed());
    caller.limiter.take(Take.from(key).cost(0));
    Verdict verdict = caller.limiter.peek(key, 1);
    assertEquals(left, verdict.limits().stream().map(LimitState::remaining).toList());
    assertFalse(verdict.banned());
  }

  @Test
  void nobodyWaitsForWhoIsKilled() throws Exception {
    Caller caller = caller(weir(server.url(), DEADLINE).limiter(LIMIT).processes(2));
    server.kill();
    assertEquals(Set.of(Source.LOCAL), caller.sources(20));
    assertTrue(caller.limiter.state().away());
    caller.inTime();
  }

  @Test
  void stoppedAndContinued() throws Exception {
    Caller caller = caller(weir(server.url(), DEADLINE).limiter(LIMIT).processes(2));
    server.signal("STOP");
    Set<Source> sources = caller.sources(20);
    State state = caller.limiter.state();
    server.signal("CONT");
    assertEquals(Set.of(Source.LOCAL), sources);
    assertEquals(Optional.of(Failure.LATE), state.cause());
    caller.inTime();
    caller.back();
    caller.answered();
  }

  @Test
  void aKeyWhoseFirstCallIsLateIsKnownWhenWeirAnswers() throws Exception {
    Caller caller = caller(weir(server.url(), DEADLINE).limiter(LIMIT).processes(2));
    server.signal("STOP");
    waitUntil("a call is late", () -> caller.take("new").source() == Source.LOCAL);
    server.signal("CONT");
    waitUntil("weir answers", () -> caller.take("new").source() == Source.WEIR);
    server.kill();
    assertTrue(caller.take("new").allowed());
  }

  @Test
  void slowAndTricklingPeers() throws Exception {
    for (String fault : List.of("delay", "trickle")) {
      try (Proxy proxy = new Proxy(server.port)) {
        Caller caller = caller(weir(proxy.url(), DEADLINE).limiter(LIMIT).processes(2));
        proxy.delayMs = fault.equals("delay") ? 2000 : 0;
        proxy.trickleMs = fault.equals("delay") ? 0 : 20;
        assertEquals(Set.of(Source.LOCAL), caller.sources(5), fault);
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
      Caller caller = caller(weir(proxy.url(), Stopwatch.PATIENCE).limiter(LIMIT).processes(2));
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
      Caller caller = caller(weir(proxy.url(), Stopwatch.PATIENCE).limiter(LIMIT).processes(2));
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
      callers.put(away, caller(weir(server.url(), Stopwatch.PATIENCE).limiter(LIMIT).processes(2).away(away)));
    }
    server.kill();
    Map<Away, Verdict> verdicts = new EnumMap<>(Away.class);
    for (Away away : Away.values()) {
      verdicts.put(away, callers.get(away).take("k"));
    }
    assertTrue(verdicts.get(Away.LOCAL).allowed());
    assertFalse(verdicts.get(Away.STRICT).allowed());
    assertTrue(verdicts.get(Away.OPEN).allowed());
    assertFalse(verdicts.get(Away.CLOSED).allowed());
    assertTrue(verdicts.get(Away.CLOSED).headers().containsKey("Retry-After"));
    assertEquals("\"default\";q=1000;w=3600", verdicts.get(Away.LOCAL).headers().get("RateLimit-Policy"));
  }

  @Test
  void otherCallsWhileAway() throws Exception {
    Weir weir = weir(server.url(), Stopwatch.PATIENCE);
    Caller caller = caller(weir.limiter("FIXED 20/1h").processes(2));
    Caller leases = caller(weir.limiter("CONCURRENCY 4 LEASE 1h").processes(2));
    WeirLimiter rate = weir.limiter("2/1s").processes(2).build();
    server.kill();
    assertEquals(Source.LOCAL, caller.source());
    try (Hold hold = caller.limiter.hold("k", 1)) {
      hold.used(1);
    }
    assertTrue(caller.limiter.acquire("k", Duration.ofSeconds(5)).allowed());
    Reservation window = caller.limiter.reserve(Take.from("k").cost(2));
    assertFalse(window.granted(), "weir books no windows either");
    assertEquals(Optional.empty(), window.waitFor());
    assertTrue(caller.limiter.peek("k", 6).allowed());
    assertFalse(caller.limiter.peek("k", 7).allowed());
    assertTrue(rate.acquire("unknown", Stopwatch.PATIENCE).allowed(), "it waits here");
    assertTrue(rate.reserve(Take.from("unknown")).granted());
    try (Lease lease = leases.limiter.lease("k")) {
      assertFalse(leases.take("k").allowed());
      assertFalse(lease.isLost());
    }
    assertTrue(leases.limiter.peek("k").allowed());
  }

  @Test
  void theShareThatWeirTells() throws Exception {
    Weir weir = weir(server.url(), Stopwatch.PATIENCE);
    weir.policies().set("free", "FIXED 9/1h");
    for (String name : List.of("one", "another")) {
      server.callAs(name, "RL.TAKE", "k", "POLICY", "free", "COST", "0", "FULL");
    }
    WeirLimiter limiter = weir.limiter("POLICY free").build();
    assertTrue(limiter.take("k").allowed());
    assertEquals(1.0 / 3, limiter.state().share(), 1e-9);
    server.kill();
    List<Boolean> found = new ArrayList<>();
    for (int turn = 0; turn < 3; turn++) {
      found.add(limiter.take("k").allowed());
    }
    assertEquals(List.of(true, true, false), found);
  }

  @Test
  void aBanLastsAsLongAsWeirSaid() throws Exception {
    WeirLimiter limiter =
        weir(server.url(), Stopwatch.PATIENCE).limiter("GCRA 1/1s BURST 0 BAN 1h AFTER 1 WITHIN 1h").build();
    assertTrue(limiter.take("other").allowed());
    waitUntil("it is banned", () -> limiter.take("k").banned());
    server.kill();
    Verdict denied = limiter.take("k");
    assertFalse(denied.allowed());
    assertEquals(Source.LOCAL, denied.source());
    assertTrue(denied.retryAfter().get().compareTo(Duration.ofMinutes(30)) > 0);
    waitUntil("others are not", () -> limiter.take("other").allowed());
  }

  @Test
  void aPolicyThatLetsNobodyThrough() throws Exception {
    Weir weir = weir(server.url(), Stopwatch.PATIENCE);
    weir.policies().set("emergency", "BLOCKED");
    WeirLimiter limiter = weir.limiter("POLICY emergency").build();
    assertFalse(limiter.take("k").allowed());
    server.kill();
    for (String key : List.of("k", "unknown")) {
      assertFalse(limiter.take(key).allowed(), key);
      assertEquals(Source.LOCAL, limiter.take(key).source(), key);
    }
  }

  @Test
  void nobodyIsThere() throws Exception {
    server.kill();
    Weir weir = weir(server.url(), Stopwatch.PATIENCE);
    Caller caller = new Caller(weir.limiter(LIMIT).processes(2).build());
    assertEquals(Source.LOCAL, caller.source());
    caller.inTime();
    assertEquals(Optional.of(Failure.GONE), caller.limiter.state().cause());
    server.start();
    caller.back();
    assertEquals(Source.WEIR, caller.source());
  }
}
