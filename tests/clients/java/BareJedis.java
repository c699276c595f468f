import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.commands.ProtocolCommand;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.params.SetParams;

// Jedis, as an application uses it: a pool of connections.
public final class BareJedis implements Bare {
  private final RedisClient client;

  private BareJedis(String password, String clientName) {
    client = connect(password, clientName);
  }

  static RedisClient connect(String password, String clientName) {
    var pool = new ConnectionPoolConfig();
    pool.setMaxTotal(Report.CALLERS);
    return RedisClient.builder().hostAndPort("127.0.0.1", Report.PORT).poolConfig(pool)
        .clientConfig(DefaultJedisClientConfig.builder().password(password).clientName(clientName)
            .protocol(RedisProtocol.valueOf("RESP" + Report.PROTOCOL)).build())
        .build();
  }

  public static void main(String[] arguments) {
    var client = new BareJedis(null, null);
    Report.say("version %s", client.version());
    new BareChecks(client).run();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }

  private static ProtocolCommand command(String word) {
    return () -> bytes(word);
  }

  private String text(ProtocolCommand command, String... words) {
    return new String((byte[]) client.sendCommand(command, words), StandardCharsets.ISO_8859_1);
  }

  @Override
  public String name() {
    return "jedis";
  }

  @Override
  public String version() {
    return Report.version(RedisClient.class);
  }

  @Override
  public Bare again(String password, String clientName) {
    return new BareJedis(password, clientName);
  }

  @Override
  public Class<? extends Exception> refusal() {
    return JedisDataException.class;
  }

  @Override
  public Class<? extends Exception> failure() {
    return JedisException.class;
  }

  @Override
  public List<Long> numbers(String word, String... words) {
    var reply = (List<?>) client.sendCommand(command(word), words);
    return reply.stream().map(Long.class::cast).toList();
  }

  @Override
  public void unknown(String word) {
    client.sendCommand(command(word));
  }

  @Override
  public String ping() {
    return client.ping();
  }

  @Override
  public String echo(String text) {
    return client.echo(text);
  }

  @Override
  public String info() {
    return client.info();
  }

  @Override
  public String clientList() {
    return text(Protocol.Command.CLIENT, "LIST");
  }

  @Override
  public void password(String password) {
    client.configSet("requirepass", password);
  }

  @Override
  public String set(String key, String value) {
    return client.set(bytes(key), bytes(value));
  }

  @Override
  public String setFor(String key, String value, long ms) {
    return client.set(key, value, SetParams.setParams().px(ms));
  }

  @Override
  public String get(String key) {
    byte[] value = client.get(bytes(key));
    return value == null ? null : new String(value, StandardCharsets.ISO_8859_1);
  }

  @Override
  public long incr(String key) {
    return client.incr(key);
  }

  @Override
  public void push(String key, String value) {
    client.lpush(key, value);
  }

  @Override
  public boolean exists(String key) {
    return client.exists(key);
  }

  @Override
  public boolean expire(String key, long seconds) {
    return client.expire(key, seconds) == 1;
  }

  @Override
  public long ttl(String key) {
    return client.ttl(key);
  }

  @Override
  public long pttl(String key) {
    return client.pttl(key);
  }

  @Override
  public boolean persist(String key) {
    return client.persist(key) == 1;
  }

  @Override
  public void setAll(List<String> keys, String value) {
    client.mset(keys.stream().flatMap(key -> Stream.of(key, value)).toArray(String[]::new));
  }

  @Override
  public Set<String> scan(String pattern) {
    return (Set<String>) client.scanIteration(50, pattern).collect(new HashSet<>());
  }

  @Override
  public List<Object> pipeline(List<String> keys) {
    try (Pipeline pipeline = client.pipelined()) {
      for (String key : keys) {
        pipeline.set(key, key);
        pipeline.get(key);
      }
      return pipeline.syncAndReturnAll();
    }
  }

  @Override
  public void close() {
    client.close();
  }
}
