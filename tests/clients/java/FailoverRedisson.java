import java.util.List;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.client.RedisException;
import org.redisson.config.Config;
import org.redisson.config.Protocol;

// Redisson with sentinel servers, as an application uses it; a lock is held while primaries change.
public final class FailoverRedisson implements FailoverChecks.Client {
  private final RedissonClient client = connect();
  private volatile String sha = "0".repeat(40);

  private static RedissonClient connect() {
    Config config = new Config();
    config.setThreads(4).setNettyThreads(4).setProtocol(Protocol.valueOf("RESP" + Report.PROTOCOL));
    var servers = config.useSentinelServers().setMasterName(FailoverChecks.MASTER)
        .setMasterConnectionPoolSize(8).setMasterConnectionMinimumIdleSize(2)
        .setSlaveConnectionMinimumIdleSize(1).setSubscriptionConnectionMinimumIdleSize(1);
    FailoverChecks.sentinels()
        .forEach(port -> servers.addSentinelAddress("redis://127.0.0.1:" + port));
    return Redisson.create(config);
  }

  public static void main(String[] arguments) {
    var mine = new FailoverRedisson();
    var checks = new FailoverChecks(mine);
    checks.run(() -> rideWithALock(mine.client, checks));
  }

  private static void rideWithALock(RedissonClient client, FailoverChecks checks) throws Exception {
    RedissonClient other = connect();
    RLock lock = client.getLock("lock");
    lock.lock();
    Report.expect(other.getLock("lock").tryLock(), false, "another one's tryLock before");
    checks.ride();
    Report.check("lock-kept", () -> {
      Report.needDurable();
      Report.expect(Report.eventually(() -> other.getLock("lock").tryLock()), false,
          "another one's tryLock after");
      Report.expect(Report.eventually(lock::isHeldByCurrentThread), true, "it is held");
      lock.unlock();
      Report.expect(other.getLock("lock").tryLock(5, TimeUnit.SECONDS), true,
          "another one's tryLock in the end");
    });
    other.shutdown();
  }

  private RScript scripts() {
    return client.getScript(StringCodec.INSTANCE);
  }

  @Override
  public String version() {
    return Report.version(RedissonClient.class);
  }

  @Override
  public void incr(String key) {
    client.getAtomicLong(key).incrementAndGet();
  }

  @Override
  public void script(String text, String key, String argument) {
    try {
      call(key, argument);
    } catch (RedisException error) {
      if (!error.toString().contains("NOSCRIPT")) {
        throw error;
      }
      sha = scripts().scriptLoad(text);
      call(key, argument);
    }
  }

  private void call(String key, String argument) {
    scripts().evalSha(key, RScript.Mode.READ_WRITE, sha, RScript.ReturnType.LONG, List.of(key),
        argument);
  }

  @Override
  public void pair(String key) {
    var batch = client.createBatch();
    batch.getAtomicLong(key).incrementAndGetAsync();
    batch.getAtomicLong(key).incrementAndGetAsync();
    batch.execute();
  }

  @Override
  public long counter(String key) {
    return client.getAtomicLong(key).get();
  }
}
