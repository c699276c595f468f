import java.util.stream.Collectors;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.RedisSentinelClient;
import redis.clients.jedis.exceptions.JedisNoScriptException;

// Jedis' client of sentinels, as an application uses it.
public final class FailoverJedis implements FailoverChecks.Client {
  private final RedisSentinelClient client = RedisSentinelClient.builder()
      .masterName(FailoverChecks.MASTER)
      .sentinels(FailoverChecks.sentinels().mapToObj(port -> new HostAndPort("127.0.0.1", port))
          .collect(Collectors.toSet()))
      .clientConfig(DefaultJedisClientConfig.builder()
          .protocol(RedisProtocol.valueOf("RESP" + Report.PROTOCOL)).build())
      .build();
  private volatile String sha = "0".repeat(40);

  public static void main(String[] arguments) {
    new FailoverChecks(new FailoverJedis()).run();
  }

  @Override
  public String version() {
    return Report.version(RedisSentinelClient.class);
  }

  @Override
  public void incr(String key) {
    client.incr(key);
  }

  @Override
  public void script(String text, String key, String argument) {
    try {
      client.evalsha(sha, 1, key, argument);
    } catch (JedisNoScriptException error) {
      sha = client.scriptLoad(text);
      client.evalsha(sha, 1, key, argument);
    }
  }

  @Override
  public void pair(String key) {
    try (var pipeline = client.pipelined()) {
      var one = pipeline.incr(key);
      var other = pipeline.incr(key);
      pipeline.sync();
      one.get();
      other.get();
    }
  }

  @Override
  public long counter(String key) {
    return Long.parseLong(client.get(key));
  }
}
