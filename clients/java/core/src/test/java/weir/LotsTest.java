package weir;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static weir.WeirServer.waitUntil;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Permits handed out in the process: exact in sum, and many. */
class LotsTest {
  private static final Duration BLOCK = Duration.ofMillis(50);
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

  private static long granted(Lots lots, String key, int callers, int turns) throws Exception {
    List<FutureTask<Long>> tasks = new ArrayList<>();
    for (int caller = 0; caller < callers; caller++) {
      tasks.add(new FutureTask<>(() -> {
        long granted = 0;
        for (int turn = 0; turn < turns; turn++) {
          granted += lots.take(key) ? 1 : 0;
        }
        return granted;
      }));
    }
    tasks.forEach(task -> new Thread(task).start());
    long granted = 0;
    for (FutureTask<Long> task : tasks) {
      granted += task.get();
    }
    return granted;
  }

  @Test
  void exactInSum() throws Exception {
    String limits = "FIXED 10000/1h";
    try (Lots lots = weir.limiter(limits).processes(2).build().lots(Duration.ofMinutes(2))) {
      assertEquals(10_000, granted(lots, "sum", 8, 2000));
    }
    assertEquals(0, server.remaining("sum", limits));
  }

  @Test
  void whatIsIdleGoesBack() throws Exception {
    String limits = "FIXED 100000000/1h";
    try (Lots lots = weir.limiter(limits).build().lots(BLOCK)) {
      assertEquals(10, granted(lots, "idle", 1, 10));
      waitUntil("the rest is back", () -> server.remaining("idle", limits) == 99_999_990);
      assertTrue(lots.take("idle"));
    }
    assertEquals(99_999_989, server.remaining("idle", limits));
  }

  @Test
  void aMillionDecisionsEachSecond() throws Exception {
    int turns = 2_000_000;
    try (Lots lots = weir.limiter("TOKENBUCKET 20000000/1s").build().lots(Duration.ofMillis(100))) {
      granted(lots, "warm", 2, 100_000);
      long begin = System.nanoTime();
      long granted = granted(lots, "many", 2, turns);
      double seconds = (System.nanoTime() - begin) / 1e9;
      System.out.printf("figure lots %.1f million decisions a second, %d of %d granted%n", 2 * turns / seconds / 1e6,
          granted, 2 * turns);
      assertEquals(2 * turns, granted);
    }
  }

  @Test
  void whileAway() throws Exception {
    try (WeirServer other = WeirServer.started(); Weir away = Weir.connect(other.url())) {
      WeirLimiter limiter = away.limiter("FIXED 1000/1h").processes(2).build();
      waitUntil("weir answers", () -> limiter.take("k").source() == Source.WEIR);
      other.kill();
      try (Lots lots = limiter.lots(BLOCK)) {
        long here = granted(lots, "k", 4, 1000);
        assertTrue(here >= 400 && here <= 500, "granted of a share of 500: " + here);
      }
    }
  }
}
