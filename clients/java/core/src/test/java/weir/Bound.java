package weir;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import weir.core.Away;

/**
 * How much more than the limit passes over an outage, in all windows and all processes together.
 *
 * <p>{@code java -cp ... weir.Bound} prints a table: each mode and fault for 20 s, even and skewed load, a wrong number
 * of processes.
 */
final class Bound {
  static final int RATE = 10;
  static final int BURST = 10;
  static final int PROCESSES = 4;
  static final long[] EVEN_MS = {20, 20, 20, 20};
  private static final long[] SKEWED_MS = {10, 200, 200, 200};
  private static final String LIMITS = "TOKENBUCKET " + RATE + "/1s CAPACITY " + BURST;
  private static final double WARM_S = 2;
  private static final double AFTER_S = 4;
  private static final double S = 1e9;
  private static final List<String> OPTIONS =
      List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Xmx64m");

  private Bound() {}

  /** Instants in seconds between which it was made. */
  record Grant(double before, double after) {}

  /** Of one mode: permits beyond the limit, and grants a second while weir was away. */
  record Found(double beyond, double rate) {}

  /** An outage; `kills`, or stops and continues. */
  record Fault(boolean kills, double seconds) {
    void of(WeirServer server) throws Exception {
      if (kills) {
        server.kill();
      } else {
        server.signal("STOP");
      }
      Thread.sleep(ms(seconds));
      if (kills) {
        server.start();
      } else {
        server.signal("CONT");
      }
    }
  }

  private static long ms(double seconds) {
    return Math.round(seconds * 1000);
  }

  private static double now() {
    return System.nanoTime() / S; // the same clock in all processes
  }

  /** In a process: takes until time is over, and prints the instants before and after each grant. */
  private static void work(String url, Away away, double processes, long pauseMs, double seconds) throws Exception {
    try (Weir weir = Weir.connect(url)) {
      WeirLimiter limiter = weir.limiter(LIMITS).away(away).processes(processes).build();
      while (limiter.take("k").source() != Source.WEIR) {
        Thread.sleep(50);
      }
      System.out.println("ready");
      System.in.read();
      for (double end = now() + seconds; now() < end; Thread.sleep(pauseMs)) {
        double before = now();
        if (limiter.take("k").allowed()) {
          System.out.println(before + " " + now());
        }
      }
    }
  }

  private static Process worker(String... words) throws IOException {
    List<String> command = new ArrayList<>(List.of(System.getProperty("java.home") + "/bin/java"));
    command.addAll(OPTIONS);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Bound.class.getName()));
    command.addAll(List.of(words));
    return new ProcessBuilder(command).redirectError(Redirect.DISCARD).start();
  }

  /** Lines of a worker that are grants; others are of loggers. */
  private static List<Grant> grants(BufferedReader lines) throws IOException {
    List<Grant> grants = new ArrayList<>();
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      if (line.matches("[\\d.E]+ [\\d.E]+")) {
        String[] instants = line.split(" ");
        grants.add(new Grant(Double.parseDouble(instants[0]), Double.parseDouble(instants[1])));
      }
    }
    return grants;
  }

  private static void untilReady(BufferedReader lines) throws IOException {
    for (String line = lines.readLine(); !"ready".equals(line); line = lines.readLine()) {
      if (line == null) {
        throw new IOException("a worker has ended");
      }
    }
  }

  /**
   * The most that passed in any window beyond BURST and RATE in its length. Windows are as long as they may have been,
   * so this is what passed for certain.
   */
  static double excess(List<Grant> grants) {
    List<Grant> sorted = grants.stream().sorted(Comparator.comparingDouble(Grant::after)).toList();
    double most = 0;
    for (int first = 0; first < sorted.size(); first++) {
      for (int last = first; last < sorted.size(); last++) {
        double length = Math.max(0, sorted.get(last).after - sorted.get(first).before);
        most = Math.max(most, last - first + 1 - BURST - RATE * length);
      }
    }
    return most;
  }

  static Found measure(Away away, Fault fault, long[] pausesMs, double processes) throws Exception {
    List<Process> workers = new ArrayList<>();
    try (WeirServer server = WeirServer.started()) {
      double seconds = WARM_S + fault.seconds + AFTER_S;
      List<BufferedReader> lines = new ArrayList<>();
      for (long pause : pausesMs) {
        Process worker = worker(server.url(), away.name(), "" + processes, "" + pause, "" + seconds);
        workers.add(worker);
        lines.add(new BufferedReader(new InputStreamReader(worker.getInputStream(), StandardCharsets.UTF_8)));
      }
      for (BufferedReader each : lines) {
        untilReady(each);
      }
      for (Process worker : workers) {
        worker.getOutputStream().write('\n');
        worker.getOutputStream().flush();
      }
      Thread.sleep(ms(WARM_S));
      double begin = now();
      fault.of(server);
      double end = now();
      List<Grant> grants = new ArrayList<>();
      for (BufferedReader each : lines) {
        grants.addAll(grants(each));
      }
      long meanwhile = grants.stream().filter(grant -> begin < grant.after && grant.after < end).count();
      return new Found(excess(grants), meanwhile / (end - begin));
    } finally {
      workers.forEach(Process::destroyForcibly);
    }
  }

  private static void row(Away away, boolean kills, long[] pausesMs, double processes) throws Exception {
    Found found = measure(away, new Fault(kills, 20), pausesMs, processes);
    System.out.printf("%-7s %-5s %-7s %9.0f %17.1f %20.1f%n", away, kills ? "kill" : "stop",
        pausesMs == EVEN_MS ? "even" : "skewed", processes, found.beyond, found.rate);
  }

  public static void main(String[] words) throws Exception {
    if (words.length > 0) {
      work(words[0], Away.valueOf(words[1]), Double.parseDouble(words[2]), Long.parseLong(words[3]),
          Double.parseDouble(words[4]));
      return;
    }
    System.out.println("away    fault load    processes  beyond the limit  a second while away");
    row(Away.LOCAL, true, EVEN_MS, PROCESSES);
    row(Away.LOCAL, true, SKEWED_MS, PROCESSES);
    row(Away.LOCAL, false, EVEN_MS, PROCESSES);
    row(Away.STRICT, true, EVEN_MS, PROCESSES);
    row(Away.STRICT, false, EVEN_MS, PROCESSES);
    row(Away.LOCAL, true, EVEN_MS, PROCESSES / 2.0);
    row(Away.LOCAL, true, EVEN_MS, PROCESSES * 2.0);
  }
}
