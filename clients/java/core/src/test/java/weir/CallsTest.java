package weir;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.protocol.ProtocolVersion;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Each call against a weir-server that is there. */
class CallsTest {
  private static WeirServer server;
  private static Weir weir;

  @BeforeAll
  static void start() throws Exception {
    server = WeirServer.started();
    weir = Weir.builder(server.url()).deadline(Stopwatch.PATIENCE).build();
  }

  @AfterAll
  static void end() throws Exception {
    weir.close();
    server.close();
  }

  @BeforeEach
  void empty() throws Exception {
    server.call("FLUSHALL");
  }

  private static WeirLimiter limiter(String limits) {
    return weir.limiter(limits).build();
  }

  private static void near(Duration wanted, Optional<Duration> got, long withinSeconds) {
    assertEquals(wanted.toSeconds(), got.get().toSeconds(), withinSeconds);
  }

  @Test
  void take() {
    WeirLimiter limiter = limiter("FIXED 3/1h AS hourly");
    Verdict verdict = limiter.take("k", 2);
    assertTrue(verdict.allowed());
    assertEquals(List.of(3L, 1L, 2L, Source.WEIR), List.of(verdict.limit(), verdict.remaining(), verdict.granted(),
        verdict.source()));
    Verdict denied = limiter.take("k", 2);
    assertFalse(denied.allowed());
    near(Duration.ofHours(1), denied.retryAfter(), 60);
    assertEquals("hourly", denied.limits().get(0).name());
    assertEquals("\"hourly\";q=3;w=3600", denied.headers().get("RateLimit-Policy"));
    assertTrue(denied.headers().containsKey("Retry-After"));
    assertEquals(Optional.empty(), limiter.take("k", 4).retryAfter());
  }

  @Test
  void upToAndCosts() {
    WeirLimiter limiter = limiter("FIXED 5/1h FIXED 100/1d");
    assertEquals(5, limiter.take(Take.from("k").cost(8).upTo()).granted());
    assertTrue(limiter.take(Take.from("l").cost(1, 50)).allowed());
    assertEquals(50, limiter.peek("l", 0, 0).limits().get(1).remaining());
  }

  @Test
  void idIsChargedOnce() {
    WeirLimiter limiter = limiter("FIXED 5/1h");
    for (int turn = 0; turn < 3; turn++) {
      assertEquals(4, limiter.take(Take.from("k").id("same")).remaining());
    }
  }

  @Test
  void bothProtocols() {
    for (ProtocolVersion version : List.of(ProtocolVersion.RESP2, ProtocolVersion.RESP3)) {
      RedisClient client = RedisClient.create();
      client.setOptions(ClientOptions.builder().protocolVersion(version).build());
      RedisURI address = RedisURI.create(server.url());
      try (Weir given = Weir.builder().client(client, address).deadline(Stopwatch.PATIENCE).build()) {
        Verdict verdict = given.limiter("FIXED 5/1h AS x").build().take(version.name());
        assertEquals(4, verdict.remaining());
        assertEquals("\"x\";r=4;t=3600", verdict.headers().get("RateLimit"));
      } finally {
        client.shutdown(Duration.ZERO, Duration.ZERO);
      }
    }
  }

  @Test
  void peekChangesNothing() {
    WeirLimiter limiter = limiter("FIXED 5/1h");
    assertEquals(4, limiter.peek("k").remaining());
    assertEquals(4, limiter.peek("k").remaining());
  }

  @Test
  void exactFor16Callers() throws Exception {
    WeirLimiter limiter = limiter("FIXED 100/1h");
    List<FutureTask<Integer>> callers = new ArrayList<>();
    for (int caller = 0; caller < 16; caller++) {
      callers.add(new FutureTask<>(() -> (int) IntStream.range(0, 10).filter(turn -> limiter.take("k").allowed())
          .count()));
    }
    callers.forEach(caller -> new Thread(caller).start());
    int granted = 0;
    for (FutureTask<Integer> caller : callers) {
      granted += caller.get();
    }
    assertEquals(100, granted);
  }

  @Test
  void exactForCallsAtOnce() {
    for (Duration tick : List.of(Duration.ZERO, Duration.ofMillis(1))) {
      try (Weir batching = Weir.builder(server.url()).deadline(Stopwatch.PATIENCE).batch(tick).build()) {
        WeirLimiter limiter = batching.limiter("FIXED 500/1h").build();
        List<CompletableFuture<Verdict>> all =
            IntStream.range(0, 2000).mapToObj(turn -> limiter.takeAsync("at once" + tick)).toList();
        assertEquals(500, all.stream().filter(verdict -> verdict.join().allowed()).count());
      }
    }
  }

  @Test
  void acquireWaitsAndHoldsUpNobody() throws Exception {
    WeirLimiter limiter = limiter("GCRA 2/1s BURST 0");
    long begin = System.nanoTime();
    limiter.take("k");
    CompletableFuture<Verdict> waiting = limiter.acquireAsync(Take.from("k"), Duration.ofSeconds(10));
    assertTrue(limiter("100/1s").take("other").allowed());
    assertTrue(waiting.join().allowed());
    assertTrue(System.nanoTime() - begin > 300_000_000L);
    WeirLimiter rare = limiter("GCRA 1/1h BURST 0");
    rare.take("rare");
    Verdict denied = rare.acquire("rare", Duration.ofMillis(1));
    assertFalse(denied.allowed());
    assertFalse(denied.retryAfter().get().isZero());
  }

