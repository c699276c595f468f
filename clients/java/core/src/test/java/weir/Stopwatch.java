package weir;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The longest of what was timed, less what the process was kept waiting for a processor meanwhile. */
public final class Stopwatch {
  /** A deadline of what is not asked whether it is in time. */
  public static final Duration PATIENCE = Duration.ofSeconds(120);
  private static final Duration SLACK = Duration.ofMillis(500);
  private static final Path TASKS = Path.of("/proc/self/task");
  private static final int WAITED = 1; // the second number of schedstat

  private long longestNs;

  /** For which each thread of this process has been ready to run, and had no processor. */
  private static Map<Path, Long> keptWaitingNs() {
    try (Stream<Path> tasks = Files.list(TASKS)) {
      return tasks.collect(Collectors.toMap(Function.identity(), Stopwatch::keptWaitingNs));
    } catch (IOException error) {
      return Map.of(); // not Linux
    }
  }

  private static long keptWaitingNs(Path task) {
    try {
      return Long.parseLong(Files.readString(task.resolve("schedstat")).split(" ")[WAITED]);
    } catch (IOException error) {
      return 0; // it has ended
    }
  }

  public <T> T time(Callable<T> call) throws Exception {
    Map<Path, Long> before = keptWaitingNs();
    long begin = System.nanoTime();
    T value = call.call();
    long taken = System.nanoTime() - begin;
    long waited = keptWaitingNs().entrySet().stream()
        .mapToLong(task -> Math.max(0, task.getValue() - before.getOrDefault(task.getKey(), 0L))).sum();
    synchronized (this) {
      longestNs = Math.max(longestNs, taken - waited);
    }
    return value;
  }

  public synchronized void reset() {
    longestNs = 0;
  }

  public synchronized void assertWithin(Duration deadline) {
    Duration longest = Duration.ofNanos(longestNs);
    assertTrue(longest.compareTo(deadline.plus(SLACK)) < 0, "the longest took " + longest.toMillis() + " ms");
  }
}
