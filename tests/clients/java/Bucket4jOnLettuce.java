import io.github.bucket4j.distributed.proxy.ProxyManager;
import io.github.bucket4j.redis.lettuce.Bucket4jLettuce;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.protocol.ProtocolVersion;
import java.nio.charset.StandardCharsets;

// Bucket4j through its module for Lettuce.
public final class Bucket4jOnLettuce {
  private Bucket4jOnLettuce() {}

  public static void main(String[] arguments) {
    if (Report.OWNERS > 0) {
      run(Bucket4jChecks.expiring(Bucket4jLettuce.casBasedBuilder(ClusterLettuce.connect()))
          .build());
      return;
    }
    RedisClient client = RedisClient.create(RedisURI.create("127.0.0.1", Report.PORT));
    client.setOptions(ClientOptions.builder()
        .protocolVersion(ProtocolVersion.valueOf("RESP" + Report.PROTOCOL)).build());
    run(Bucket4jChecks.expiring(Bucket4jLettuce.casBasedBuilder(client)).build());
  }

  private static void run(ProxyManager<byte[]> buckets) {
    new Bucket4jChecks(
        buckets.withMapper((String key) -> key.getBytes(StandardCharsets.UTF_8)), false).run();
  }
}
