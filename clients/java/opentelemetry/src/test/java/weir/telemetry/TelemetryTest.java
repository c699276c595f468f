package weir.telemetry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lettuce.core.RedisCommandExecutionException;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.metrics.SdkMeterProvider;
import io.opentelemetry.sdk.metrics.data.DoublePointData;
import io.opentelemetry.sdk.metrics.data.HistogramPointData;
import io.opentelemetry.sdk.metrics.data.LongPointData;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.metrics.data.PointData;
import io.opentelemetry.sdk.testing.exporter.InMemoryMetricReader;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import weir.Lots;
import weir.Observer;
import weir.Outcome;
import weir.Stopwatch;
import weir.Take;
import weir.Weir;
import weir.WeirLimiter;
import weir.WeirServer;
import weir.core.Away;

/** Spans and metrics, as the SDK of OpenTelemetry gets them. */
class TelemetryTest {
  private static final AttributeKey<Boolean> ALLOWED = AttributeKey.booleanKey("weir.allowed");
  private static final AttributeKey<Double> RETRY = AttributeKey.doubleKey("weir.retry_after");

  private record Row(String name, String kindOrUnit, Set<String> attributes) {}

  private final InMemorySpanExporter exporter = InMemorySpanExporter.create();
  private final InMemoryMetricReader reader = InMemoryMetricReader.create();
  private final OpenTelemetry openTelemetry = OpenTelemetrySdk.builder()
      .setTracerProvider(SdkTracerProvider.builder().addSpanProcessor(SimpleSpanProcessor.create(exporter)).build())
      .setMeterProvider(SdkMeterProvider.builder().registerMetricReader(reader).build()).build();
  private final Telemetry telemetry = new Telemetry("api", openTelemetry);
  private WeirServer server;
  private Weir weir;

  @BeforeEach
  void start() throws Exception {
    server = WeirServer.started();
    weir = Weir.builder(server.url()).deadline(Stopwatch.PATIENCE).build();
  }

  @AfterEach
  void end() throws Exception {
    weir.close();
    server.close();
  }

  private WeirLimiter limiter(String limits) {
    return weir.limiter(limits).observer(telemetry).build();
  }

  private void eachCall(WeirLimiter limiter) throws Exception {
    limiter.take("k");
    limiter.peek("k");
    limiter.acquire("k", Duration.ofSeconds(1));
    limiter.cancel("k", limiter.reserve(Take.from("k")));
    limiter.hold("k", 1).cancel();
    weir.takeAll(limiter.part("k", 1), limiter.part("l", 1));
  }

  private List<SpanData> spans() {
    return exporter.getFinishedSpanItems();
  }

  private static Set<String> names(Attributes attributes) {
    return attributes.asMap().keySet().stream().map(AttributeKey::getKey).collect(Collectors.toCollection(TreeSet::new));
  }

  private static double value(PointData point) {
    return point instanceof LongPointData whole ? whole.getValue()
        : point instanceof DoublePointData real ? real.getValue()
        : ((HistogramPointData) point).getCount();
  }

  /** Points of a metric: the words of their attributes, without the limiter's name, and their values or counts. */
  private Map<String, Double> points(String name) {
    Map<String, Double> found = new TreeMap<>();
    for (MetricData metric : reader.collectAllMetrics()) {
      if (metric.getName().equals(name)) {
        metric.getData().getPoints().forEach(point -> found.put(point.getAttributes().asMap().entrySet().stream()
            .filter(each -> !each.getKey().getKey().equals("weir.limiter"))
            .map(each -> each.getKey().getKey().replace("weir.", "") + "=" + each.getValue())
            .collect(Collectors.joining(" ")), value(point)));
      }
    }
    return found;
  }

