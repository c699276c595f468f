package weir;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static weir.WeirServer.waitUntil;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DnsResolver;
import io.lettuce.core.resource.SocketAddressResolver;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.UnknownHostException;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import weir.core.Away;
import weir.core.Failure;

/** No call exceeds its deadline, whatever it is that takes long. */
class DeadlineTest {
  private static final Duration SHORT = Duration.ofMillis(100);
  private static final Duration MUCH = Duration.ofSeconds(3); // twice of it is beyond all slack
  private static final Duration LONG = Duration.ofSeconds(10); // a test that fails takes that
  private static final String LIMIT = "FIXED 1000/1h";
  private static final String NAMED = "redis://weir.invalid:7000";

  private final Stopwatch watch = new Stopwatch();
  private final CountDownLatch over = new CountDownLatch(1);

  @AfterEach
  void end() {
    over.countDown();
  }

  private void hang() {
    try {
      over.await();
    } catch (InterruptedException error) {
      Thread.currentThread().interrupt();
    }
  }

  /** Some takes, each in time, while nobody answers. */
  private void takes(WeirBuilder builder) throws Exception {
    try (Weir weir = builder.deadline(SHORT).firstConnection(SHORT).build()) {
      WeirLimiter limiter = weir.limiter(LIMIT).away(Away.OPEN).build();
      Set<Source> sources = EnumSet.noneOf(Source.class);
      for (int turn = 0; turn < 5; turn++) {
        sources.add(watch.time(() -> limiter.take("k")).source());
      }
      over.countDown();
      assertEquals(Set.of(Source.OPEN), sources);
      watch.assertWithin(SHORT);
    }
  }

  @Test
  void aNameThatIsLookedUpForEver() throws Exception {
    AtomicInteger asked = new AtomicInteger();
    takes(Weir.builder(NAMED).lookup(host -> {
      asked.incrementAndGet();
      hang();
      throw new UnknownHostException(host);
    }));
    assertEquals(1, asked.get(), "one look-up at a time, however many wait for it");
  }

  @Test
  void aNameThatHangsHoldsUpNoConnection() throws Exception {
    AtomicBoolean hangs = new AtomicBoolean();
    AtomicInteger hanging = new AtomicInteger();
    try (WeirServer server = WeirServer.started();
        Weir weir = Weir.builder("redis://weir.invalid:" + server.port).deadline(LONG).lookup(host -> {
          if (hangs.get()) {
            hanging.incrementAndGet();
            hang();
          }
          return new InetAddress[] {InetAddress.getLoopbackAddress()};
        }).build()) {
      WeirLimiter limiter = weir.limiter(LIMIT).build();
      waitUntil("weir answers", () -> limiter.take("k").source() == Source.WEIR);
      hangs.set(true);
      for (int turn = 0; turn < 8; turn++) { // more than there are threads
        limiter.acquireAsync(Take.from("k"), Stopwatch.PATIENCE);
      }
      waitUntil("its name is looked up", () -> hanging.get() > 0);
      Source source = weir.limiter(LIMIT).build().take("k").source();
      over.countDown();
      assertEquals(Source.WEIR, source);
    }
  }

  @Test
  void names() throws Exception {
    try (WeirServer server = WeirServer.started();
        Weir weir = Weir.builder("redis://localhost:" + server.port).deadline(Stopwatch.PATIENCE).build()) {
      assertEquals(Source.WEIR, weir.limiter(LIMIT).build().take("k").source());
    }
    try (Weir weir = Weir.builder(NAMED).deadline(Stopwatch.PATIENCE).lookup(host -> {
      throw new UnknownHostException(host);
    }).build()) {
      WeirLimiter limiter = weir.limiter(LIMIT).away(Away.OPEN).build();
      assertEquals(Source.OPEN, limiter.take("k").source());
      assertEquals(Failure.GONE, limiter.state().cause().get());
    }
  }

