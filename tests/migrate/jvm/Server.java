import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.NestedMultiOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.ProtocolKeyword;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;

// One of the two servers, through Lettuce: a command as one line, as docs/migrate.md writes it.
final class Server {
  // Six integers: allowed, limit, remaining, retry_after_ms, reset_after_ms, index.
  record Verdict(boolean allowed, long limit, long remaining, long retryMs, long resetMs) {}

  private record Keyword(String word) implements ProtocolKeyword {
    @Override
    public byte[] getBytes() {
      return word.getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    public String toString() {
      return word;
    }
  }

  static final Server WEIR = new Server("weir", System.getenv("CLIENTS_PORT"));
  // A connection that may wait without holding up the first.
  static final Server OTHER_WEIR = new Server("weir", System.getenv("CLIENTS_PORT"));
  static final Server REDIS = new Server("Redis", System.getenv("MIGRATE_REDIS_PORT"));
  private static int keys = 0;

  final String name;
  final int port;
  final RedisClient client;
  final StatefulRedisConnection<String, String> connection;

  private Server(String name, String port) {
    this.name = name;
    this.port = Integer.parseInt(port);
    client = RedisClient.create(RedisURI.create("127.0.0.1", this.port));
    connection = client.connect();
    connection.setTimeout(Duration.ofSeconds(30));
  }

  static String newKey(String name) {
    return name + ":" + ++keys;
  }

  List<Object> call(String format, Object... values) {
    String[] words = String.format(format, values).split(" ");
    var codec = StringCodec.UTF8;
    var arguments = new CommandArgs<>(codec).addValues(
        Arrays.asList(words).subList(1, words.length));
    return connection.sync().dispatch(new Keyword(words[0]), new NestedMultiOutput<>(codec),
        arguments);
  }

  // Null, as the id of what was not booked, is -1.
  long[] numbers(String format, Object... values) {
    return call(format, values).stream().mapToLong(value -> value == null ? -1 : (Long) value)
        .toArray();
  }

  Verdict verdict(String format, Object... values) {
    long[] six = numbers(format, values);
    return new Verdict(six[0] == 1, six[1], six[2], six[3], six[4]);
  }
}
