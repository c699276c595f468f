package weir.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import weir.WeirServer;

/** An application as the README has it: right fields and a right 429, and answers in time while weir is away. */
class SpringTest {
  private static final long IN_TIME_MS = 150;
  private static final long SLACK_MS = 300; // a busy machine runs this process late
  private static final HttpClient HTTP = HttpClient.newHttpClient();

  private WeirServer server;
  private ConfigurableApplicationContext context;

  @RestController
  static class Site {
    @GetMapping("/")
    String home() {
      return "hello";
    }

    @GetMapping("/health")
    String health() {
      return "ok";
    }

    @RateLimited(value = "FIXED 5/1h AS mail", cost = 2)
    @GetMapping("/mail")
    String mail() {
      return "sent";
    }
  }

  @SpringBootConfiguration
  @EnableAutoConfiguration
  @Import(Site.class)
  static class Application {}

  @BeforeEach
  void start() throws Exception {
    server = WeirServer.started();
  }

  @AfterEach
  void end() throws Exception {
    context.close();
    server.close();
  }

  private void run(Map<String, Object> more) {
    Map<String, Object> properties = new HashMap<>(Map.of("server.port", "0", "server.address", "127.0.0.1",
        "weir.uri", server.url(), "spring.main.banner-mode", "off", "logging.level.root", "error",
        // Where the gateway is on the same class path: it refuses Spring MVC.
        "spring.cloud.gateway.server.webflux.enabled", "false", "spring.autoconfigure.exclude",
        "org.springframework.cloud.gateway.config.GatewayClassPathWarningAutoConfiguration"));
    properties.putAll(more);
    SpringApplication application = new SpringApplication(Application.class);
    application.setWebApplicationType(WebApplicationType.SERVLET);
    application.setDefaultProperties(properties);
    context = application.run();
  }

  private HttpResponse<String> get(String path, String... headers) throws Exception {
    String port = context.getEnvironment().getProperty("local.server.port");
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path));
    return HTTP.send((headers.length == 0 ? request : request.headers(headers)).build(),
        HttpResponse.BodyHandlers.ofString());
  }

  private static String field(HttpResponse<?> response, String name) {
    return response.headers().firstValue(name).orElse("");
  }

  @Test
  void fieldsAnd429() throws Exception {
    run(Map.of("weir.limits", "FIXED 2/1h AS hourly", "weir.legacy", "true", "weir.skip-paths", "/health",
        "weir.deadline", "30s"));
    HttpResponse<String> first = get("/");
    assertEquals(List.of("200", "\"hourly\";r=1;t=3600", "\"hourly\";q=2;w=3600", "1"), List.of("" + first.statusCode(),
        field(first, "RateLimit"), field(first, "RateLimit-Policy"), field(first, "X-RateLimit-Remaining")));
    get("/");
    HttpResponse<String> denied = get("/");
    assertEquals(429, denied.statusCode());
    assertEquals("application/problem+json", field(denied, "Content-Type"));
    assertEquals(3600, Integer.parseInt(field(denied, "Retry-After")), 60);
    assertTrue(denied.body().endsWith("\"status\": 429, \"violated-policies\": [\"hourly\"]}"), denied.body());
    HttpResponse<String> skipped = get("/health");
    assertEquals("200", skipped.statusCode() + field(skipped, "RateLimit"));
  }

  @Test
  void handlersAndKeys() throws Exception {
    run(Map.of("weir.key-header", "X-Api-Key", "weir.deadline", "30s"));
    assertEquals("\"mail\";r=3;t=3600", field(get("/mail", "X-Api-Key", "a"), "RateLimit"));
    assertEquals("\"mail\";r=3;t=3600", field(get("/mail", "X-Api-Key", "b"), "RateLimit"));
    assertEquals(200, get("/mail", "X-Api-Key", "a").statusCode());
    assertEquals(429, get("/mail", "X-Api-Key", "a").statusCode());
    assertEquals("", field(get("/", "X-Api-Key", "a"), "RateLimit"), "there is no filter without weir.limits");
  }

  private void inTime(String when) throws Exception {
    for (int turn = 0; turn < 10; turn++) {
      long begin = System.nanoTime();
      HttpResponse<String> response = get("/");
      long ms = (System.nanoTime() - begin) / 1_000_000;
      assertTrue(ms < IN_TIME_MS + SLACK_MS, when + ": " + ms + " ms");
      assertEquals("200 \"fixed0\";q=1000;w=3600", response.statusCode() + " " + field(response, "RateLimit-Policy"));
    }
  }

  @Test
  void killedAndHanging() throws Exception {
    run(Map.of("weir.limits", "FIXED 1000/1h", "weir.processes", "2"));
    WeirServer.waitUntil("weir answers", () -> context.getBean(Limiters.class).of("FIXED 1000/1h").state().asked() > 0
        || get("/").statusCode() != 200);
    server.signal("STOP");
    inTime("hanging");
    server.signal("CONT");
    server.kill();
    inTime("killed");
  }

  @Test
  void load() throws Exception {
    run(Map.of("weir.limits", "FIXED 100/1h", "weir.deadline", "30s"));
    List<Integer> statuses = IntStream.range(0, 200).parallel().mapToObj(turn -> {
      try {
        return get("/").statusCode();
      } catch (Exception error) {
        throw new IllegalStateException(error);
      }
    }).toList();
    assertEquals(100, statuses.stream().filter(status -> status == 200).count());
    assertEquals(100, statuses.stream().filter(status -> status == 429).count());
  }
}
