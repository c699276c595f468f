import io.lettuce.core.ClientOptions;
import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanIterator;
import io.lettuce.core.SetArgs;
import io.lettuce.core.SslOptions;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.CommandOutput;
import io.lettuce.core.output.IntegerListOutput;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.ProtocolKeyword;
import io.lettuce.core.protocol.ProtocolVersion;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

// Lettuce, as an application uses it: one connection for all threads.
public final class BareLettuce implements Bare {
  private static final StringCodec CODEC = new StringCodec(StandardCharsets.ISO_8859_1);

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

  private final RedisClient client;
  private final StatefulRedisConnection<String, String> connection;
  private final RedisCommands<String, String> sync;

  private BareLettuce(String password, String clientName) {
    String tlsPort = System.getenv("CLIENTS_TLS_PORT");
    var address = RedisURI.builder().withHost("127.0.0.1")
        .withPort(tlsPort == null ? Report.PORT : Integer.parseInt(tlsPort))
        .withSsl(tlsPort != null);
    if (password != null) {
      address.withPassword(password.toCharArray());
    }
    if (clientName != null) {
      address.withClientName(clientName);
    }
    client = RedisClient.create(address.build());
    var options = ClientOptions.builder()
        .protocolVersion(ProtocolVersion.valueOf("RESP" + Report.PROTOCOL));
    if (tlsPort != null) {
      var authority = new File(System.getenv("CLIENTS_TLS_CA"));
      options.sslOptions(SslOptions.builder().trustManager(authority).build());
    }
    client.setOptions(options.build());
    try {
      connection = connect(3);
    } catch (RedisException error) {
      client.shutdown(Duration.ZERO, Duration.ZERO);
      throw error;
    }
    sync = connection.sync();
  }

  // A refused handshake makes Lettuce close the connection, and now and then it reports its own
  // closing in place of the refusal.
  private StatefulRedisConnection<String, String> connect(int tries) {
    try {
      return client.connect(CODEC);
    } catch (RedisException error) {
      String why = String.valueOf(error.getCause());
      if (tries > 1 && why.contains("Connection closed prematurely")) {
        return connect(tries - 1);
      }
      throw error;
    }
  }

  public static void main(String[] arguments) {
    var client = new BareLettuce(null, null);
    Report.say("version %s", client.version());
    new BareChecks(client).run();
  }

  private <T> T dispatch(CommandOutput<String, String, T> output, String command, String... words) {
    var arguments = new CommandArgs<>(CODEC).addValues(List.of(words));
    return sync.dispatch(new Keyword(command), output, arguments);
  }

  @Override
  public String name() {
    return "Lettuce";
  }

  @Override
  public String version() {
    return Report.version(RedisClient.class);
  }

  @Override
  public Bare again(String password, String clientName) {
    return new BareLettuce(password, clientName);
  }

  @Override
  public Class<? extends Exception> refusal() {
    return RedisCommandExecutionException.class;
  }

  @Override
  public Class<? extends Exception> failure() {
    return RedisException.class;
  }

  @Override
  public List<Long> numbers(String command, String... words) {
    return dispatch(new IntegerListOutput<>(CODEC), command, words);
  }

  @Override
  public void unknown(String command) {
    dispatch(new StatusOutput<>(CODEC), command);
  }

  @Override
  public String ping() {
    return sync.ping();
  }

  @Override
  public String echo(String text) {
    return sync.echo(text);
  }

  @Override
  public String info() {
    return sync.info();
  }

  @Override
  public String clientList() {
    return sync.clientList();
  }

  @Override
  public void password(String password) {
    sync.configSet("requirepass", password);
  }

  @Override
  public String set(String key, String value) {
    return sync.set(key, value);
  }

  @Override
  public String setFor(String key, String value, long ms) {
    return sync.set(key, value, SetArgs.Builder.px(ms));
  }

  @Override
  public String get(String key) {
    return sync.get(key);
  }

  @Override
  public long incr(String key) {
    return sync.incr(key);
  }

  @Override
  public void push(String key, String value) {
    sync.lpush(key, value);
  }

  @Override
  public boolean exists(String key) {
    return sync.exists(key) == 1;
  }

  @Override
  public boolean expire(String key, long seconds) {
    return sync.expire(key, seconds);
  }

  @Override
  public long ttl(String key) {
    return sync.ttl(key);
  }

  @Override
  public long pttl(String key) {
    return sync.pttl(key);
  }

  @Override
  public boolean persist(String key) {
    return sync.persist(key);
  }

  @Override
  public void setAll(List<String> keys, String value) {
    Map<String, String> pairs = new HashMap<>();
    keys.forEach(key -> pairs.put(key, value));
    sync.mset(pairs);
  }

  @Override
  public Set<String> scan(String pattern) {
    Set<String> found = new HashSet<>();
    ScanIterator.scan(sync, ScanArgs.Builder.limit(50).match(pattern)).forEachRemaining(found::add);
    return found;
  }

  @Override
  public List<Object> pipeline(List<String> keys) {
    List<RedisFuture<String>> futures = new ArrayList<>();
    connection.setAutoFlushCommands(false);
    for (String key : keys) {
      futures.add(connection.async().set(key, key));
      futures.add(connection.async().get(key));
    }
    connection.flushCommands();
    connection.setAutoFlushCommands(true);
    LettuceFutures.awaitAll(Duration.ofSeconds(10), futures.toArray(RedisFuture[]::new));
    List<Object> replies = new ArrayList<>();
    futures.forEach(future -> replies.add(future.toCompletableFuture().join()));
    return replies;
  }

  @Override
  public void close() {
    client.shutdown(Duration.ZERO, Duration.ZERO);
  }
}
