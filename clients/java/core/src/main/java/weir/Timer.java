package weir;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** One thread that ends what is late. */
final class Timer implements AutoCloseable {
  private final ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1, task -> {
    Thread thread = new Thread(task, "weir-timer");
    thread.setDaemon(true);
    return thread;
  });

  Timer() {
    executor.setRemoveOnCancelPolicy(true);
    executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    executor.prestartCoreThread();
  }

  /** After close() nothing is done any more. */
  Future<?> after(long ns, Runnable task) {
    if (executor.isShutdown()) {
      return CompletableFuture.completedFuture(null);
    }
    return executor.schedule(task, Math.max(0, ns), TimeUnit.NANOSECONDS);
  }

  Future<?> every(long ns, Runnable task) {
    return executor.scheduleWithFixedDelay(task, ns, ns, TimeUnit.NANOSECONDS);
  }

  CompletableFuture<Void> sleep(long ns) {
    CompletableFuture<Void> slept = new CompletableFuture<>();
    after(ns, () -> slept.complete(null));
    return slept;
  }

  @Override
  public void close() {
    executor.shutdownNow();
  }
}
