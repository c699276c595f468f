package weir;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static weir.WeirServer.waitUntil;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Leases that renew themselves; each lasts long enough for a machine that is busy. */
@Execution(ExecutionMode.CONCURRENT) // they wait for nearly all of their time
class LeaseTest {
  private static final String LIMIT = "CONCURRENCY 1 LEASE 20s";
  private static final long BEYOND_MS = 21_000;
  private static final long BEYOND_A_RENEWAL_MS = 7_500;

  private WeirServer server;
  private Weir weir;

  @BeforeEach
  void start() throws Exception {
    server = WeirServer.started();
    weir = Weir.builder(server.url()).deadline(Stopwatch.PATIENCE).build();
  }

  @AfterEach
  void end() throws Exception {
    weir.close();
    server.close();
  }

  @Test
  void outlivesItsLength() throws Exception {
    WeirLimiter limiter = weir.limiter(LIMIT).build();
    try (Lease lease = limiter.lease("k")) {
      Thread.sleep(BEYOND_MS);
      assertFalse(limiter.take("k").allowed());
      assertFalse(lease.isLost());
    }
    assertTrue(limiter.peek("k").allowed());
  }

  @Test
  void isToldThatItIsLost() throws Exception {
    try (Lease lease = weir.limiter(LIMIT).build().lease("k")) {
      server.call("RL.RESET", "k");
      lease.lost().join();
    }
  }

  @Test
  void outlivesARestart() throws Exception {
    WeirLimiter limiter = weir.limiter(LIMIT).processes(1).build();
    try (Lease lease = limiter.lease("k")) {
      server.kill();
      Thread.sleep(BEYOND_A_RENEWAL_MS);
      assertFalse(lease.isLost());
      server.start();
      Thread.sleep(BEYOND_MS - BEYOND_A_RENEWAL_MS);
      assertFalse(lease.isLost());
      assertEquals(0, server.remaining("k", LIMIT));
    }
    waitUntil("it is given back", () -> server.remaining("k", LIMIT) == 1);
  }
}
