package weirotel_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	api "go.opentelemetry.io/otel/trace"
	weir "weir/clients/go"
	"weir/clients/go/internal/weirtest"
	"weir/clients/go/weirotel"
)

// patient: a busy machine is slow.
const patient = 30 * time.Second

var ctx = context.Background()

// told is what the SDK of OpenTelemetry gets.
type told struct {
	t        *testing.T
	recorder *tracetest.SpanRecorder
	tracers  *trace.TracerProvider
	reader   *metric.ManualReader
	meters   *metric.MeterProvider
}

func newTold(t *testing.T) *told {
	recorder, reader := tracetest.NewSpanRecorder(), metric.NewManualReader()
	return &told{t, recorder, trace.NewTracerProvider(trace.WithSpanProcessor(recorder)), reader,
		metric.NewMeterProvider(metric.WithReader(reader))}
}

func (o *told) telemetry(options ...weirotel.Option) *weirotel.Telemetry {
	o.t.Helper()
	options = append(options, weirotel.Tracers(o.tracers), weirotel.Meters(o.meters))
	return must[*weirotel.Telemetry](o.t)(weirotel.New("api", options...))
}

func (o *told) metrics() []metricdata.Metrics {
	o.t.Helper()
	var found metricdata.ResourceMetrics
	if err := o.reader.Collect(ctx, &found); err != nil {
		o.t.Fatal(err)
	}
	var all []metricdata.Metrics
	for _, scope := range found.ScopeMetrics {
		all = append(all, scope.Metrics...)
	}
	return all
}

// points of a metric: the words of their attributes, without the limiter's name, and their values or counts.
func (o *told) points(name string) map[string]float64 {
	o.t.Helper()
	found := map[string]float64{}
	for _, each := range o.metrics() {
		if each.Name == name {
			for _, point := range pointsOf(each) {
				found[words(point.attributes)] = point.value
			}
		}
	}
	return found
}

type point struct {
	attributes attribute.Set
	value      float64
}

func pointsOf(metric metricdata.Metrics) []point {
	var found []point
	switch data := metric.Data.(type) {
	case metricdata.Sum[int64]:
		found = numbers(data.DataPoints)
	case metricdata.Sum[float64]:
		found = numbers(data.DataPoints)
	case metricdata.Gauge[int64]:
		found = numbers(data.DataPoints)
	case metricdata.Histogram[float64]:
		for _, each := range data.DataPoints {
			found = append(found, point{each.Attributes, float64(each.Count)})
		}
	}
	return found
}

func numbers[N int64 | float64](points []metricdata.DataPoint[N]) []point {
	var found []point
	for _, each := range points {
		found = append(found, point{each.Attributes, float64(each.Value)})
	}
	return found
}

func words(set attribute.Set) string {
	var found []string
	for _, each := range set.ToSlice() {
		if each.Key != "weir.limiter" {
			found = append(found, strings.TrimPrefix(string(each.Key), "weir.")+"="+each.Value.Emit())
		}
	}
	return strings.Join(found, " ")
}

func must[T any](t testing.TB) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func start(t *testing.T) (*weirtest.Server, *weir.Weir, *told) {
	t.Helper()
	server := weirtest.Start(t)
	on := must[*weir.Weir](t)(weir.Connect(server.URL(), weir.Deadline(patient)))
	t.Cleanup(func() { _ = on.Close() })
	return server, on, newTold(t)
}

func limiter(t *testing.T, on *weir.Weir, limits string, options ...weir.LimiterOption) *weir.Limiter {
	t.Helper()
	return must[*weir.Limiter](t)(on.Limiter(limits, options...))
}

func attributes(span trace.ReadOnlySpan) map[string]any {
	found := map[string]any{}
	for _, each := range span.Attributes() {
		found[string(each.Key)] = each.Value.AsInterface()
	}
	return found
}

func eachCall(t *testing.T, limiter *weir.Limiter) {
	t.Helper()
	verdict := must[weir.Verdict](t)
	verdict(limiter.Take(ctx, "k"))
	verdict(limiter.Peek(ctx, "k"))
	verdict(limiter.Acquire(ctx, "k", time.Second))
	must[int64](t)(limiter.Cancel(ctx, "k", must[weir.Reservation](t)(limiter.Reserve(ctx, "k"))))
	must[bool](t)(must[*weir.Hold](t)(limiter.Hold(ctx, "k", 1)).Cancel(ctx))
	must[weir.Verdicts](t)(weir.TakeAll(ctx, limiter.Part("k", 1), limiter.Part("l", 1)))
}

