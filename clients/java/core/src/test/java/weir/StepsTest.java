package weir;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static weir.WeirServer.waitUntil;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import weir.core.Answer;
import weir.core.Away;
import weir.core.Core;
import weir.core.Cost;
import weir.core.Failure;
import weir.core.Limits;

/** What each call asks, and until when; nothing is sent. */
class StepsTest {
  private static final int DEPTH = 6; // requests of which each may be late or answered; those after them are late
  private static final long LATER_MS = 2000; // a probe is due by then
  private static final Set<String> SETTLING = Set.of("RL.SETTLE", "RL.CANCEL");
  private static final RedisException GONE = new RedisException("the connection has ended");
  private static final List<Long> SHADOWED = List.of(1L, 0L, 0L, 0L, 0L, 0L); // a limit would deny
  private static final List<Object> FULL = Arrays.asList("allowed", 1L, "limits", List.of(), "retry_ms", 0L, "policy",
      null, "granted", 1L, "lease", null, "hold", 7L, "banned", 0L, "index", -1L);

  private record Request(List<Command> commands, long endNs, boolean waits) {
    Command last() {
      return commands.get(commands.size() - 1);
    }
  }

  private final List<Request> requests = new CopyOnWriteArrayList<>();
  private volatile Function<Request, Object> replying = request -> GONE; // a reply, an error, or null for none ever
  private final Timer timer = new Timer();
  private final Weir weir = new Weir(new Transport() {
    @Override
    public CompletableFuture<List<Object>> send(List<Command> commands, long endNs, boolean waits) {
      Request request = new Request(commands, endNs, waits);
      requests.add(request);
      Object reply = replying.apply(request);
      if (reply instanceof Throwable error) {
        return CompletableFuture.failedFuture(error);
      }
      return reply == null ? new CompletableFuture<>()
          : CompletableFuture.completedFuture(commands.stream().map(command -> reply).toList());
    }

    @Override
    public void close() {
      requests.clear();
    }
  }, timer, new Options(Stopwatch.PATIENCE.toNanos(), 1), timer::close);

  @AfterEach
  void end() {
    weir.close();
  }

  private static Object answer(Request request) {
    return switch (request.last().name()) {
      case "RL.TAKE", "RL.ACQUIRE", "RL.PEEK" ->
          request.last().words().contains("HEADERS") ? FULL : SHADOWED;
      case "RL.RESERVE" -> List.of(1L, 0L, 7L);
      case "RL.MTAKE" -> both();
      default -> 1L;
    };
  }

  private static List<Object> both() {
    List<Object> both = new ArrayList<>(FULL);
    both.addAll(List.of("keys", List.of(FULL, FULL)));
    return both;
  }

  private Engine engine(Core core, String limits) {
    return new Engine(weir, Limits.words(limits), core, List.of(), null);
  }

  private static Core core(String limits) {
    return Engine.core(Limits.words(limits), Away.LOCAL, 1.0, Core.KEYS_MAX, null);
  }

  /** One that owes a hand back of each key. */
  private Engine owing(String limits) {
    Core core = core(limits);
    double now = System.nanoTime() / 1e6;
    for (String key : List.of("a", "b")) {
      core.answered(key, now, Answer.of(1));
    }
    core.failed(now, Failure.GONE);
    for (String key : List.of("a", "b")) {
      assertTrue(core.decide(key, new Cost(5), now, true).allowed());
    }
    assertTrue(core.breaker().beginProbe(now + LATER_MS));
    core.breaker().probed(now + LATER_MS, true);
    return engine(core, limits);
  }

  private static final Take TAKE = Take.from("a");
  private static final Map<String, Consumer<Engine>> CALLS = Map.of(
      "take", engine -> Calls.take(engine, TAKE, null).join(),
      "hold", engine -> Calls.take(engine, TAKE.cost(5), Duration.ofMinutes(1)).join(),
      "peek", engine -> Calls.peek(engine, "a", Cost.ONE).join(),
      "reserve", engine -> Calls.reserve(engine, TAKE, null).join(),
      "takeAll", StepsTest::takeAll,
      "takeAll over slots", StepsTest::takeAll);

  private static void takeAll(Engine engine) {
    WeirLimiter limiter = new WeirLimiter(engine);
    TakeAll.take(List.of(limiter.part("a", 1), limiter.part("b", 1))).join();
  }

  /** Answers by the bits of a pattern, one a request; later ones are late. */
  private void pattern(int pattern, boolean isCluster) {
    requests.clear();
    replying = request -> {
      int bit = requests.size() - 1;
      if (bit >= DEPTH || (pattern >> bit & 1) == 0) {
        return new TimeoutException();
      }
      boolean isOfSlots = isCluster && request.last().name().equals("RL.MTAKE");
      return isOfSlots ? new RedisCommandExecutionException("CROSSSLOT of two slots") : answer(request);
    };
  }

