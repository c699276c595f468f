package weir;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static weir.WeirServer.waitUntil;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Three members of a shard, found as sentinels: a takeover and a switchover raise nothing. */
class ShardTest {
  private static final String NAME = "main";
  private static final long ALL = 100_000;
  private static final String LIMIT = "FIXED " + ALL + "/1h";
  private final List<WeirServer> members = new ArrayList<>();

  @BeforeEach
  void start() throws Exception {
    for (int index = 0; index < 3; index++) {
      members.add(new WeirServer());
    }
    String log = "file:" + members.get(0).directory.resolve("shared-log");
    int made = new ProcessBuilder(WeirServer.PROGRAM, "--new-shard", log, NAME, "--dir",
        members.get(0).directory.resolve("data").toString()).redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.DISCARD).start().waitFor();
    assertEquals(0, made);
    for (WeirServer member : members) {
      member.with("--log", log, "--shard", NAME).start();
    }
    waitUntil("one serves", () -> owner() != null);
  }

  @AfterEach
  void end() throws Exception {
    for (WeirServer member : members) {
      member.close();
    }
  }

  private WeirServer owner() {
    for (WeirServer member : members) {
      try {
        if (member.lives() && ((List<?>) member.call("ROLE")).get(0).equals("master")) {
          return member;
        }
      } catch (IOException | IllegalStateException error) {
        continue; // it is not the one
      }
    }
    return null;
  }

  private static long takeUntil(WeirLimiter limiter, Callable<Boolean> condition) throws Exception {
    long[] granted = {0};
    waitUntil("weir is back", () -> {
      granted[0] += limiter.take("k").source() == Source.WEIR ? 1 : 0;
      return condition.call();
    });
    return granted[0];
  }

  private interface Fault {
    void of(WeirServer owner) throws Exception;
  }

  @Test
  void takeoverAndSwitchover() throws Exception {
    StringBuilder sentinels = new StringBuilder();
    members.forEach(member ->
        sentinels.append(sentinels.isEmpty() ? "" : ",").append("127.0.0.1:").append(member.port));
    List<Change> told = new CopyOnWriteArrayList<>();
    try (Weir weir = Weir.builder("redis-sentinel://" + sentinels + "/0#" + NAME).deadline(Duration.ofMillis(300))
        .build()) {
      WeirLimiter limiter = weir.limiter(LIMIT).processes(1).listener(told::add).build();
      waitUntil("weir answers", () -> limiter.take("warm").source() == Source.WEIR);
      long granted = 0;
      List<Fault> faults = List.of(WeirServer::kill, owner -> owner.call("SENTINEL", "FAILOVER", NAME));
      for (Fault fault : faults) {
        WeirServer before = owner();
        fault.of(before);
        granted += takeUntil(limiter, () -> owner() != null && owner() != before);
        long asked = limiter.state().asked();
        granted += takeUntil(limiter, () -> limiter.state().asked() > asked + 20);
      }
      waitUntil("weir answers", () -> limiter.peek("k", 0).source() == Source.WEIR);
      long left = owner().remaining("k", LIMIT);
      assertTrue(left <= ALL - granted, "all that weir granted is charged");
      assertTrue(told.stream().anyMatch(Change::away));
    }
  }
}
