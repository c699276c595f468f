import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.Response;
import redis.clients.jedis.Transaction;
import redis.clients.jedis.exceptions.JedisNoScriptException;
import redis.clients.jedis.util.JedisClusterCRC16;

// Jedis' client of clusters, as an application uses it.
public final class ClusterJedis implements ClusterChecks.Client {
  private final RedisClusterClient client = connect();
  private String sha = "0".repeat(40);

  static RedisClusterClient connect() {
    return RedisClusterClient.builder().nodes(Set.of(new HostAndPort("127.0.0.1", Report.PORT)))
        .clientConfig(DefaultJedisClientConfig.builder()
            .protocol(RedisProtocol.valueOf("RESP" + Report.PROTOCOL)).build())
        .build();
  }

  public static void main(String[] arguments) throws Exception {
    new ClusterChecks(new ClusterJedis()).run();
  }

  @Override
  public String version() {
    return Report.version(RedisClusterClient.class);
  }

  @Override
  public ClusterChecks.Client again() {
    return new ClusterJedis();
  }

  @Override
  public String set(String key, String value) {
    return client.set(key, value);
  }

  @Override
  public String get(String key) {
    return client.get(key);
  }

  @Override
  public long incr(String key) {
    return client.incr(key);
  }

  @Override
  public boolean throttle(String key) {
    var reply = (List<?>) client.sendCommand(key,
        () -> "CL.THROTTLE".getBytes(StandardCharsets.US_ASCII), key, "4", "1", "3600");
    return reply.get(0).equals(0L);
  }

  @Override
  public void crossSlot() {
    client.sinter("a", "b");
  }

  @Override
  public List<String> pipeline(List<String> keys) {
    List<Response<String>> replies = new ArrayList<>();
    try (var pipeline = client.pipelined()) {
      for (String key : keys) {
        pipeline.set(key, key);
        replies.add(pipeline.get(key));
      }
    }
    return replies.stream().map(Response::get).toList();
  }

  @Override
  public long script(String text, String key, String argument) {
    try {
      return (Long) client.evalsha(sha, 1, key, argument);
    } catch (JedisNoScriptException error) {
      sha = client.scriptLoad(text, key);
      return (Long) client.evalsha(sha, 1, key, argument);
    }
  }

  @Override
  public List<Long> multi(List<String> keys) {
    int slot = JedisClusterCRC16.getSlot(keys.get(0));
    List<Response<Long>> replies = new ArrayList<>();
    try (var connection = client.getConnectionFromSlot(slot);
        var transaction = new Transaction(connection)) {
      keys.forEach(key -> replies.add(transaction.incr(key)));
      transaction.exec();
    }
    return replies.stream().map(Response::get).toList();
  }

  @Override
  public void close() {
    client.close();
  }
}
