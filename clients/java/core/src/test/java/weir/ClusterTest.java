package weir;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static weir.WeirServer.waitUntil;

import io.lettuce.core.cluster.RedisClusterClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Two owners of a keyspace: calls pass through, and takes of keys of several slots. */
class ClusterTest {
  private static final List<String> SLOTS = List.of("0-8191", "8192-16383");
  private final List<WeirServer> owners = new ArrayList<>();
  private Path topology;

  @BeforeEach
  void start() throws Exception {
    topology = Files.createTempFile("weir-topology-", "");
    for (int index = 0; index < SLOTS.size(); index++) {
      owners.add(new WeirServer("--cluster-enabled", "yes", "--cluster-topology", topology.toString()));
    }
    StringBuilder lines = new StringBuilder("epoch 1\n");
    for (int index = 0; index < SLOTS.size(); index++) {
      int port = owners.get(index).port;
      lines.append("n").append(port).append(" 127.0.0.1:").append(port).append(" ").append(SLOTS.get(index))
          .append("\n");
    }
    Files.writeString(topology, lines);
    for (WeirServer owner : owners) {
      owner.start();
    }
    for (WeirServer owner : owners) {
      waitUntil("the cluster serves", () -> owner.call("CLUSTER", "INFO").toString().contains("cluster_state:ok"));
    }
  }

  @AfterEach
  void end() throws Exception {
    for (WeirServer owner : owners) {
      owner.close();
    }
    Files.delete(topology);
  }

  @Test
  void callsAndTakesOfSeveralSlots() throws Exception {
    try (Weir weir = Weir.builder(owners.get(0).url()).cluster().deadline(Stopwatch.PATIENCE).build()) {
      WeirLimiter limiter = weir.limiter("FIXED 2/1h").build();
      List<String> keys = IntStream.range(0, 20).mapToObj(number -> "k" + number).toList(); // of both owners
      assertEquals(Set.of(1L), keys.stream().map(key -> limiter.take(key).remaining()).collect(Collectors.toSet()));
      WeirLimiter few = weir.limiter("FIXED 1/1h").build();
      assertTrue(weir.takeAll(limiter.part("k1", 1), few.part("f1", 1), few.part("f2", 1)).allowed());
      Verdicts denied = weir.takeAll(limiter.part("k2", 1), limiter.part("k3", 1), few.part("f2", 1));
      assertEquals(2, denied.index());
      assertEquals(List.of(0L, 1L, 1L), List.of("k1", "k2", "k3").stream().map(key -> limiter.peek(key, 0).remaining())
          .toList());
      assertTrue(weir.takeAll(limiter.part("{k4}", 1), few.part("{k4}few", 1)).allowed()); // one slot: one request
      assertTrue(limiter.acquire("k5", Duration.ofSeconds(1)).allowed());
    }
  }

  @Test
  void aClientThatIsGiven() {
    RedisClusterClient client = RedisClusterClient.create(owners.get(0).url());
    try (Weir weir = Weir.builder().client(client).deadline(Stopwatch.PATIENCE).build()) {
      WeirLimiter limiter = weir.limiter("FIXED 2/1h").build();
      for (int number = 0; number < 20; number++) {
        assertEquals(1, limiter.take("k" + number).remaining());
      }
    } finally {
      client.shutdown(Duration.ZERO, Duration.ZERO);
    }
  }

  @Test
  void anOwnerDies() throws Exception {
    try (Weir weir = Weir.builder(owners.get(0).url()).cluster().deadline(Duration.ofSeconds(1)).build()) {
      WeirLimiter limiter = weir.limiter("FIXED 100/1h").processes(2).build();
      List<String> keys = IntStream.range(0, 20).mapToObj(number -> "k" + number).toList();
      keys.forEach(limiter::take);
      owners.get(1).kill();
      assertTrue(keys.stream().anyMatch(key -> limiter.take(key).source() == Source.LOCAL));
      owners.get(0).kill();
      assertEquals(Source.LOCAL, weir.limiter("FIXED 100/1h").build().take("k1").source());
      owners.get(0).start();
      owners.get(1).start();
      waitUntil("the cluster is back", () -> keys.stream().allMatch(key -> limiter.take(key).source() == Source.WEIR));
      assertFalse(limiter.state().away());
    }
  }
}