  @Test
  void spansOfTakes() {
    WeirLimiter hourly = limiter("FIXED 1/1h");
    hourly.take("k");
    hourly.take("k");
    assertEquals(Attributes.builder().put("weir.limiter", "api").put("weir.call", "take").put("weir.allowed", true)
        .put("weir.source", "weir").put("weir.remaining", 0).put("weir.retry_after", 0.0).build().asMap(),
        spans().get(0).getAttributes().asMap());
    SpanData denied = spans().get(1);
    assertEquals(List.of(false, StatusCode.UNSET), List.of(denied.getAttributes().get(ALLOWED),
        denied.getStatus().getStatusCode()));
    assertEquals(3600, denied.getAttributes().get(RETRY), 600);
  }

  @Test
  void eachCallHasItsName() throws Exception {
    eachCall(weir.limiter("100/1s").observer(new Telemetry("api", openTelemetry, true)).build());
    WeirLimiter leases = limiter("CONCURRENCY 1 LEASE 1h");
    leases.lease("m").close();
    leases.lease("m", Duration.ofSeconds(1)).close();
    assertEquals(List.of("take k", "peek k", "acquire k", "reserve k", "cancel k", "hold k", "take_all k", "lease null",
        "lease null"), spans().stream().map(SpanData::getAttributes).map(found ->
            found.get(AttributeKey.stringKey("weir.call")) + " " + found.get(AttributeKey.stringKey("weir.key"))).toList());
  }

  @Test
  void namesAndUnitsAreThoseOfTheOtherLanguages() throws Exception {
    WeirLimiter limiter = limiter("100/1s");
    eachCall(limiter);
    Map<String, Row> told = new TreeMap<>();
    spans().forEach(span -> told.put(span.getName(), new Row(span.getName(),
        span.getKind().name().toLowerCase(Locale.ROOT), names(span.getAttributes()))));
    reader.collectAllMetrics().forEach(metric -> { // of all its points: who decided a call is not told of each
      Set<String> all = new TreeSet<>();
      metric.getData().getPoints().forEach(point -> all.addAll(names(point.getAttributes())));
      told.put(metric.getName(), new Row(metric.getName(), metric.getUnit(), all));
    });
    Map<String, Row> wanted = new TreeMap<>();
    for (JsonNode row : new ObjectMapper().readTree(
        WeirServer.root().resolve("clients/conformance/telemetry.json").toFile())) {
      Set<String> attributes = new TreeSet<>();
      row.get("attributes").forEach(name -> attributes.add(name.asText()));
      String name = row.get(row.has("span") ? "span" : "metric").asText();
      wanted.put(name, new Row(name, row.get(row.has("span") ? "kind" : "unit").asText(), attributes));
    }
    assertEquals(wanted, told);
    Reference.reachabilityFence(limiter);
  }

  @Test
  void aFaultOfTheProgram() throws Exception {
    server.call("SET", "text", "x");
    assertThrows(RedisCommandExecutionException.class, () -> limiter("5/1s").take("text"));
    SpanData span = spans().get(0);
    assertEquals(StatusCode.ERROR, span.getStatus().getStatusCode());
    assertEquals("exception", span.getEvents().get(0).getName());
    assertEquals(Map.of("error.type=io.lettuce.core.RedisCommandExecutionException call=take", 1.0),
        points("weir.call.duration"));
    assertEquals(Map.of(), points("weir.decisions"));
  }

  @Test
  void whoIsCancelledGivesUpTheTurn() throws Exception {
    WeirLimiter limiter = limiter("GCRA 1/1h BURST 0");
    limiter.take("k");
    CompletableFuture<?> waiting = limiter.acquireAsync(Take.from("k"), Duration.ofHours(2));
    WeirServer.waitUntil("it waits", () -> server.call("CLIENT", "LIST").toString().contains("cmd=rl.acquire"));
    waiting.cancel(true);
    WeirServer.waitUntil("nobody waits", () -> !server.call("CLIENT", "LIST").toString().contains("cmd=rl.acquire"));
    assertEquals(StatusCode.ERROR, spans().get(1).getStatus().getStatusCode());
  }

