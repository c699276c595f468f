package weir;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Threads for what may take long, so that no call waits for it. They end when they are idle. */
final class Aside {
  private static final long IDLE_S = 5;

  /** As many as there are tasks. */
  static final Executor THREADS = pool("weir-aside", Integer.MAX_VALUE, new SynchronousQueue<>());

  private Aside() {}

  /** One thread, for tasks in their order. After shutdown() no more are taken. */
  static ExecutorService inOrder(String name) {
    return pool(name, 1, new LinkedBlockingQueue<>());
  }

  private static ThreadPoolExecutor pool(String name, int most, BlockingQueue<Runnable> waiting) {
    int kept = most == 1 ? 1 : 0;
    ThreadPoolExecutor pool = new ThreadPoolExecutor(kept, most, IDLE_S, TimeUnit.SECONDS, waiting, task -> {
      Thread thread = new Thread(task, name);
      thread.setDaemon(true);
      return thread;
    }, new ThreadPoolExecutor.DiscardPolicy());
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }
}
