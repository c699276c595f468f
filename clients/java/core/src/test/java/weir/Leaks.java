package weir;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.File;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What is left of calls while weir comes and goes: no lease, no connection, no thread, no memory. By hand for an hour, with
 * the class path of the tests: {@code java weir.Leaks --seconds 3600}.
 */
final class Leaks {
  private static final String SECONDS = Optional.ofNullable(System.getenv("WEIR_LEAKS_SECONDS")).orElse("120");
  private static final long WARM_S = 20;
  private static final int CALLERS = 8;
  private static final int KEYS = 500;
  private static final int SLOTS = 6;
  private static final int LEASE_S = 6;
  private static final String POOL = "CONCURRENCY " + SLOTS + " LEASE " + LEASE_S + "s";
  private static final Duration TURN = Duration.ofMillis(300);
  /**
   * What there is from the first, and what more than at a first look a second one may find, after a time many times as long.
   */
  private static final Map<String, Long> MOST = Map.of("leases", 0L, "keys", (long) KEYS);
  private static final Map<String, Long> MORE =
      Map.of("leases", 0L, "connections", 2L, "threads", 2L, "files", 6L, "keys", 0L, "heap KB", 3000L);

  private final WeirServer server = WeirServer.started();
  private final Weir weir = Weir.connect(server.url());
  private final WeirLimiter takes = limiter("FIXED 100/10s");
  private final WeirLimiter tokens = limiter("GCRA 1000/1s");
  private final WeirLimiter pool = limiter(POOL);
  private final WeirLimiter turns = limiter("GCRA 50/1s");
  private final WeirLimiter lotted = limiter("FIXED 100000/1s");
  private final Lots lots = lotted.lots(Duration.ofMillis(50));

  Leaks() throws Exception {}

  private WeirLimiter limiter(String limits) {
    return weir.limiter(limits).processes(1).keysMax(KEYS).build();
  }

  private static int upTo(int most) {
    return ThreadLocalRandom.current().nextInt(most);
  }

  /** A call at random, in full. */
  private void call() throws Exception {
    String key = "k" + upTo(4 * KEYS);
    switch (upTo(8)) {
      case 0 -> {
        try (Hold hold = tokens.hold(key, 10)) {
          hold.used(3);
        }
      }
      case 1 -> {
        try (Lease lease = pool.lease("pool")) {
          Thread.sleep(upTo(2000));
        }
      }
      case 2 -> {
        try (Lease lease = pool.lease("pool", TURN)) {
          Thread.sleep(50);
        }
      }
      case 3 -> turns.acquire("turns", TURN);
      case 4 -> {
        CompletableFuture<Verdict> waiting = turns.acquireAsync(Take.from("turns"), TURN);
        Thread.sleep(upTo(50));
        waiting.cancel(true); // it is given up
      }
      case 5 -> turns.cancel("turns", turns.reserve(Take.from("turns")));
      case 6 -> lots.take(key);
      default -> takes.take(key);
    }
  }

  private long callUntil(long endNs) throws Exception {
    long calls = 0;
    for (; System.nanoTime() < endNs; calls++) {
      try {
        call();
      } catch (DeniedException | CancellationException error) {
        continue;
      } finally {
        Thread.sleep(10);
      }
    }
    return calls;
  }

  /** Calls, while the server is killed and started. */
  private long work(long seconds) throws Exception {
    long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    List<FutureTask<Long>> callers = new ArrayList<>();
    for (int caller = 0; caller < CALLERS; caller++) {
      Callable<Long> body = () -> callUntil(endNs);
      callers.add(new FutureTask<>(body));
    }
    callers.forEach(caller -> new Thread(caller).start());
    while (System.nanoTime() < endNs) {
      Thread.sleep(8000);
      server.kill();
      Thread.sleep(2000);
      server.start();
    }
    long calls = 0;
    for (FutureTask<Long> caller : callers) {
      calls += caller.get();
    }
    return calls;
  }

  private long count(String pattern, String... command) throws IOException {
    return Pattern.compile(pattern).matcher(String.valueOf(server.call(command))).results()
        .mapToLong(found -> found.groupCount() == 0 ? 1 : Long.parseLong(found.group(1))).sum();
  }

  private long renewals() throws IOException {
    return count("cmdstat_rl.renew:calls=(\\d+)", "INFO", "commandstats");
  }

  /** When everybody rests, leases that nobody renews have ended, and weir is back for each limiter. */
  private Map<String, Long> figures() throws Exception {
    Map<String, Long> found = new LinkedHashMap<>();
    long keys = 0;
    for (WeirLimiter limiter : List.of(takes, tokens, pool, turns, lotted)) {
      WeirServer.waitUntil("weir is back", () -> limiter.take("rest").source() == Source.WEIR);
      keys = Math.max(keys, limiter.state().keys());
    }
    Thread.sleep(1000L * LEASE_S + 1000);
    long before = renewals();
    Thread.sleep(1000L * LEASE_S);
    found.put("leases", SLOTS - server.remaining("pool", POOL) + renewals() - before);
    found.put("connections", count("id=\\d+ ", "CLIENT", "LIST"));
    found.put("threads", (long) Thread.activeCount());
    found.put("files", (long) new File("/proc/self/fd").list().length);
    found.put("keys", keys);
    for (int turn = 0; turn < 3; turn++) {
      System.gc();
    }
    found.put("heap KB", (Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory()) / 1024);
    return found;
  }

  private static void measure(long seconds) throws Exception {
    Leaks leaks = new Leaks();
    try {
      leaks.work(WARM_S);
      Map<String, Long> first = leaks.figures();
      long calls = leaks.work(seconds);
      Map<String, Long> last = leaks.figures();
      String told = calls + " calls in " + seconds + " s: " + first + " became " + last;
      System.err.println(told);
      assertEquals(List.of(), MORE.keySet().stream().filter(name ->
          last.get(name) > MOST.getOrDefault(name, first.get(name)) + MORE.get(name)).toList(), told);
    } finally {
      leaks.lots.close();
      leaks.weir.close();
      leaks.server.close();
    }
  }

  @Test
  @Timeout(value = 1, unit = TimeUnit.DAYS)
  void nothingIsLeft() throws Exception {
    measure(Long.parseLong(SECONDS));
  }

  public static void main(String[] words) throws Exception {
    measure(Long.parseLong(words.length == 2 && words[0].equals("--seconds") ? words[1] : SECONDS));
    System.exit(0);
  }
}
