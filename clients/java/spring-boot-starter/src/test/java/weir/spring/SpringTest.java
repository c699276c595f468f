package weir.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.io.StringReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.FutureTask;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import weir.Readme;
import weir.Stopwatch;
import weir.WeirServer;
import weir.web.Gate;
import weir.web.Key;
import weir.web.Keys;

/** An application as the README has it: right fields and a right 429, and answers in time while weir is away. */
@ResourceLock("reactor-netty") // whose event loops end with any context of a process
class SpringTest {
  private static final Duration IN_TIME = Duration.ofMillis(150);
  private static final String PATIENCE = Stopwatch.PATIENCE.toSeconds() + "s";
  private static final int CALLERS = 8;
  private static final HttpClient HTTP = HttpClient.newHttpClient();

  private WeirServer server;
  private ConfigurableApplicationContext context;

  @RestController
  static class Site {
    @RequestMapping("/")
    String home() {
      return "hello";
    }

    @GetMapping("/health")
    String health() {
      return "ok";
    }

    @RateLimited(value = "FIXED 5/1h AS letters", cost = 2)
    @GetMapping("/letter")
    String letter() {
      return "sent";
    }

    @RateLimited(value = "5/1m", cost = 2)
    @PostMapping("/mail")
    String mail() {
      return "sent";
    }
  }

  @SpringBootConfiguration
  @EnableAutoConfiguration
  @Import(Site.class)
  static class Application {}

  @Import(Application.class)
  static class WithGate {
    @Bean
    Gate gate(Key key) {
      return Gate.byAddress().withKey(Keys.perRoute(key)).withCost(caller -> caller.method().equals("POST") ? 5 : 1);
    }
  }

  @Import(Application.class)
  static class WithOpenTelemetry {
    @Bean
    InMemorySpanExporter exporter() {
      return InMemorySpanExporter.create();
    }

    @Bean
    OpenTelemetry openTelemetry(InMemorySpanExporter exporter) {
      return OpenTelemetrySdk.builder().setTracerProvider(
          SdkTracerProvider.builder().addSpanProcessor(SimpleSpanProcessor.create(exporter)).build()).build();
    }
  }

  @BeforeEach
  void start() throws Exception {
    server = WeirServer.started();
  }

  @AfterEach
  void end() throws Exception {
    context.close();
    server.close();
  }

  private void run(Class<?> main, Map<String, Object> more) {
    Map<String, Object> properties = new HashMap<>(Map.of("server.port", "0", "server.address", "127.0.0.1",
        "weir.uri", server.url(), "spring.main.banner-mode", "off", "logging.level.root", "error",
        // Where the gateway is on the same class path: it refuses Spring MVC.
        "spring.cloud.gateway.server.webflux.enabled", "false", "spring.autoconfigure.exclude",
        "org.springframework.cloud.gateway.config.GatewayClassPathWarningAutoConfiguration"));
    properties.putAll(more);
    SpringApplication application = new SpringApplication(main);
    application.setWebApplicationType(WebApplicationType.SERVLET);
    application.setDefaultProperties(properties);
    context = application.run();
  }

  private HttpResponse<String> send(String method, String path, String... headers) throws Exception {
    String port = context.getEnvironment().getProperty("local.server.port");
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
        .method(method, HttpRequest.BodyPublishers.noBody());
    return HTTP.send((headers.length == 0 ? request : request.headers(headers)).build(),
        HttpResponse.BodyHandlers.ofString());
  }

  private HttpResponse<String> get(String path, String... headers) throws Exception {
    return send("GET", path, headers);
  }

  private static String field(HttpResponse<?> response, String name) {
    return response.headers().firstValue(name).orElse("");
  }

  /** The README's settings, with a limit that tells more. */
  private static Map<String, Object> readme(Map<String, Object> other) throws Exception {
    Properties found = new Properties();
    found.load(new StringReader(Readme.blocks("properties").get(0)));
    Map<String, Object> properties = new HashMap<>();
    found.forEach((name, value) -> properties.put((String) name, value));
    assertEquals(Set.of("weir.uri", "weir.limits", "weir.processes"), properties.keySet());
    properties.remove("weir.uri");
    properties.putAll(other);
    return properties;
  }

  @Test
  void openTelemetryIsTold() throws Exception {
    run(WithOpenTelemetry.class, readme(Map.of("spring.application.name", "shop", "weir.deadline", PATIENCE)));
    assertEquals(200, get("/").statusCode());
    assertEquals(List.of("weir take shop"), context.getBean(InMemorySpanExporter.class).getFinishedSpanItems().stream()
        .map(span -> span.getName() + " " + span.getAttributes().get(AttributeKey.stringKey("weir.limiter"))).toList());
  }

