import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

// A kill and a restart of the server in the middle of traffic.
final class Restart {
  static final int CALLERS = 4;
  private static final int RESUMED_MIN = 10;
  private static final long RESUME_NS_MAX = 15_000_000_000L;

  private Restart() {}

  // How often `call` answered true to four callers. The server is killed while they call, comes
  // back a second later, and each goes on until it has had ten answers more. Meanwhile there may
  // be errors of this kind alone. What is stored may be one more for each caller, whose answer the
  // kill took.
  static long granted(Class<? extends Exception> failure, Report.Call<Boolean> call)
      throws Exception {
    var upNs = new AtomicLong();
    var roles = new AtomicInteger();
    return Report.together(CALLERS + 1, () -> {
      if (roles.getAndIncrement() < CALLERS) {
        return granted(failure, call, upNs);
      }
      Thread.sleep(300);
      Report.restartServer();
      upNs.set(System.nanoTime());
      return 0L;
    }).stream().mapToLong(Long::longValue).sum();
  }

  private static long granted(Class<? extends Exception> failure, Report.Call<Boolean> call,
      AtomicLong upNs) throws Exception {
    long granted = 0;
    for (int resumed = 0; resumed < RESUMED_MIN;) {
      boolean wasUp = upNs.get() != 0;
      try {
        granted += call.call() ? 1 : 0;
        resumed += wasUp ? 1 : 0;
      } catch (Exception error) {
        Report.expect(failure.isInstance(error), true, error + " is the library's own");
        if (wasUp && System.nanoTime() - upNs.get() > RESUME_NS_MAX) {
          throw error;
        }
        Thread.sleep(10);
      }
    }
    return granted;
  }
}
