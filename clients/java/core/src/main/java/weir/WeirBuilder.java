package weir;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.Delay;
import java.net.InetAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/** How weir is reached. Either an address or a client of Lettuce is given. */
public final class WeirBuilder {
  private static final Duration CONNECT = Duration.ofSeconds(1); // or a deadline that is longer
  private static final Duration CONNECT_OF_GIVEN = Duration.ofSeconds(5); // which may try for minutes
  private static final Duration RECONNECT = Duration.ofMillis(200);
  private static final int THREADS = 2;

  private String uri;
  private boolean cluster;
  private RedisClient client;
  private RedisURI clientUri;
  private RedisClusterClient clusterClient;
  private Duration deadline = Duration.ofMillis(100);
  private int retries = 1;
  private Duration firstConnection = Duration.ofSeconds(2);
  private Duration batch = Duration.ZERO;
  private Names.Lookup lookup = InetAddress::getAllByName;

  WeirBuilder() {}

  private record Reach(Supplier<CompletableFuture<StatefulConnection<String, String>>> connect, Runnable close) {}

  /**
   * An address.
   *
   * @param address as Lettuce takes it
   * @return this
   */
  public WeirBuilder uri(String address) {
    uri = address;
    return this;
  }

  /**
   * The address is that of a member of a cluster, whose slots are followed.
   *
   * @return this
   */
  public WeirBuilder cluster() {
    cluster = true;
    return this;
  }

  /**
   * A client of Lettuce as it is, with its options. It is not closed with this.
   *
   * @param redisClient the client
   * @param address where to, its sentinels among others
   * @return this
   */
  public WeirBuilder client(RedisClient redisClient, RedisURI address) {
    client = redisClient;
    clientUri = address;
    return this;
  }

  /**
   * A cluster client of Lettuce as it is, with its options. It is not closed with this.
   *
   * @param redisClient the client
   * @return this
   */
  public WeirBuilder client(RedisClusterClient redisClient) {
    clusterClient = redisClient;
    return this;
  }

  /**
   * After so much a call that does not wait has its verdict, whatever happens.
   *
   * @param time 100 ms where it is left out
   * @return this
   */
  public WeirBuilder deadline(Duration time) {
    deadline = time;
    return this;
  }

  /**
   * How often a call is sent again within the deadline, under the same ID.
   *
   * @param count 1 where it is left out
   * @return this
   */
  public WeirBuilder retries(int count) {
    retries = count;
    return this;
  }

  /**
   * How long build() waits for the first connection. Where there is none by then the first calls are decided locally.
   *
   * @param time 2 s where it is left out
   * @return this
   */
  public WeirBuilder firstConnection(Duration time) {
    firstConnection = time;
    return this;
  }

  /**
   * Calls of so much time leave in one write: less work for many callers, and each waits so much longer.
   *
   * @param time zero, where it is left out: each call leaves at once
   * @return this
   */
  public WeirBuilder batch(Duration time) {
    batch = time;
    return this;
  }

  WeirBuilder lookup(Names.Lookup names) {
    lookup = names;
    return this;
  }

  /**
   * Connects, and waits for that a little; whether weir was reached is known to the first call.
   *
   * @return what limiters are made of
   * @throws IllegalArgumentException without an address or a client, or with both
   */
  public Weir build() {
    Options options = Options.of(deadline, retries);
    Reach reach = reach();
    Timer timer = new Timer();
    Connections connections =
        new Connections(reach.connect, timer, longer(CONNECT_OF_GIVEN).toNanos(), uri != null);
    Batch together = batch.isZero() ? null : new Batch(timer, batch.toNanos());
    Weir weir = new Weir(new LettuceTransport(connections, timer, together), timer, options, reach.close);
    return weir.connected(connections.shared(), firstConnection);
  }

  private Duration longer(Duration time) {
    return deadline.compareTo(time) > 0 ? deadline : time;
  }

  private Reach reach() {
    int given = (uri == null ? 0 : 1) + (client == null ? 0 : 1) + (clusterClient == null ? 0 : 1);
    if (given != 1) {
      throw new IllegalArgumentException("give either an address or a client");
    }
    if (client != null) {
      return new Reach(() -> one(client, clientUri), () -> {});
    }
    if (clusterClient != null) {
      return new Reach(slots(clusterClient), () -> {});
    }
    RedisURI address = RedisURI.create(uri);
    address.setTimeout(longer(CONNECT));
    ClientResources resources = ClientResources.builder().ioThreadPoolSize(THREADS)
        .computationThreadPoolSize(THREADS).reconnectDelay(Delay.constant(RECONNECT))
        .addressResolverGroup(new Names(lookup)).build();
    return cluster ? ownSlots(resources, address) : ownOne(resources, address);
  }

  private Reach ownOne(ClientResources resources, RedisURI address) {
    RedisClient own = RedisClient.create(resources, address);
    own.setOptions(ClientOptions.builder().autoReconnect(false)
        .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS).socketOptions(sockets()).build());
    return new Reach(() -> one(own, address), () -> shutdown(own, resources));
  }

  private Reach ownSlots(ClientResources resources, RedisURI address) {
    address.setClientName(ProcessName.get());
    RedisClusterClient own = RedisClusterClient.create(resources, address);
    own.setOptions(ClusterClientOptions.builder().socketOptions(sockets())
        .topologyRefreshOptions(ClusterTopologyRefreshOptions.builder()
            .enableAdaptiveRefreshTrigger(ClusterTopologyRefreshOptions.RefreshTrigger.values())
            .adaptiveRefreshTriggersTimeout(CONNECT).build()).build());
    return new Reach(slots(own), () -> shutdown(own, resources));
  }

  private SocketOptions sockets() {
    return SocketOptions.builder().connectTimeout(longer(CONNECT)).keepAlive(true).build();
  }

  private static void shutdown(AbstractRedisClient own, ClientResources resources) {
    own.shutdown(Duration.ZERO, Duration.ZERO);
    resources.shutdown(0, CONNECT.toMillis(), TimeUnit.MILLISECONDS).awaitUninterruptibly(CONNECT.toMillis());
  }

  private static CompletableFuture<StatefulConnection<String, String>> one(RedisClient client, RedisURI address) {
    return FirstAsked.retried(() -> client.connectAsync(StringCodec.UTF8, address).toCompletableFuture())
        .thenApply(ProcessName::tell);
  }

  /** Who has which slots is asked before the first connection, and anew beside each later one. */
  private static Supplier<CompletableFuture<StatefulConnection<String, String>>> slots(RedisClusterClient client) {
    AtomicBoolean knows = new AtomicBoolean();
    return () -> {
      CompletionStage<Void> asked = client.refreshPartitionsAsync().thenRun(() -> knows.set(true));
      CompletionStage<Void> before = knows.get() ? CompletableFuture.completedFuture(null) : asked;
      return before.thenCompose(nothing -> client.connectAsync(StringCodec.UTF8))
          .<StatefulConnection<String, String>>thenApply(connection -> connection).toCompletableFuture();
    };
  }
}