  @Test
  void whoIsCancelledGivesUpTheTurn() throws Exception {
    WeirLimiter limiter = limiter("FIXED 1/2s");
    limiter.take("k");
    CompletableFuture<Verdict> waiting = limiter.acquireAsync(Take.from("k"), Duration.ofSeconds(30));
    Thread.sleep(300);
    waiting.cancel(true);
    Thread.sleep(2500);
    assertTrue(limiter.take("k").allowed(), "its permit is taken for nobody");
  }

  @Test
  void reserveAndCancel() {
    WeirLimiter limiter = limiter("GCRA 1/1h");
    Take take = Take.from("k");
    assertEquals(Optional.of(Duration.ZERO), limiter.reserve(take).waitFor());
    Reservation booked = limiter.reserve(take);
    near(Duration.ofHours(1), booked.waitFor(), 60);
    assertFalse(limiter.reserve(take, Duration.ofSeconds(1)).granted());
    assertEquals(1, limiter.cancel("k", booked));
    assertEquals(Optional.empty(), limiter.reserve(take.cost(3)).waitFor());
  }

  @Test
  void hold() {
    WeirLimiter limiter = limiter("FIXED 10/1h");
    try (Hold hold = limiter.hold("k", 5)) {
      hold.used(2);
    }
    assertEquals(8, limiter.peek("k", 0).remaining());
    assertThrows(IllegalStateException.class, () -> {
      try (Hold hold = limiter.hold("k", 5)) {
        throw new IllegalStateException();
      }
    });
    assertEquals(8, limiter.peek("k", 0).remaining());
    assertEquals(8, assertThrows(DeniedException.class, () -> limiter.hold("k", 9)).verdict().remaining());
  }

  @Test
  void takeAll() {
    WeirLimiter users = limiter("FIXED 10/1h");
    WeirLimiter tenants = limiter("FIXED 2/1h CONCURRENCY 5 LEASE 30s");
    Verdicts verdicts = weir.takeAll(users.part("user:1", 3), tenants.part("tenant:1", 1));
    assertTrue(verdicts.allowed());
    assertEquals(List.of(7L, 1L), verdicts.each().stream().map(Verdict::remaining).toList());
    Verdicts denied = weir.takeAll(users.part("user:1", 1), tenants.part("tenant:1", 2));
    assertEquals(1, denied.index());
    assertFalse(denied.retryAfter().get().isZero());
    assertEquals(7, users.peek("user:1", 0).remaining());
    assertThrows(IllegalArgumentException.class, () -> weir.takeAll(users.part("a", 1), users.part("a", 1)));
  }

  @Test
  void policies() {
    weir.policies().set("free", "2/1h");
    WeirLimiter limiter = weir.limiter("POLICY free").build();
    assertEquals(Optional.of("free"), limiter.take("k").policy());
    assertEquals(List.of("free"), weir.policies().list());
    assertTrue(weir.policies().get("free").get().containsKey("limits"));
    assertEquals(Optional.empty(), weir.policies().get("none"));
    weir.policies().set("free", "BLOCKED");
    assertFalse(limiter.take("k").allowed());
    weir.policies().set("free", "UNLIMITED");
    assertTrue(limiter.take("k").allowed());
    weir.policies().delete("free");
  }

  @Test
  void faultsOfTheProgramAreRaised() throws Exception {
    assertThrows(IllegalArgumentException.class, () -> limiter("100"));
    assertTrue(assertThrows(RedisCommandExecutionException.class, () -> limiter("POLICY unknown").take("k"))
        .getMessage().contains("no policy"));
    server.call("SET", "text", "x");
    assertTrue(assertThrows(RedisCommandExecutionException.class, () -> limiter("5/1s").take("text"))
        .getMessage().startsWith("WRONGTYPE"));
    try (Weir wrong = Weir.builder("redis://who:wrong@127.0.0.1:" + server.port).deadline(Stopwatch.PATIENCE).build()) {
      assertThrows(RedisException.class, () -> wrong.limiter("5/1s").build().take("k"));
    }
  }

  @Test
  void nameOfTheProcess() throws Exception {
    limiter("5/1s").take("k");
    assertTrue(server.call("CLIENT", "LIST").toString().contains("name=weir-"));
  }

  @Test
  void aUserWhoMayOnlyAsk() throws Exception {
    server.call("ACL", "SETUSER", "shop", "on", ">phrase", "+@ratelimit", "~shop:*");
    String url = "redis://shop:phrase@127.0.0.1:" + server.port;
    try (Weir shop = Weir.builder(url).deadline(Stopwatch.PATIENCE).build()) {
      WeirLimiter limiter = shop.limiter("5/1s").build();
      assertTrue(limiter.take("shop:1").allowed());
      assertThrows(RedisCommandExecutionException.class, () -> limiter.take("other"));
    }
  }
}
