import com.sun.net.httpserver.HttpServer;
import io.lettuce.core.protocol.ProtocolVersion;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.LettuceClientOptionsBuilderCustomizer;
import org.springframework.cloud.gateway.filter.ratelimit.RedisRateLimiter;
import org.springframework.cloud.gateway.route.RouteLocator;
import org.springframework.cloud.gateway.route.builder.RouteLocatorBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Primary;
import reactor.core.publisher.Mono;

// Spring Cloud Gateway before a small HTTP server, its RedisRateLimiter on each route. When the
// server of the limiter fails, the gateway lets all through and says that -1 remain.
@SpringBootConfiguration
@EnableAutoConfiguration
public class Gateway {
  private static final int OK = 200;
  private static final int TOO_MANY = 429;
  private static final HttpClient HTTP = HttpClient.newBuilder()
      .version(HttpClient.Version.HTTP_1_1).connectTimeout(Duration.ofSeconds(5)).build();
  private static int port;
  private static int users = 0;
  // What the restart left for the check behind it.
  private static long granted;

  private record Reply(int status, long remaining) {}

  // What a request may meet while there is no server, and no longer.
  private static final class FellOpen extends Exception {}

  // Tokens a second, the most there can be, and how many a request costs.
  @Bean
  @Primary
  RedisRateLimiter five() {
    return new RedisRateLimiter(1, 5, 1);
  }

  @Bean
  RedisRateLimiter quick() {
    return new RedisRateLimiter(4, 4, 1);
  }

  // A hundred requests, and not one more for the next minute.
  @Bean
  RedisRateLimiter hundred() {
    return new RedisRateLimiter(1, 6000, 60);
  }

  // A million; the seconds that pass do not bring back one.
  @Bean
  RedisRateLimiter million() {
    return new RedisRateLimiter(1, 1_000_000_000, 1000);
  }

  @Bean
  LettuceClientOptionsBuilderCustomizer protocol() {
    return options -> options.protocolVersion(ProtocolVersion.valueOf("RESP" + Report.PROTOCOL));
  }

  @Bean
  RouteLocator routes(RouteLocatorBuilder builder, Map<String, RedisRateLimiter> limiters)
      throws IOException {
    String backend = "http://127.0.0.1:" + backend().getAddress().getPort();
    var routes = builder.routes();
    limiters.forEach((name, limiter) -> routes.route(name, route -> route.path("/" + name)
        .filters(filters -> filters.requestRateLimiter(limit -> limit.setRateLimiter(limiter)
            .setKeyResolver(exchange ->
                Mono.just(exchange.getRequest().getHeaders().getFirst("X-User")))))
        .uri(backend)));
    return routes.build();
  }

  private static HttpServer backend() throws IOException {
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    server.createContext("/", exchange -> {
      exchange.sendResponseHeaders(OK, -1);
      exchange.close();
    });
    server.setExecutor(Executors.newCachedThreadPool(task -> {
      Thread thread = new Thread(task);
      thread.setDaemon(true);
      return thread;
    }));
    server.start();
    return server;
  }

  private static synchronized String user() {
    return "user" + ++users;
  }

  private static Reply ask(String route, String user) throws Exception {
    var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/" + route))
        .header("X-User", user).timeout(Duration.ofSeconds(20)).build();
    var response = HTTP.send(request, BodyHandlers.discarding());
    return new Reply(response.statusCode(),
        response.headers().firstValueAsLong("X-RateLimit-Remaining").orElseThrow());
  }

  // As ask, and the limiter was asked: nothing was let through for want of an answer.
  private static Reply limited(String route, String user) throws Exception {
    Reply reply = ask(route, user);
    Report.between(0, reply.remaining, 1e9, "X-RateLimit-Remaining");
    return reply;
  }

  private static List<Reply> limited(String route, String user, int times) throws Exception {
    var replies = new ArrayList<Reply>();
    for (int turn = 0; turn < times; ++turn) {
      replies.add(limited(route, user));
    }
    return replies;
  }

  // The script counts in whole seconds of the server's clock: early in one there is time.
  private static void atBeginOfSecond() throws InterruptedException {
    Thread.sleep(Math.floorMod(50 - System.currentTimeMillis(), 1000L));
  }

  private static void figures() throws Exception {
    String user = user();
    limited("five", user());
    atBeginOfSecond();
    Report.expect(limited("five", user, 7), List.of(new Reply(OK, 4), new Reply(OK, 3),
        new Reply(OK, 2), new Reply(OK, 1), new Reply(OK, 0), new Reply(TOO_MANY, 0),
        new Reply(TOO_MANY, 0)), "seven requests");
    atBeginOfSecond();
    Report.expect(limited("five", user, 2), List.of(new Reply(OK, 0), new Reply(TOO_MANY, 0)),
        "two requests a second later");
  }