  @Test
  void fieldsLoadAnd429() throws Exception {
    run(Application.class, readme(Map.of("weir.limits", "FIXED 100/1h AS hourly", "weir.legacy", "true",
        "weir.skip-paths", "/health", "weir.deadline", PATIENCE)));
    HttpResponse<String> first = get("/");
    assertEquals(List.of("200", "\"hourly\";r=99;t=3600", "\"hourly\";q=100;w=3600", "99"),
        List.of("" + first.statusCode(), field(first, "RateLimit"), field(first, "RateLimit-Policy"),
            field(first, "X-RateLimit-Remaining")));
    List<FutureTask<Integer>> callers =
        Stream.generate(() -> new FutureTask<>(this::granted)).limit(CALLERS).toList();
    callers.forEach(caller -> new Thread(caller).start());
    int granted = 1;
    for (FutureTask<Integer> caller : callers) {
      granted += caller.get();
    }
    assertEquals(100, granted);
    HttpResponse<String> denied = get("/");
    assertEquals(429, denied.statusCode());
    assertEquals("application/problem+json", field(denied, "Content-Type"));
    assertEquals(3600, Integer.parseInt(field(denied, "Retry-After")), 600);
    assertTrue(denied.body().endsWith("\"status\": 429, \"violated-policies\": [\"hourly\"]}"), denied.body());
    HttpResponse<String> skipped = get("/health");
    assertEquals("200", skipped.statusCode() + field(skipped, "RateLimit"));
  }

  private int granted() throws Exception {
    int granted = 0;
    for (int turn = 0; turn < 200 / CALLERS; turn++) {
      granted += get("/").statusCode() == 200 ? 1 : 0;
    }
    return granted;
  }

  @Test
  void handlersAndKeys() throws Exception {
    run(Application.class, Map.of("weir.key-header", "X-Api-Key", "weir.deadline", PATIENCE));
    assertEquals("\"letters\";r=3;t=3600", field(get("/letter", "X-Api-Key", "a"), "RateLimit"));
    assertEquals("\"letters\";r=3;t=3600", field(get("/letter", "X-Api-Key", "b"), "RateLimit"));
    assertEquals(200, get("/letter", "X-Api-Key", "a").statusCode());
    assertEquals(429, get("/letter", "X-Api-Key", "a").statusCode());
    assertEquals("\"default\";q=5;w=60", field(send("POST", "/mail"), "RateLimit-Policy"));
    assertEquals("", field(get("/", "X-Api-Key", "a"), "RateLimit"), "there is no filter without weir.limits");
  }

  private void inTime(String when) throws Exception {
    Stopwatch watch = new Stopwatch();
    for (int turn = 0; turn < 10; turn++) {
      HttpResponse<String> response = watch.time(() -> get("/"));
      assertEquals("200 \"default\";q=1000;w=3600", response.statusCode() + " " + field(response, "RateLimit-Policy"),
          when);
    }
    watch.assertWithin(IN_TIME);
  }

  /** With the deadline that they have. */
  @Test
  void theLinesOfTheReadmeWhileWeirIsAway() throws Exception {
    run(Application.class, readme(Map.of("weir.limits", "FIXED 1000/1h")));
    // Of this process' share less would be left.
    WeirServer.waitUntil("weir answers", () -> field(get("/"), "RateLimit").matches(".*;r=9\\d\\d;.*"));
    inTimeHangingAndKilled();
  }

  /** Of the process' share, half of the limit at most, less would be left than weir tells. */
  private void inTimeHangingAndKilled() throws Exception {
    server.signal("STOP");
    inTime("hanging");
    server.signal("CONT");
    WeirServer.waitUntil("weir answers again", () -> field(get("/"), "RateLimit").matches(".*;r=[5-9]\\d\\d;.*"));
    server.kill();
    inTime("killed");
  }

  @Test
  void aGateAndOutages() throws Exception {
    run(WithGate.class, Map.of("weir.limits", "FIXED 1000/1h", "weir.processes", "2"));
    // Of this process' share less would be left. A call of POST costs 5.
    WeirServer.waitUntil("weir answers", () -> field(get("/"), "RateLimit").matches(".*;r=9\\d\\d;.*"));
    WeirServer.waitUntil("weir answers", () -> field(send("POST", "/"), "RateLimit").matches(".*;r=9\\d[05];.*"));
    inTimeHangingAndKilled();
  }
}