  @Test
  void oneDeadline() {
    for (String limits : List.of("100/1m", "100/1m FIXED 1000/1h")) {
      CALLS.forEach((name, call) -> {
        for (int pattern = 0; pattern < 1 << DEPTH; pattern++) {
          Engine engine = owing(limits);
          pattern(pattern, name.endsWith("slots"));
          call.accept(engine);
          Set<Long> ends = new HashSet<>();
          requests.stream().filter(request -> !SETTLING.contains(request.last().name()))
              .forEach(request -> ends.add(request.endNs()));
          assertEquals(1, ends.size(), name + " of " + limits + ", pattern " + pattern);
        }
      });
    }
  }

  @Test
  void afterAHandBackThatIsNotAnsweredNothingMoreIsAsked() {
    Map<String, Consumer<Engine>> calls = Map.of("reserve", CALLS.get("reserve"), "takeAll", CALLS.get("takeAll"),
        "acquire", engine -> Calls.acquire(engine, TAKE, Duration.ofSeconds(1)).join());
    for (String limits : List.of("100/1m", "100/1m FIXED 1000/1h")) {
      calls.forEach((name, call) -> {
        Engine engine = owing(limits);
        replying = request -> request.last().name().equals("RL.TAKE") ? GONE : answer(request);
        requests.clear();
        call.accept(engine);
        Set<String> names = new HashSet<>();
        requests.forEach(request -> names.add(request.last().name()));
        assertEquals(Set.of("RL.TAKE"), names, name);
      });
    }
  }

  @Test
  void aBookingThatWeirGrantedIsChargedHere() {
    for (String limits : List.of("FIXED 10/1h AS hourly", "POLICY p")) {
      Core core = core(limits);
      core.answered("a", System.nanoTime() / 1e6, new Answer(Cost.ONE,
          Limits.parse(Limits.words("FIXED 10/1h AS hourly")).get(), new double[0], false, null, null));
      Engine engine = engine(core, limits);
      replying = StepsTest::answer;
      assertTrue(Calls.reserve(engine, TAKE.cost(4), null).join().granted());
      replying = request -> GONE;
      assertEquals(10 - 1 - 4 - 1, Calls.take(engine, TAKE, null).join().remaining(), limits);
    }
  }

  @Test
  void anyReplyIsBetweenTwoTimeOuts() {
    Map<String, Consumer<Engine>> calls = Map.of(
        "denied", engine -> assertFalse(Calls.reserve(engine, TAKE, null).join().granted()),
        "peek", CALLS.get("peek"),
        "takeAll as the second", engine -> TakeAll.take(List.of(new WeirLimiter(engine(core("6/1s"), "6/1s"))
            .part("b", 1), new WeirLimiter(engine).part("a", 1))).join(),
        "cancel", engine -> Calls.ofId(engine, "RL.CANCEL", "a", 7).join(),
        "fault", engine -> assertThrows(CompletionException.class, () -> Calls.take(engine, TAKE, null).join()));
    calls.forEach((name, call) -> {
      Engine engine = engine(core("5/1s"), "5/1s");
      for (int turn = 0; turn < 3; turn++) {
        replying = request -> new TimeoutException();
        assertEquals(Source.LOCAL, Calls.take(engine, TAKE, null).join().source());
        replying = request -> switch (request.last().name()) {
          case "RL.RESERVE" -> Arrays.asList(0L, 1000L, null);
          case "RL.TAKE" -> name.equals("fault") ? new RedisCommandExecutionException("WRONGTYPE no limiter")
              : List.of(1L, 1L, 1L);
          default -> answer(request);
        };
        call.accept(engine);
      }
      assertFalse(engine.state().away(), name);
    });
  }

  @Test
  void aDenialDoesNotSayThatAPolicyBlocksNoMore() {
    Core core = core("POLICY p");
    core.answered("a", System.nanoTime() / 1e6, new Answer(new Cost(0), List.of(), new double[0], true, null, null));
    Engine engine = engine(core, "POLICY p");
    replying = request -> Arrays.asList(0L, -1L, null);
    assertFalse(Calls.reserve(engine, TAKE, null).join().granted());
    replying = request -> GONE;
    assertFalse(Calls.take(engine, TAKE, null).join().allowed());
  }

  @Test
  void aLeaseIsRenewedWhileWeirIsAway() throws Exception {
    Core core = core("CONCURRENCY 1 LEASE 600ms");
    Engine engine = engine(core, "CONCURRENCY 1 LEASE 600ms");
    List<Object> limit = List.of("name", "concurrency0", "algorithm", "CONCURRENCY", "capacity", 1L, "remaining", 0L,
        "reset_ms", 600L, "window_ms", 600L);
    replying = request -> Arrays.asList("allowed", 1L, "limits", List.of(limit), "retry_ms", 0L, "policy", null,
        "granted", 1L, "lease", 7L, "hold", null, "banned", 0L);
    Verdict verdict = Calls.take(engine, TAKE, null).join();
    core.failed(System.nanoTime() / 1e6, Failure.GONE);
    replying = request -> request.last().name().equals("RL.PEEK") ? null : (Object) 1L; // its probe is not answered
    try (Lease lease = new Lease(engine, "a", 1, verdict)) {
      waitUntil("it is renewed", () -> requests.stream().anyMatch(one -> one.last().name().equals("RL.RENEW")));
      assertTrue(engine.state().away());
      assertFalse(lease.isLost());
      replying = request -> GONE;
      lease.lost().join();
    }
  }
}