  private static void headers() throws Exception {
    var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/hundred"))
        .header("X-User", user()).build();
    var headers = HTTP.send(request, BodyHandlers.discarding()).headers();
    Report.expect(List.of(headers.firstValue("X-RateLimit-Replenish-Rate").orElse(""),
        headers.firstValue("X-RateLimit-Burst-Capacity").orElse(""),
        headers.firstValue("X-RateLimit-Requested-Tokens").orElse(""),
        headers.firstValue("X-RateLimit-Remaining").orElse("")),
        List.of("1", "6000", "60", "5940"), "headers");
  }

  private static void stored() throws Exception {
    String user = user();
    limited("five", user);
    String key = "request_rate_limiter.{five." + user + "}.";
    Report.expect(Plain.types("*" + user + "}*"), key + "timestamp string, " + key
        + "tokens string", "stored");
    Report.expect(Plain.ask("GET", key + "tokens"), "4", "tokens");
    Report.between(System.currentTimeMillis() / 1e3 - 3, Long.parseLong((String) Plain.ask("GET",
        key + "timestamp")), System.currentTimeMillis() / 1e3, "timestamp");
    Report.between(8, Plain.number("PTTL", key + "tokens") / 1e3, 10, "TTL of twice the refill");
  }

  private static void window() throws Exception {
    String user = user();
    Report.expect(limited("quick", user, 4).get(3).status, OK, "four a second");
    Thread.sleep(1050);
    Report.expect(limited("quick", user).remaining, 3L, "full again");
    Thread.sleep(2050);
    Report.expect(Plain.types("*" + user + "}*"), "", "left after two refills");
  }

  private static void concurrent() throws Exception {
    String user = user();
    Report.expect(Report.admittedTogether(() -> limited("hundred", user).status == OK), 100L,
        "admitted of 320");
  }

  // So that limited() is known to see it: a limiter whose key holds something else.
  private static void openOnFailure() throws Exception {
    String user = user();
    Plain.ask("LPUSH", "request_rate_limiter.{five." + user + "}.tokens", "x");
    Report.expect(ask("five", user), new Reply(OK, -1), "with a list for its tokens");
  }

  private static void restart() throws Exception {
    String user = "kept";
    limited("hundred", user, 98);
    granted = Restart.granted(FellOpen.class, () -> {
      Reply reply = ask("million", "traffic");
      if (reply.remaining == -1) {
        throw new FellOpen();
      }
      return reply.status == OK;
    });
  }

  private static void kept() throws Exception {
    Report.needDurable();
    Report.expect(limited("hundred", "kept", 3).stream().map(Reply::status).toList(),
        List.of(OK, OK, TOO_MANY), "two of a hundred were left");
    String tokens = (String) Plain.ask("GET", "request_rate_limiter.{million.traffic}.tokens");
    double stored = Math.ceil((1e9 - Double.parseDouble(tokens)) / 1000);
    Report.between(granted, stored, granted + Restart.CALLERS, "grants stored");
  }

  public static void main(String[] arguments) {
    Report.say("version %s", Report.version(RedisRateLimiter.class));
    var application = new SpringApplication(Gateway.class);
    application.setDefaultProperties(Map.of("server.address", "127.0.0.1", "server.port", "0",
        Report.OWNERS > 0 ? "spring.data.redis.cluster.nodes" : "spring.data.redis.url",
        (Report.OWNERS > 0 ? "127.0.0.1:" : "redis://127.0.0.1:") + Report.PORT,
        "spring.main.banner-mode", "off", "logging.level.root", "warn",
        "logging.exception-conversion-word", "%nopex"));
    var context = application.run();
    port = Integer.parseInt(context.getEnvironment().getProperty("local.server.port"));
    Report.checkTimes("figures", Gateway::figures);
    Report.check("protocol", () -> Plain.expectProtocol(1));
    Report.check("headers", Gateway::headers);
    Report.checkTimes("stored", Gateway::stored);
    Report.checkTimes("window", Gateway::window);
    Report.check("concurrent", Gateway::concurrent);
    Report.check("open-on-failure", Gateway::openOnFailure);
    Report.check("restart", Gateway::restart);
    Report.check("limiter-kept", Gateway::kept);
    Report.check("scripts-kept", () -> Plain.expectScriptsKept(4));
    Report.say("done");
    System.exit(0);
  }
}
