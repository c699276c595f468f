import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

// Puts the same requests to several limiters at the same instants, as python/lockstep.py does: a
// round in which a request came later than its margin is played again on new limiters.
final class Lockstep {
  interface Limiter {
    Object ask(int cost) throws Exception;
  }

  // At so many milliseconds after the start, `times` requests of `cost` each.
  record Step(long atMs, int cost, int times) {
    Step(long atMs, int cost) {
      this(atMs, cost, 1);
    }
  }

  private static final int ROUNDS_MAX = 5;

  private Lockstep() {}

  static void waitUntil(long instantNs) throws InterruptedException {
    long pauseNs = instantNs - System.nanoTime();
    if (pauseNs > 0) {
      Thread.sleep(pauseNs / 1_000_000, (int) (pauseNs % 1_000_000));
    }
  }

  // Waits for the next instant that lies so many milliseconds into a second.
  static void atMillisecond(long millisecond) throws InterruptedException {
    Thread.sleep(Math.floorMod(millisecond - System.currentTimeMillis(), 1000L));
  }

  private static Map<String, List<Object>> round(List<Step> stream, Map<String, Limiter> limiters,
      long marginMs) throws Exception {
    long beginNs = System.nanoTime();
    Map<String, List<Object>> answers = new LinkedHashMap<>();
    limiters.keySet().forEach(name -> answers.put(name, new ArrayList<>()));
    for (Step step : stream) {
      waitUntil(beginNs + step.atMs * 1_000_000);
      for (int time = 0; time < step.times; ++time) {
        for (var limiter : limiters.entrySet()) {
          answers.get(limiter.getKey()).add(limiter.getValue().ask(step.cost));
        }
      }
      if (System.nanoTime() - beginNs > (step.atMs + marginMs) * 1_000_000) {
        return null;
      }
    }
    return answers;
  }

  static Map<String, List<Object>> play(List<Step> stream, long marginMs,
      Supplier<Map<String, Limiter>> make, Report.Body start) throws Exception {
    for (int attempt = 0; attempt < ROUNDS_MAX; ++attempt) {
      Map<String, Limiter> limiters = make.get();
      start.run();
      var answers = round(stream, limiters, marginMs);
      if (answers != null) {
        return answers;
      }
    }
    throw new AssertionError("the machine was late by " + marginMs + " ms in each round");
  }

  // All answer the same; their first word says whether a request was admitted.
  static void checkSame(String name, List<Step> stream, long marginMs,
      Supplier<Map<String, Limiter>> make, Report.Body start) {
    Report.check(name, () -> {
      var answers = play(stream, marginMs, make, start);
      var first = answers.values().iterator().next();
      for (var other : answers.entrySet()) {
        Report.expect(other.getValue(), first, other.getKey());
      }
      long admitted = first.stream().filter(answer -> answer.toString().startsWith("true")).count();
      Report.figure("%s: %d of %d admitted, the same by all", name, admitted, first.size());
    });
  }

  static void checkSame(String name, List<Step> stream, long marginMs,
      Supplier<Map<String, Limiter>> make) {
    checkSame(name, stream, marginMs, make, () -> {});
  }
}
