import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.IntegerListOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.ProtocolKeyword;
import io.lettuce.core.protocol.ProtocolVersion;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

// Lettuce's RedisClusterClient, as an application uses it.
public final class ClusterLettuce implements ClusterChecks.Client {
  private enum Limiter implements ProtocolKeyword {
    THROTTLE;

    @Override
    public byte[] getBytes() {
      return "CL.THROTTLE".getBytes(StandardCharsets.US_ASCII);
    }
  }

  private final RedisClusterClient client;
  private final StatefulRedisClusterConnection<String, String> connection;

  private ClusterLettuce() {
    client = connect();
    connection = client.connect();
  }

  static RedisClusterClient connect() {
    var client = RedisClusterClient.create(RedisURI.builder().withHost("127.0.0.1")
        .withPort(Report.PORT).withTimeout(Duration.ofSeconds(5)).build());
    client.setOptions(ClusterClientOptions.builder()
        .protocolVersion(ProtocolVersion.valueOf("RESP" + Report.PROTOCOL))
        .topologyRefreshOptions(ClusterTopologyRefreshOptions.builder()
            .enableAllAdaptiveRefreshTriggers().build()).build());
    return client;
  }

  public static void main(String[] arguments) throws Exception {
    new ClusterChecks(new ClusterLettuce()).run();
  }

  @Override
  public String version() {
    return Report.version(RedisClusterClient.class);
  }

  @Override
  public ClusterChecks.Client again() {
    return new ClusterLettuce();
  }

  @Override
  public String set(String key, String value) {
    return connection.sync().set(key, value);
  }

  @Override
  public String get(String key) {
    return connection.sync().get(key);
  }

  @Override
  public long incr(String key) {
    return connection.sync().incr(key);
  }

  @Override
  public boolean throttle(String key) {
    var words = new CommandArgs<>(StringCodec.UTF8).addKey(key).add(4).add(1).add(3600);
    return connection.sync().dispatch(Limiter.THROTTLE, new IntegerListOutput<>(StringCodec.UTF8),
        words).get(0) == 0;
  }

  @Override
  public void crossSlot() {
    connection.sync().sinter("a", "b");
  }

  @Override
  public List<String> pipeline(List<String> keys) {
    // It has a connection for what reads and one for what writes: neither waits for the other.
    sent(keys.stream(), key -> connection.async().set(key, key));
    return sent(keys.stream(), connection.async()::get);
  }

  private List<String> sent(Stream<String> keys, Function<String, RedisFuture<String>> command) {
    var futures = keys.map(command).toArray(RedisFuture[]::new);
    LettuceFutures.awaitAll(Duration.ofSeconds(20), futures);
    return Stream.of(futures).map(future -> (String) future.toCompletableFuture().join()).toList();
  }

  @Override
  public long script(String text, String key, String argument) {
    var sync = connection.sync();
    String[] keys = {key};
    try {
      return sync.evalsha(sync.digest(text), ScriptOutputType.INTEGER, keys, argument);
    } catch (RedisNoScriptException error) {
      return sync.eval(text, ScriptOutputType.INTEGER, keys, argument);
    }
  }

  // A transaction needs a connection to the owner alone.
  @Override
  public List<Long> multi(List<String> keys) {
    int slot = SlotHash.getSlot(keys.get(0));
    var owner = client.getPartitions().getPartitionBySlot(slot).getUri();
    var commands = connection.getConnection(owner.getHost(), owner.getPort()).sync();
    commands.multi();
    keys.forEach(commands::incr);
    return commands.exec().stream().map(Long.class::cast).toList();
  }

  @Override
  public void close() {
    client.shutdown(Duration.ZERO, Duration.ZERO);
  }
}
