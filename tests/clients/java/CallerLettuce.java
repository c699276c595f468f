import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.NestedMultiOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.ProtocolKeyword;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

// Lettuce as it is when nothing is set.
public final class CallerLettuce implements Caller {
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

  private final StatefulRedisConnection<String, String> shared;
  private final StatefulRedisConnection<String, String> waiting;

  private CallerLettuce() {
    var client = RedisClient.create(ADDRESS);
    shared = client.connect();
    if (Caller.readMs() > 0) {
      shared.setTimeout(Duration.ofMillis(Caller.readMs()));
    }
    waiting = client.connect();
    waiting.setTimeout(Duration.ofMillis(WAIT_MS));
  }

  private static Object send(
      StatefulRedisConnection<String, String> by, String command, String[] words) {
    var arguments = new CommandArgs<>(StringCodec.UTF8);
    for (String word : words) {
      arguments.add(word);
    }
    return by.sync().dispatch(
        new Keyword(command), new NestedMultiOutput<>(StringCodec.UTF8), arguments);
  }

  @Override
  public Object call(String command, String[] words) {
    return send(shared, command, words);
  }

  @Override
  public Object wait(String command, String[] words) {
    return send(waiting, command, words);
  }

  public static void main(String[] arguments) throws Exception {
    new CallerLettuce().obey(RedisClient.class);
  }
}
