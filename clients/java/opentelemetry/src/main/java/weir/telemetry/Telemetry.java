package weir.telemetry;

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.metrics.DoubleHistogram;
import io.opentelemetry.api.metrics.LongCounter;
import io.opentelemetry.api.metrics.Meter;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.function.ToDoubleFunction;
import weir.Observer;
import weir.Outcome;
import weir.State;
import weir.WeirLimiter;

/**
 * An observer for one limiter or several.
 *
 * <p>A span {@code weir CALL} around each call but the takes that a lot decides. Metrics: weir.decisions (calls by
 * weir.call, weir.allowed and weir.source), weir.call.duration (seconds), weir.away (1 or 0), weir.away.duration (seconds
 * in all) and weir.absences. A denial is no error.
 */
public final class Telemetry implements Observer {
  private static final String SCOPE = "weir";
  private static final double NS_PER_S = 1e9;
  private static final AttributeKey<String> LIMITER = AttributeKey.stringKey("weir.limiter");
  private static final AttributeKey<String> CALL = AttributeKey.stringKey("weir.call");
  private static final AttributeKey<String> KEY = AttributeKey.stringKey("weir.key");
  private static final AttributeKey<Boolean> ALLOWED = AttributeKey.booleanKey("weir.allowed");
  private static final AttributeKey<String> SOURCE = AttributeKey.stringKey("weir.source");
  private static final AttributeKey<Long> REMAINING = AttributeKey.longKey("weir.remaining");
  private static final AttributeKey<Double> RETRY_AFTER = AttributeKey.doubleKey("weir.retry_after");
  private static final AttributeKey<String> POLICY = AttributeKey.stringKey("weir.policy");
  private static final AttributeKey<String> ERROR_TYPE = AttributeKey.stringKey("error.type");

  private final Attributes name;
  private final boolean hasKeys;
  private final Tracer tracer;
  private final LongCounter decisions;
  private final DoubleHistogram duration;
  private final List<WeakReference<WeirLimiter>> limiters = new ArrayList<>();

  /**
   * Without keys, which often name people.
   *
   * @param name tells limiters apart: the attribute weir.limiter
   * @param to where spans and metrics go
   */
  public Telemetry(String name, OpenTelemetry to) {
    this(name, to, false);
  }

  /**
   * With keys, or without.
   *
   * @param name tells limiters apart: the attribute weir.limiter
   * @param to where spans and metrics go
   * @param hasKeys whether spans have the attribute weir.key
   */
  public Telemetry(String name, OpenTelemetry to, boolean hasKeys) {
    this.name = Attributes.of(LIMITER, name);
    this.hasKeys = hasKeys;
    tracer = to.getTracer(SCOPE);
    Meter meter = to.getMeter(SCOPE);
    decisions = meter.counterBuilder("weir.decisions").setUnit("{decision}")
        .setDescription("Calls of limiters that were decided.").build();
    duration = meter.histogramBuilder("weir.call.duration").setUnit("s")
        .setDescription("How long calls of limiters took.").build();
    meter.gaugeBuilder("weir.away").ofLongs().setUnit("1").setDescription("Whether weir is away for the limiter.")
        .buildWithCallback(found -> most(state -> state.away() ? 1 : 0)
            .ifPresent(most -> found.record((long) most, this.name)));
    meter.counterBuilder("weir.away.duration").ofDoubles().setUnit("s")
        .setDescription("How long weir has been away for the limiter.")
        .buildWithCallback(found -> most(state -> seconds(state.awayInAll()))
            .ifPresent(most -> found.record(most, this.name)));
    meter.counterBuilder("weir.absences").setUnit("{absence}")
        .setDescription("How often weir has been away for the limiter.")
        .buildWithCallback(found -> most(State::absences).ifPresent(most -> found.record((long) most, this.name)));
  }

  private static double seconds(Duration time) {
    return time.getSeconds() + time.getNano() / NS_PER_S;
  }

  /** Of several limiters, which share a name, the most; none where all are gone. */
  private OptionalDouble most(ToDoubleFunction<State> figure) {
    List<WeirLimiter> there;
    synchronized (limiters) {
      limiters.removeIf(limiter -> limiter.get() == null);
      there = limiters.stream().map(WeakReference::get).filter(Objects::nonNull).toList();
    }
    return there.stream().map(WeirLimiter::state).mapToDouble(figure).max();
  }

  @Override
  public void limiter(WeirLimiter limiter) {
    synchronized (limiters) {
      limiters.add(new WeakReference<>(limiter));
    }
  }

  @Override
  public Call calling(String call, String key) {
    Attributes told = name.toBuilder().put(CALL, call).build();
    Span span = tracer.spanBuilder("weir " + call).setSpanKind(SpanKind.CLIENT).setAllAttributes(told).startSpan();
    if (hasKeys) {
      span.setAttribute(KEY, key);
    }
    return new SpanOfCall(span, told, System.nanoTime());
  }

  @Override
  public void handedOut(Outcome outcome) {
    decisions.add(1, name.toBuilder().put(CALL, "take").putAll(decision(outcome)).build());
  }

  /** For metrics: few values of each. */
  private static Attributes decision(Outcome outcome) {
    AttributesBuilder found = Attributes.builder().put(ALLOWED, outcome.allowed());
    outcome.source().ifPresent(source -> found.put(SOURCE, source));
    return found.build();
  }

  private final class SpanOfCall implements Call {
    private final Span span;
    private final Attributes told;
    private final long beginNs;

    SpanOfCall(Span span, Attributes told, long beginNs) {
      this.span = span;
      this.told = told;
      this.beginNs = beginNs;
    }

    @Override
    public Scope begin() {
      return span.makeCurrent()::close;
    }

    @Override
    public void answered(Outcome outcome) {
      Attributes decided = told.toBuilder().putAll(decision(outcome)).build();
      decisions.add(1, decided);
      span.setAllAttributes(decided);
      outcome.remaining().ifPresent(remaining -> span.setAttribute(REMAINING, remaining));
      outcome.retryAfter().ifPresent(retry -> span.setAttribute(RETRY_AFTER, seconds(retry)));
      outcome.policy().ifPresent(policy -> span.setAttribute(POLICY, policy));
      end(decided);
    }

    @Override
    public void failed(Throwable error) {
      span.recordException(error);
      span.setStatus(StatusCode.ERROR, String.valueOf(error.getMessage()));
      end(told.toBuilder().put(ERROR_TYPE, error.getClass().getName()).build());
    }

    private void end(Attributes of) {
      duration.record((System.nanoTime() - beginNs) / NS_PER_S, of);
      span.end();
    }
  }
}