func TestSpans(t *testing.T) {
	_, on, told := start(t)
	hourly := limiter(t, on, "FIXED 1/1h", weir.Observed(told.telemetry()))
	for range 2 {
		must[weir.Verdict](t)(hourly.Take(ctx, "k"))
	}
	spans := told.recorder.Ended()
	same(t, "attributes", attributes(spans[0]), map[string]any{"weir.limiter": "api", "weir.call": "take", "weir.allowed": true,
		"weir.source": "weir", "weir.remaining": int64(0), "weir.retry_after": 0.0})
	denied := attributes(spans[1])
	same(t, "allowed", denied["weir.allowed"], false)
	same(t, "a denial is no error", spans[1].Status().Code, codes.Unset)
	if retry := denied["weir.retry_after"].(float64); retry < 3000 || retry > 3600 {
		t.Errorf("got %v seconds", retry)
	}
}

func TestEachCallHasItsName(t *testing.T) {
	_, on, told := start(t)
	eachCall(t, limiter(t, on, "100/1s", weir.Observed(told.telemetry(weirotel.Keys()))))
	leases := limiter(t, on, "CONCURRENCY 1 LEASE 1h", weir.Observed(told.telemetry()))
	must[*weir.Lease](t)(leases.Lease(ctx, "m")).Release()
	must[*weir.Lease](t)(leases.Lease(ctx, "m", weir.Wait(time.Second))).Release()
	var calls []string
	for _, span := range told.recorder.Ended() {
		found := attributes(span)
		calls = append(calls, fmt.Sprint(found["weir.call"], " ", found["weir.key"]))
	}
	same(t, "calls and keys", calls, []string{"take k", "peek k", "acquire k", "reserve k", "cancel k", "hold k", "take_all k",
		"lease <nil>", "lease <nil>"})
}

type row struct {
	Span, Kind, Metric, Unit string
	Attributes               []string
}

func TestNamesAndUnitsAreThoseOfTheOtherLanguages(t *testing.T) {
	_, on, told := start(t)
	observed := limiter(t, on, "100/1s", weir.Observed(told.telemetry()))
	eachCall(t, observed)
	got := map[string]row{}
	for _, span := range told.recorder.Ended() {
		got[span.Name()] = row{Span: span.Name(), Kind: strings.ToLower(span.SpanKind().String()),
			Attributes: slices.Sorted(maps.Keys(attributes(span)))}
	}
	for _, each := range told.metrics() {
		names := map[string]bool{} // a call that is not decided by anybody tells less
		for _, point := range pointsOf(each) {
			for _, attribute := range point.attributes.ToSlice() {
				names[string(attribute.Key)] = true
			}
		}
		got[each.Name] = row{Metric: each.Name, Unit: each.Unit, Attributes: slices.Sorted(maps.Keys(names))}
	}
	text := must[[]byte](t)(os.ReadFile(filepath.FromSlash("../../conformance/telemetry.json")))
	var rows []row
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	for _, want := range rows {
		slices.Sort(want.Attributes)
		same(t, want.Span+want.Metric, got[want.Span+want.Metric], want)
	}
	if len(rows) == 0 || len(rows) != len(got) {
		t.Errorf("%d rows, and %d that were told", len(rows), len(got))
	}
	runtime.KeepAlive(observed)
}

func TestAFaultOfTheProgram(t *testing.T) {
	server, on, told := start(t)
	server.Call("SET", "text", "x")
	_, err := limiter(t, on, "5/1s", weir.Observed(told.telemetry())).Take(ctx, "text")
	if err == nil || !strings.Contains(err.Error(), "WRONGTYPE") {
		t.Fatalf("got %v", err)
	}
	span := told.recorder.Ended()[0]
	same(t, "status", span.Status().Code, codes.Error)
	if events := span.Events(); len(events) != 1 || events[0].Name != "exception" {
		t.Errorf("got %v", events)
	}
	same(t, "duration", told.points("weir.call.duration"), map[string]float64{fmt.Sprintf("error.type=%T call=take", err): 1})
	same(t, "decisions", told.points("weir.decisions"), map[string]float64{})
}

// inner makes a span for each command, as the instrumentation of go-redis does.
type inner struct{ tracer api.Tracer }

func (inner) DialHook(next redis.DialHook) redis.DialHook { return next }

func (inner) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (i inner) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, command redis.Cmder) error {
		ctx, span := i.tracer.Start(ctx, "inner "+command.Name())
		defer span.End()
		return next(ctx, command)
	}
}

