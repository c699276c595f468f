import io.github.bucket4j.redis.redisson.Bucket4jRedisson;
import org.redisson.Redisson;

// Bucket4j through its module for Redisson.
public final class Bucket4jOnRedisson {
  private Bucket4jOnRedisson() {}

  public static void main(String[] arguments) {
    var executor = ((Redisson) RedissonConnection.connect()).getCommandExecutor();
    var buckets = Bucket4jChecks.expiring(Bucket4jRedisson.casBasedBuilder(executor)).build();
    new Bucket4jChecks(buckets, true).run();
  }
}
