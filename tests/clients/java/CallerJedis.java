import java.nio.charset.StandardCharsets;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.commands.ProtocolCommand;

// Jedis as it is when nothing is set.
public final class CallerJedis implements Caller {
  private final RedisClient shared;

  private CallerJedis() {
    String user = System.getenv("CLIENTS_USER");
    if (user != null) {
      String login = user + ":" + System.getenv("CLIENTS_PASSWORD");
      shared = RedisClient.create(ADDRESS.replace("//", "//" + login + "@"));
    } else if (Caller.readMs() == 0) {
      shared = RedisClient.create(ADDRESS);
    } else {
      shared = RedisClient.builder().fromURI(ADDRESS).clientConfig(
          DefaultJedisClientConfig.builder().socketTimeoutMillis(Caller.readMs()).build()).build();
    }
  }

  private static ProtocolCommand command(String word) {
    return () -> word.getBytes(StandardCharsets.US_ASCII);
  }

  @Override
  public Object call(String command, String[] words) {
    return shared.sendCommand(command(command), words);
  }

  // A blocking command has a read time-out of its own: none, until blockingSocketTimeoutMillis.
  @Override
  public Object wait(String command, String[] words) {
    return shared.sendBlockingCommand(command(command), words);
  }

  public static void main(String[] arguments) throws Exception {
    new CallerJedis().obey(RedisClient.class);
  }
}