  /** Is told of calls, and what is the current span of their threads meanwhile. */
  private static final class Watching implements Observer {
    private final Observer to;
    private final List<String> current = new ArrayList<>();

    Watching(Observer to) {
      this.to = to;
    }

    @Override
    public void limiter(WeirLimiter limiter) {}

    @Override
    public Call calling(String call, String key) {
      Call told = to.calling(call, key);
      return new Call() {
        @Override
        public Scope begin() {
          Scope scope = told.begin();
          current.add(Span.current().getSpanContext().getSpanId());
          return scope;
        }

        @Override
        public void answered(Outcome outcome) {
          told.answered(outcome);
        }

        @Override
        public void failed(Throwable error) {
          told.failed(error);
        }
      };
    }

    @Override
    public void handedOut(Outcome outcome) {}
  }

  @Test
  void itIsCurrentWhileTheCallBegins() {
    Watching watching = new Watching(telemetry);
    weir.limiter("5/1s").observer(watching).build().take("k");
    assertEquals(List.of(spans().get(0).getSpanId()), watching.current);
    assertFalse(Span.current().getSpanContext().isValid());
  }

  @Test
  void metricsThereAndAway() throws Exception {
    WeirLimiter limiter = weir.limiter("FIXED 2/1h").away(Away.CLOSED).observer(telemetry).build();
    for (int turn = 0; turn < 3; turn++) {
      limiter.take("k");
    }
    assertEquals(Map.of("", 0.0), points("weir.away"));
    server.kill();
    limiter.take("k");
    assertEquals(Map.of("allowed=true call=take source=weir", 2.0, "allowed=false call=take source=weir", 1.0,
        "allowed=false call=take source=closed", 1.0), points("weir.decisions"));
    assertEquals(List.of(Map.of("", 1.0), Map.of("", 1.0)), List.of(points("weir.away"), points("weir.absences")));
    WeirServer.waitUntil("time passes", () -> points("weir.away.duration").get("") > 0);
    assertEquals(4, points("weir.call.duration").values().stream().mapToDouble(count -> count).sum());
    Reference.reachabilityFence(limiter);
  }

  @Test
  void severalLimitersTellTheMost() throws Exception {
    try (Weir nowhere = Weir.builder("redis://127.0.0.1:1").firstConnection(Duration.ofMillis(1)).build()) {
      WeirLimiter gone = nowhere.limiter("5/1s").observer(telemetry).build();
      WeirLimiter there = limiter("5/1s");
      gone.take("k");
      there.take("k");
      WeirServer.waitUntil("it is known to be away", () -> gone.take("k") != null && gone.state().away());
      assertEquals(Map.of("", 1.0), points("weir.away"));
      Reference.reachabilityFence(there);
    }
  }

  @Test
  void whatLotsHandOutIsCountedWithoutSpans() {
    WeirLimiter limiter = limiter("FIXED 1000000/1h");
    try (Lots lots = limiter.lots(Duration.ofMinutes(10))) {
      for (int turn = 0; turn < 100; turn++) {
        assertTrue(lots.take("k"));
      }
    }
    Map<String, Double> decisions = points("weir.decisions");
    double asked = decisions.getOrDefault("allowed=true call=take", 0.0);
    assertEquals(100, decisions.get("allowed=true call=take source=lot") + asked);
    assertEquals(asked, spans().size());
    assertTrue(asked < 20);
  }

  @Test
  void aLimiterThatIsGoneIsToldOfNoMore() throws Exception {
    limiter("5/1s");
    WeirServer.waitUntil("nothing is told", () -> {
      System.gc();
      return points("weir.away").isEmpty();
    });
  }

  @Test
  void theLineOfTheReadme() throws Exception {
    WeirLimiter observed = weir.limiter("100/1m").observer(new Telemetry("api", openTelemetry)).build();
    assertTrue(observed.take("user:42").allowed());
    assertEquals(1, spans().size());
  }
}
