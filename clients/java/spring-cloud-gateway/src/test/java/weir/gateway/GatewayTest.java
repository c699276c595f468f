package weir.gateway;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.yaml.snakeyaml.Yaml;
import weir.Readme;
import weir.Stopwatch;
import weir.WeirServer;

/** A gateway with the filter RequestRateLimiter, as the README has it. */
@ResourceLock("reactor-netty") // whose event loops end with any context of a process
class GatewayTest {
  private static final String LIMITS = "weir-rate-limiter.limits";
  private static final String COST = "weir-rate-limiter.cost";
  private static final String ROUTE = "spring.cloud.gateway.server.webflux.routes[0].";

  @SpringBootConfiguration
  @EnableAutoConfiguration
  static class Application {}

  private static HttpServer backend() throws Exception {
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    server.createContext("/", exchange -> {
      exchange.sendResponseHeaders(200, -1);
      exchange.close();
    });
    server.start();
    return server;
  }

  /** The README's filter. */
  private static Map<?, ?> filter() throws Exception {
    Map<?, ?> page = new Yaml().load(Readme.blocks("yaml").get(0));
    return (Map<?, ?>) ((List<?>) page.get("filters")).get(0);
  }

  private static ConfigurableApplicationContext run(WeirServer server, int backend) throws Exception {
    Map<?, ?> filter = filter();
    Map<?, ?> arguments = (Map<?, ?>) filter.get("args");
    assertEquals(Set.of(LIMITS, COST), arguments.keySet());
    SpringApplication application = new SpringApplication(Application.class);
    application.setWebApplicationType(WebApplicationType.REACTIVE);
    application.setDefaultProperties(Map.ofEntries(Map.entry("server.port", "0"),
        Map.entry("server.address", "127.0.0.1"), Map.entry("weir.uri", server.url()),
        Map.entry("weir.processes", "2"), Map.entry("spring.main.banner-mode", "off"),
        Map.entry("logging.level.root", "error"), Map.entry(ROUTE + "id", "site"),
        Map.entry(ROUTE + "uri", "http://127.0.0.1:" + backend), Map.entry(ROUTE + "predicates[0]", "Path=/**"),
        Map.entry("weir.deadline", Stopwatch.PATIENCE.toSeconds() + "s"),
        Map.entry(ROUTE + "filters[0].name", filter.get("name")),
        Map.entry(ROUTE + "filters[0].args." + COST, arguments.get(COST)),
        Map.entry(ROUTE + "filters[0].args." + LIMITS, "FIXED 4/1h AS hourly")));
    return application.run();
  }

  @Test
  void limitsARoute() throws Exception {
    HttpServer backend = backend();
    try (WeirServer server = WeirServer.started();
        ConfigurableApplicationContext context = run(server, backend.getAddress().getPort())) {
      URI site = URI.create("http://127.0.0.1:" + context.getEnvironment().getProperty("local.server.port") + "/");
      WeirServer.waitUntil("weir answers", () -> get(site).equals("200 \"hourly\";r=0;t=3600")
          || get(site).startsWith("429"));
      assertEquals("429 \"hourly\";r=0;t=3600", get(site).replaceAll("t=3[56]\\d\\d", "t=3600"));
      server.kill();
      assertEquals("429 \"hourly\";r=0", get(site).split(";t=")[0]);
    } finally {
      backend.stop(0);
    }
  }

  private static String get(URI uri) throws Exception {
    HttpResponse<Void> response =
        HttpClient.newHttpClient().send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.discarding());
    return response.statusCode() + " " + response.headers().firstValue("RateLimit").orElse("");
  }
}
