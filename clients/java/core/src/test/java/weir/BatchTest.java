package weir;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static weir.WeirServer.waitUntil;

import io.lettuce.core.RedisCommandExecutionException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Calls that leave together: each has its own reply, error and deadline. */
class BatchTest {
  private static final Duration TICK = Duration.ofMillis(1);
  private static final String LIMIT = "FIXED 1000/1h";
  private WeirServer server;

  @BeforeEach
  void start() throws Exception {
    server = WeirServer.started();
  }

  @AfterEach
  void end() throws Exception {
    server.close();
  }

  private Weir weir(String url, Duration tick, Duration deadline) {
    return Weir.builder(url).deadline(deadline).batch(tick).build();
  }

  @Test
  void leavesInOneWrite() throws Exception {
    try (Proxy proxy = new Proxy(server.port);
        Weir weir = weir(proxy.url(), Duration.ofSeconds(5), Stopwatch.PATIENCE)) {
      WeirLimiter limiter = weir.limiter(LIMIT).build();
      CompletableFuture<Verdict> first = limiter.takeAsync("k");
      Thread.sleep(100); // without a batch it has left
      CompletableFuture<Verdict> second = limiter.takeAsync("k");
      assertEquals(Set.of(999L, 998L), Set.of(first.join().remaining(), second.join().remaining()));
      assertEquals(1, proxy.writes.get());
    }
  }

  @Test
  void faultsAreRaisedByTheirOwnCalls() throws Exception {
    server.call("SET", "text", "x");
    try (Weir weir = weir(server.url(), TICK, Stopwatch.PATIENCE)) {
      WeirLimiter limiter = weir.limiter(LIMIT).build();
      List<CompletableFuture<Verdict>> calls = IntStream.range(0, 20)
          .mapToObj(number -> limiter.takeAsync(number % 2 == 0 ? "k" : "text")).toList();
      for (int number = 0; number < calls.size(); number++) {
        if (number % 2 == 0) {
          assertEquals(Source.WEIR, calls.get(number).join().source());
        } else {
          assertEquals(RedisCommandExecutionException.class,
              assertThrows(CompletionException.class, calls.get(number)::join).getCause().getClass());
        }
      }
    }
  }

  @Test
  void killedAndBack() throws Exception {
    try (Weir weir = weir(server.url(), TICK, Stopwatch.PATIENCE)) {
      WeirLimiter limiter = weir.limiter(LIMIT).processes(2).build();
      limiter.take("k");
      server.kill();
      List<CompletableFuture<Verdict>> calls =
          IntStream.range(0, 10).mapToObj(number -> limiter.takeAsync("k")).toList();
      assertEquals(Set.of(Source.LOCAL),
          calls.stream().map(call -> call.join().source()).collect(Collectors.toSet()));
      server.start();
      waitUntil("weir is back", () -> !limiter.state().away() || limiter.peek("other") == null);
      assertEquals(1000 - 12, limiter.take("k").remaining());
    }
  }

  @Test
  void nobodyWaitsBeyondTheDeadline() throws Exception {
    Duration deadline = Duration.ofMillis(100);
    Stopwatch watch = new Stopwatch();
    try (Weir weir = weir(server.url(), Duration.ofMinutes(1), deadline)) {
      WeirLimiter limiter = weir.limiter(LIMIT).build();
      for (int number = 0; number < 5; number++) {
        assertEquals(Source.LOCAL, watch.time(() -> limiter.take("k")).source());
      }
    }
    watch.assertWithin(deadline);
  }
}
