import com.google.common.util.concurrent.RateLimiter;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

// Guava's two limiters in this process, on the real clock, beside RL.RESERVE, RL.ACQUIRE and
// RL.TAKE of BURSTY and WARMUP.
public final class GuavaDriver {
  private static final int LATE_MS = 30;

  // Guava's limiter is made when it is first asked, as ours is: it stores permits from then on.
  private static final class Pair {
    final String line;
    private final Supplier<RateLimiter> make;
    private RateLimiter made;

    Pair(Supplier<RateLimiter> make, String line) {
      this.make = make;
      this.line = line;
    }

    RateLimiter guava() {
      if (made == null) {
        made = make.get();
      }
      return made;
    }
  }

  private GuavaDriver() {}

  private static Pair bursty() {
    return new Pair(() -> RateLimiter.create(5),
        "RL.%s " + Server.newKey("bursty") + " BURSTY 5/1s");
  }

  private static Pair warmup() {
    return new Pair(() -> RateLimiter.create(5, Duration.ofSeconds(1)),
        "RL.%s " + Server.newKey("warmup") + " WARMUP 5/1s OVER 1s");
  }

  // Both book at one instant; Guava sleeps until its turn. `requests`: a pause in ms, then permits.
  private static void waits(String name, Pair pair, int[][] requests) throws Exception {
    double largestMs = 0;
    for (int[] request : requests) {
      Thread.sleep(request[0]);
      long[] booked = Server.WEIR.numbers(pair.line + " COST %d", "RESERVE", request[1]);
      double guavaMs = pair.guava().acquire(request[1]) * 1000;
      Report.expect(booked[0], 1L, "granted");
      Report.between(-LATE_MS, booked[1] - guavaMs, LATE_MS, "wait for " + request[1]);
      largestMs = Math.max(largestMs, Math.abs(booked[1] - guavaMs));
    }
    Report.figure("%s: %d waits, at most %.0f ms apart", name, requests.length, largestMs);
  }

  // The same waits, waited in the server.
  private static void acquire() throws Exception {
    Pair pair = bursty();
    double guavaMs = 0;
    double weirMs = 0;
    pair.guava().acquire(4);
    Server.WEIR.verdict(pair.line + " COST 4", "TAKE");
    for (int turn = 0; turn < 3; ++turn) {
      long beginNs = System.nanoTime();
      var verdict = Server.WEIR.verdict(pair.line + " TIMEOUT 5000", "ACQUIRE");
      weirMs += (System.nanoTime() - beginNs) / 1e6;
      Report.expect(verdict.allowed(), true, "allowed");
      guavaMs += pair.guava().acquire() * 1000;
    }
    // Guava is asked after each wait in the server, so its own are over by then: 1200 ms in all.
    Report.between(1200 - LATE_MS, weirMs, 1200 + 2 * LATE_MS, "waited in the server");
    Report.between(0, guavaMs, 2 * LATE_MS, "left to wait for Guava");
    Report.figure("acquire: 4 permits of debt and two intervals, 1200 ms: waited %.0f ms in the "
        + "server, and then Guava %.0f ms more", weirMs, guavaMs);
  }

  private static Map<String, Lockstep.Limiter> deciders(Pair pair) {
    var all = new LinkedHashMap<String, Lockstep.Limiter>();
    all.put("Guava", cost -> pair.guava().tryAcquire(cost));
    all.put("RL.TAKE", cost -> Server.WEIR.verdict(pair.line + " COST %d", "TAKE", cost).allowed());
    return all;
  }

  private static Map<String, Lockstep.Limiter> patient(Pair pair) {
    var all = new LinkedHashMap<String, Lockstep.Limiter>();
    all.put("RL.RESERVE", cost -> Server.WEIR.numbers(pair.line + " COST %d MAXWAIT 300", "RESERVE",
        cost)[0] == 1);
    all.put("Guava", cost -> pair.guava().tryAcquire(cost, Duration.ofMillis(300)));
    return all;
  }

  private static void changedRate() throws Exception {
    Pair pair = bursty();
    pair.guava().acquire();
    Server.WEIR.verdict(pair.line, "TAKE");
    Thread.sleep(1100);
    pair.guava().setRate(2);
    String line = pair.line.replace("5/1s", "2/1s");
    waits("changed rate", new Pair(pair::guava, line), new int[][] {{0, 3}, {0, 1}, {0, 1}});
  }

  public static void main(String[] arguments) {
    Report.say("version Guava 33.4.8");
    // So that what is loaded at the first use is loaded.
    bursty().guava().acquire();
    Server.WEIR.numbers(bursty().line, "RESERVE");
    Report.checkTimes("bursty waits", () -> waits("bursty waits", bursty(),
        new int[][] {{0, 1}, {0, 5}, {0, 1}, {1300, 4}, {0, 3}, {0, 1}, {100, 1}}));
    Report.checkTimes("warm-up waits", () -> waits("warm-up waits", warmup(),
        new int[][] {{0, 1}, {0, 2}, {0, 1}, {0, 1}, {0, 1}, {1500, 3}, {0, 1}}));
    Report.checkTimes("acquire", GuavaDriver::acquire);
    var steps = List.of(new Lockstep.Step(0, 1, 2), new Lockstep.Step(100, 1),
        new Lockstep.Step(300, 3), new Lockstep.Step(700, 1), new Lockstep.Step(1020, 1),
        new Lockstep.Step(2300, 5), new Lockstep.Step(2320, 1), new Lockstep.Step(2340, 1));
    Lockstep.checkSame("bursty decisions", steps, 60, () -> deciders(bursty()));
    var booked = List.of(new Lockstep.Step(0, 1), new Lockstep.Step(100, 2),
        new Lockstep.Step(250, 1), new Lockstep.Step(700, 3), new Lockstep.Step(800, 1));
    Lockstep.checkSame("with a time-out", booked, 350, () -> patient(bursty()));
    Report.checkTimes("changed rate", GuavaDriver::changedRate);
    Report.say("done");
    System.exit(0);
  }
}
