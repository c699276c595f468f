import java.util.ArrayList;
import java.util.List;
import org.redisson.api.BatchOptions;
import org.redisson.api.RFuture;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

// Redisson with cluster servers, as an application uses it.
public final class ClusterRedisson implements ClusterChecks.Client {
  private static final String THROTTLE = "return redis.call('CL.THROTTLE', KEYS[1], 4, 1, 3600)[1]";
  private final RedissonClient client = RedissonConnection.connect();

  public static void main(String[] arguments) throws Exception {
    new ClusterChecks(new ClusterRedisson()).run();
  }

  @Override
  public String version() {
    return Report.version(RedissonClient.class);
  }

  @Override
  public ClusterChecks.Client again() {
    return new ClusterRedisson();
  }

  @Override
  public String set(String key, String value) {
    client.getBucket(key, StringCodec.INSTANCE).set(value);
    return "OK";
  }

  @Override
  public String get(String key) {
    return (String) client.getBucket(key, StringCodec.INSTANCE).get();
  }

  @Override
  public long incr(String key) {
    return client.getAtomicLong(key).incrementAndGet();
  }

  private RScript scripts() {
    return client.getScript(StringCodec.INSTANCE);
  }

  @Override
  public boolean throttle(String key) {
    Long limited = scripts().eval(key, RScript.Mode.READ_WRITE, THROTTLE,
        RScript.ReturnType.LONG, List.of(key));
    return limited == 0;
  }

  @Override
  public void crossSlot() {
    scripts().eval("a", RScript.Mode.READ_WRITE, "return 1", RScript.ReturnType.LONG,
        List.of("a", "b"));
  }

  @Override
  public List<String> pipeline(List<String> keys) {
    var batch = client.createBatch();
    List<RFuture<Object>> futures = new ArrayList<>();
    for (String key : keys) {
      batch.getBucket(key, StringCodec.INSTANCE).setAsync(key);
      futures.add(batch.getBucket(key, StringCodec.INSTANCE).getAsync());
    }
    batch.execute();
    return futures.stream().map(future -> (String) future.toCompletableFuture().join()).toList();
  }

  @Override
  public long script(String text, String key, String argument) {
    String sha = scripts().scriptLoad(text);
    return this.<Long>call(sha, key, argument);
  }

  private <T> T call(String sha, String key, String argument) {
    return scripts().evalSha(key, RScript.Mode.READ_WRITE, sha, RScript.ReturnType.LONG,
        List.of(key), argument);
  }

  @Override
  public List<Long> multi(List<String> keys) {
    var batch = client.createBatch(BatchOptions.defaults()
        .executionMode(BatchOptions.ExecutionMode.IN_MEMORY_ATOMIC));
    keys.forEach(key -> batch.getAtomicLong(key).incrementAndGetAsync());
    return batch.execute().getResponses().stream().map(Long.class::cast).toList();
  }

  @Override
  public void close() {
    client.shutdown();
  }
}
