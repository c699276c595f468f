import io.github.bucket4j.redis.jedis.Bucket4jJedis;
import java.nio.charset.StandardCharsets;

// Bucket4j through its module for Jedis.
public final class Bucket4jOnJedis {
  private Bucket4jOnJedis() {}

  public static void main(String[] arguments) {
    var client = Report.OWNERS > 0 ? ClusterJedis.connect() : BareJedis.connect(null, null);
    var buckets = Bucket4jChecks.expiring(Bucket4jJedis.casBasedBuilder(client)).build();
    new Bucket4jChecks(
        buckets.withMapper((String key) -> key.getBytes(StandardCharsets.UTF_8)), false).run();
  }
}