func TestItIsTheParentOfWhatGoesOnWithin(t *testing.T) {
	server := weirtest.Start(t)
	told := newTold(t)
	client := redis.NewClient(&redis.Options{Addr: server.Address()})
	t.Cleanup(func() { _ = client.Close() })
	client.AddHook(inner{tracer: told.tracers.Tracer("test")})
	on := must[*weir.Weir](t)(weir.Over(client, weir.Deadline(patient)))
	must[weir.Verdict](t)(limiter(t, on, "5/1s", weir.Observed(told.telemetry())).Take(ctx, "k"))
	parents, outer := []string{}, []string{}
	for _, span := range told.recorder.Ended() {
		switch span.Name() {
		case "inner rl.take":
			parents = append(parents, span.Parent().SpanID().String())
		case "weir take":
			outer = append(outer, span.SpanContext().SpanID().String())
		}
	}
	same(t, "parents", parents, outer)
	same(t, "spans", len(outer), 1)
}

func TestMetricsThereAndAway(t *testing.T) {
	server, on, told := start(t)
	observed := limiter(t, on, "FIXED 2/1h", weir.WhenAway(weir.Closed), weir.Observed(told.telemetry()))
	take := func() { must[weir.Verdict](t)(observed.Take(ctx, "k")) }
	for range 3 {
		take()
	}
	same(t, "away", told.points("weir.away"), map[string]float64{"": 0})
	server.Kill()
	take()
	same(t, "decisions", told.points("weir.decisions"), map[string]float64{"allowed=true call=take source=weir": 2,
		"allowed=false call=take source=weir": 1, "allowed=false call=take source=closed": 1})
	same(t, "away", told.points("weir.away"), map[string]float64{"": 1})
	same(t, "absences", told.points("weir.absences"), map[string]float64{"": 1})
	weirtest.Until(t, "time passes", func() bool { return told.points("weir.away.duration")[""] > 0 })
	calls := 0.0
	for _, count := range told.points("weir.call.duration") {
		calls += count
	}
	same(t, "calls that took time", calls, 4.0)
	runtime.KeepAlive(observed)
}

func TestWhatLotsHandOutIsCountedWithoutSpans(t *testing.T) {
	_, on, told := start(t)
	observed := limiter(t, on, "FIXED 1000000/1h", weir.Observed(told.telemetry()))
	lots := must[*weir.Lots](t)(observed.Lots(10 * time.Minute))
	defer lots.Close()
	for range 100 {
		must[weir.Verdict](t)(lots.Take(ctx, "k"))
	}
	decisions := told.points("weir.decisions")
	byLots, asked := decisions["allowed=true call=take source=lot"], decisions["allowed=true call=take source=weir"]
	same(t, "decisions", byLots+asked, 100.0)
	if spans := len(told.recorder.Ended()); float64(spans) != asked || spans > 20 {
		t.Errorf("%d spans of %v takes that no lot decided", spans, asked)
	}
}

func TestALimiterThatIsGoneIsToldOfNoMore(t *testing.T) {
	_, on, told := start(t)
	limiter(t, on, "5/1s", weir.Observed(told.telemetry()))
	weirtest.Until(t, "nothing is told", func() bool {
		runtime.GC()
		return len(told.points("weir.away")) == 0
	})
}

func TestSeveralLimitersTellTheMost(t *testing.T) {
	_, on, told := start(t)
	telemetry := told.telemetry()
	gone := must[*weir.Limiter](t)(weir.New("redis://127.0.0.1:1", "5/1s", weir.Observed(telemetry)))
	there := limiter(t, on, "5/1s", weir.Observed(telemetry))
	for _, each := range []*weir.Limiter{gone, there} {
		must[weir.Verdict](t)(each.Take(ctx, "k"))
	}
	same(t, "away", told.points("weir.away"), map[string]float64{"": 1})
	runtime.KeepAlive(there)
	runtime.KeepAlive(gone)
}

func TestTheEndOfAContextIsAFault(t *testing.T) {
	_, on, told := start(t)
	ended, end := context.WithCancel(ctx)
	end()
	_, err := limiter(t, on, "5/1s", weir.Observed(told.telemetry())).Take(ended, "k")
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	same(t, "status", told.recorder.Ended()[0].Status().Code, codes.Error)
}

// TestExample runs the lines of the README.
func TestExample(t *testing.T) {
	server := weirtest.Start(t)
	t.Setenv("WEIR_URL", server.URL())
	weirtest.Until(t, "a key was taken from", func() bool {
		Example() // on a busy machine the first may be decided in the process
		return strings.Contains(fmt.Sprint(server.Call("RL.TOP", "TAKEN")), "user:42")
	})
}
