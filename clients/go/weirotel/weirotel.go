// Package weirotel tells OpenTelemetry of the calls of limiters, and of when weir is away.
//
//	telemetry, err := weirotel.New("api")
//	limiter, err := weir.New("redis://127.0.0.1:7000", "100/1m", weir.Observed(telemetry))
//
// A call has a span "weir CALL", but for takes that a lot decides. Metrics are weir.decisions (calls by weir.call,
// weir.allowed and weir.source), weir.call.duration (seconds), weir.away (1 or 0), weir.away.duration (seconds in all) and
// weir.absences. A denial is no error.
package weirotel

import (
	"context"
	"fmt"
	"sync"
	"time"
	"weak"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
	weir "weir/clients/go"
)

const scope = "weir"

// Option is one of New.
type Option func(*settings)

type settings struct {
	keys    bool
	tracers trace.TracerProvider
	meters  metric.MeterProvider
}

// Keys has spans tell the attribute weir.key. Keys often name people.
func Keys() Option { return func(s *settings) { s.keys = true } }

// Tracers is where spans go: the global provider where it is left out.
func Tracers(provider trace.TracerProvider) Option { return func(s *settings) { s.tracers = provider } }

// Meters is where metrics go: the global provider where it is left out.
func Meters(provider metric.MeterProvider) Option { return func(s *settings) { s.meters = provider } }

// Telemetry is an observer for one limiter or several.
type Telemetry struct {
	name      attribute.KeyValue
	keys      bool
	tracer    trace.Tracer
	decisions metric.Int64Counter
	duration  metric.Float64Histogram

	lock     sync.Mutex
	limiters []weak.Pointer[weir.Limiter]
}

// New makes one; the name tells them apart, by the attribute weir.limiter.
func New(name string, options ...Option) (*Telemetry, error) {
	made := settings{tracers: otel.GetTracerProvider(), meters: otel.GetMeterProvider()}
	for _, option := range options {
		option(&made)
	}
	telemetry := &Telemetry{name: attribute.String("weir.limiter", name), keys: made.keys, tracer: made.tracers.Tracer(scope)}
	if err := telemetry.measure(made.meters.Meter(scope)); err != nil {
		return nil, fmt.Errorf("weirotel: %w", err)
	}
	return telemetry, nil
}

func (t *Telemetry) measure(meter metric.Meter) (err error) {
	if t.decisions, err = meter.Int64Counter("weir.decisions", metric.WithUnit("{decision}"),
		metric.WithDescription("Calls of limiters that were decided.")); err != nil {
		return err
	}
	if t.duration, err = meter.Float64Histogram("weir.call.duration", metric.WithUnit("s"),
		metric.WithDescription("How long calls of limiters took.")); err != nil {
		return err
	}
	if _, err = meter.Int64ObservableGauge("weir.away", metric.WithUnit("1"),
		metric.WithDescription("Whether weir is away for the limiter."), metric.WithInt64Callback(t.integer(
			func(state weir.State) int64 {
				if state.Away {
					return 1
				}
				return 0
			}))); err != nil {
		return err
	}
	if _, err = meter.Float64ObservableCounter("weir.away.duration", metric.WithUnit("s"),
		metric.WithDescription("How long weir has been away for the limiter."),
		metric.WithFloat64Callback(func(_ context.Context, to metric.Float64Observer) error {
			if most, found := mostOf(t, func(state weir.State) float64 { return state.AwayInAll.Seconds() }); found {
				to.Observe(most, metric.WithAttributes(t.name))
			}
			return nil
		})); err != nil {
		return err
	}
	_, err = meter.Int64ObservableCounter("weir.absences", metric.WithUnit("{absence}"),
		metric.WithDescription("How often weir has been away for the limiter."),
		metric.WithInt64Callback(t.integer(func(state weir.State) int64 { return state.Absences })))
	return err
}

func (t *Telemetry) integer(of func(weir.State) int64) metric.Int64Callback {
	return func(_ context.Context, to metric.Int64Observer) error {
		if most, found := mostOf(t, of); found {
			to.Observe(most, metric.WithAttributes(t.name))
		}
		return nil
	}
}

// mostOf is of several limiters, which share a name, the most; none is found where all are gone.
func mostOf[T int64 | float64](t *Telemetry, of func(weir.State) T) (most T, found bool) {
	t.lock.Lock()
	defer t.lock.Unlock()
	there := t.limiters[:0]
	for _, pointer := range t.limiters {
		if limiter := pointer.Value(); limiter != nil {
			there = append(there, pointer)
			most, found = max(most, of(limiter.State())), true
		}
	}
	t.limiters = there
	return most, found
}

// Limiter is told of a limiter that is made.
func (t *Telemetry) Limiter(limiter *weir.Limiter) {
	t.lock.Lock()
	defer t.lock.Unlock()
	t.limiters = append(t.limiters, weak.Make(limiter))
}

// Calling is told of a call before it begins.
func (t *Telemetry) Calling(ctx context.Context, call, key string) (context.Context, func(weir.Outcome, error)) {
	told := []attribute.KeyValue{t.name, attribute.String("weir.call", call)}
	begins := told
	if t.keys {
		begins = append(told[:len(told):len(told)], attribute.String("weir.key", key))
	}
	begin := time.Now()
	ctx, span := t.tracer.Start(ctx, "weir "+call, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(begins...))
	return ctx, func(outcome weir.Outcome, err error) {
		if err != nil {
			span.RecordError(err)
			span.SetStatus(codes.Error, err.Error())
			told = append(told, attribute.String("error.type", fmt.Sprintf("%T", err)))
		} else {
			told = append(told, decision(outcome)...)
			t.decisions.Add(ctx, 1, metric.WithAttributes(told...))
			span.SetAttributes(append(decision(outcome), details(outcome)...)...)
		}
		t.duration.Record(ctx, time.Since(begin).Seconds(), metric.WithAttributes(told...))
		span.End()
	}
}

// HandedOut is told of a take that a lot has decided.
func (t *Telemetry) HandedOut(outcome weir.Outcome) {
	told := append([]attribute.KeyValue{t.name, attribute.String("weir.call", "take")}, decision(outcome)...)
	t.decisions.Add(context.Background(), 1, metric.WithAttributes(told...))
}

// decision is for metrics: few values of each.
func decision(outcome weir.Outcome) []attribute.KeyValue {
	found := []attribute.KeyValue{attribute.Bool("weir.allowed", outcome.Allowed)}
	if outcome.Source != "" {
		found = append(found, attribute.String("weir.source", string(outcome.Source)))
	}
	return found
}

// details are for spans.
func details(outcome weir.Outcome) []attribute.KeyValue {
	var found []attribute.KeyValue
	if outcome.Remaining != nil {
		found = append(found, attribute.Int64("weir.remaining", *outcome.Remaining))
	}
	if outcome.RetryAfter != nil {
		found = append(found, attribute.Float64("weir.retry_after", outcome.RetryAfter.Seconds()))
	}
	if outcome.Policy != "" {
		found = append(found, attribute.String("weir.policy", outcome.Policy))
	}
	return found
}