  @Test
  void anAddressThatDoesNotAnswer() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      List<SocketChannel> fill = new ArrayList<>(); // a connection more is neither made nor refused
      for (int number = 0; number < 4; number++) {
        SocketChannel channel = SocketChannel.open();
        channel.configureBlocking(false);
        channel.connect(new InetSocketAddress(silent.getInetAddress(), silent.getLocalPort()));
        fill.add(channel);
      }
      takes(Weir.builder("redis://127.0.0.1:" + silent.getLocalPort()));
      for (SocketChannel channel : fill) {
        channel.close();
      }
    }
  }

  @Test
  void aClientThatLooksNamesUpInItsCaller() throws Exception {
    DnsResolver hanging = host -> {
      hang();
      throw new UnknownHostException(host);
    };
    ClientResources resources =
        ClientResources.builder().socketAddressResolver(SocketAddressResolver.create(hanging)).build();
    RedisClient client = RedisClient.create(resources);
    takes(Weir.builder().client(client, RedisURI.create(NAMED)));
    client.shutdown(Duration.ZERO, Duration.ZERO);
    resources.shutdown();
  }

  @Test
  void aClientWithoutTimeOuts() throws Exception {
    RedisClient client = RedisClient.create();
    try (WeirServer server = WeirServer.started()) {
      server.signal("STOP");
      takes(Weir.builder().client(client, RedisURI.create(server.url())));
    }
    client.shutdown(Duration.ZERO, Duration.ZERO);
  }

  @Test
  void aListenerThatHangs() throws Exception {
    try (WeirServer server = WeirServer.started(); Weir weir = Weir.builder(server.url()).deadline(SHORT).build()) {
      WeirLimiter told = weir.limiter(LIMIT).listener(change -> hang()).build();
      WeirLimiter other = weir.limiter(LIMIT).build();
      server.signal("STOP");
      waitUntil("it is away", () -> watch.time(() -> told.take("k")) != null && told.state().away());
      for (int turn = 0; turn < 5; turn++) {
        watch.time(() -> other.takeAsync(Take.from("k")).get(10, TimeUnit.SECONDS));
      }
      watch.assertWithin(SHORT);
    }
  }

  /** A limiter that owes weir something, which its next call hands back. */
  private static WeirLimiter owing(WeirServer server, Weir weir) throws Exception {
    WeirLimiter limiter = weir.limiter("GCRA 1000/1d").build();
    waitUntil("weir answers", () -> limiter.take("k").source() == Source.WEIR);
    server.kill();
    waitUntil("it is decided here", () -> {
      Verdict verdict = limiter.take("k");
      return verdict.source() == Source.LOCAL && verdict.allowed();
    });
    server.start();
    waitUntil("weir is back", () -> limiter.peek("other") != null && !limiter.state().away());
    return limiter;
  }

  @Test
  void aCallAndWhatIsHandedBackBeforeIt() throws Exception {
    try (WeirServer server = WeirServer.started(); Weir weir = Weir.builder(server.url()).deadline(MUCH).build()) {
      List<WeirLimiter> limiters = List.of(owing(server, weir), owing(server, weir), owing(server, weir));
      server.signal("STOP");
      Take take = Take.from("k");
      List<Callable<?>> calls = List.of(() -> limiters.get(0).reserve(take),
          () -> limiters.get(1).acquire("k", Duration.ofMillis(1)),
          () -> weir.takeAll(limiters.get(2).part("k", 1), limiters.get(2).part("l", 1)));
      for (Callable<?> call : calls) {
        watch.time(call);
      }
      watch.assertWithin(MUCH);
    }
  }

  @Test
  void manyWhoWaitForOneLot() throws Exception {
    try (WeirServer server = WeirServer.started(); Weir weir = Weir.builder(server.url()).deadline(MUCH).build()) {
      WeirLimiter limiter = weir.limiter(LIMIT).build();
      waitUntil("its share is known", () -> limiter.take("k").source() == Source.WEIR);
      server.signal("STOP");
      Lots lots = limiter.lots(SHORT);
      List<FutureTask<Boolean>> callers = new ArrayList<>();
      for (int caller = 0; caller < 8; caller++) {
        callers.add(new FutureTask<>(() -> watch.time(() -> lots.take("k"))));
      }
      callers.forEach(caller -> new Thread(caller).start());
      for (FutureTask<Boolean> caller : callers) {
        caller.get();
      }
      watch.assertWithin(MUCH);
    }
  }
}
