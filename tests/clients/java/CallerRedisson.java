import java.util.List;
import org.redisson.Redisson;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

// Redisson as it is when nothing is set. It has no method for a command it does not know, so a
// script sends it; and a script never waits.
public final class CallerRedisson implements Caller {
  private static final String SEND = "return redis.call(unpack(ARGV))";

  private final RedissonClient client;

  private CallerRedisson() {
    Config config = new Config();
    var server = config.useSingleServer().setAddress(ADDRESS);
    if (Caller.readMs() > 0) {
      server.setTimeout(Caller.readMs());
    }
    client = Redisson.create(config);
  }

  @Override
  public Object call(String command, String[] words) {
    Object[] arguments = new Object[words.length + 1];
    arguments[0] = command;
    System.arraycopy(words, 0, arguments, 1, words.length);
    return client.getScript(StringCodec.INSTANCE).eval(RScript.Mode.READ_WRITE, SEND,
        command.startsWith("RL.") ? RScript.ReturnType.LIST : RScript.ReturnType.VALUE,
        List.of(), arguments);
  }

  @Override
  public Object wait(String command, String[] words) {
    return call(command, words);
  }

  public static void main(String[] arguments) throws Exception {
    new CallerRedisson().obey(Redisson.class);
  }
}
