import io.lettuce.core.ClientOptions;
import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.protocol.ProtocolVersion;
import java.time.Duration;

// Lettuce with sentinels, as an application uses it.
public final class FailoverLettuce implements FailoverChecks.Client {
  private static final Duration PATIENCE = Duration.ofSeconds(3);
  private final StatefulRedisConnection<String, String> connection;

  private FailoverLettuce() {
    var uri = RedisURI.builder().withSentinelMasterId(FailoverChecks.MASTER).withTimeout(PATIENCE);
    FailoverChecks.sentinels().forEach(port -> uri.withSentinel("127.0.0.1", port));
    RedisClient client = RedisClient.create(uri.build());
    client.setOptions(ClientOptions.builder()
        .protocolVersion(ProtocolVersion.valueOf("RESP" + Report.PROTOCOL)).build());
    connection = client.connect();
  }

  public static void main(String[] arguments) {
    new FailoverChecks(new FailoverLettuce()).run();
  }

  @Override
  public String version() {
    return Report.version(RedisClient.class);
  }

  @Override
  public void incr(String key) {
    connection.sync().incr(key);
  }

  @Override
  public void script(String text, String key, String argument) {
    var sync = connection.sync();
    String[] keys = {key};
    try {
      sync.evalsha(sync.digest(text), ScriptOutputType.INTEGER, keys, argument);
    } catch (RedisNoScriptException error) {
      sync.eval(text, ScriptOutputType.INTEGER, keys, argument);
    }
  }

  @Override
  public void pair(String key) throws Exception {
    var one = connection.async().incr(key);
    var other = connection.async().incr(key);
    if (!LettuceFutures.awaitAll(PATIENCE, one, other)) {
      throw new IllegalStateException("no answer in time");
    }
    one.get();
    other.get();
  }

  @Override
  public long counter(String key) {
    return Long.parseLong(connection.sync().get(key));
  }
}
