package weir_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	weir "weir/clients/go"
	"weir/clients/go/internal/weirtest"
)

// patient: a busy machine is slow. That a call is in time is asked in outages_test.go.
const patient = 30 * time.Second

var ctx = context.Background()

func connect(t testing.TB, url string, options ...weir.Option) *weir.Weir {
	t.Helper()
	made, err := weir.Connect(url, append([]weir.Option{weir.Deadline(patient)}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = made.Close() })
	return made
}

func limiter(t testing.TB, on *weir.Weir, limits string, options ...weir.LimiterOption) *weir.Limiter {
	t.Helper()
	made, err := on.Limiter(limits, options...)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func start(t testing.TB, options ...weir.Option) (*weirtest.Server, *weir.Weir) {
	t.Helper()
	server := weirtest.Start(t)
	return server, connect(t, server.URL(), options...)
}

// must is for calls that are to be answered.
func must[T any](t testing.TB) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func near(t testing.TB, what string, got, want, by time.Duration) {
	t.Helper()
	if got < want-by || got > want+by {
		t.Errorf("%s: got %v, want about %v", what, got, want)
	}
}

func TestTake(t *testing.T) {
	_, on := start(t)
	verdict, booking := must[weir.Verdict](t), must[weir.Reservation](t)
	t.Run("take", func(t *testing.T) {
		hourly := limiter(t, on, "FIXED 3/1h AS hourly")
		taken := verdict(hourly.Take(ctx, "take", weir.Cost(2)))
		if !taken.Allowed || taken.Limit != 3 || taken.Remaining != 1 || taken.RetryAfter != 0 || taken.Granted != 2 ||
			taken.Source != weir.BySelf {
			t.Errorf("got %+v", taken)
		}
		denied := verdict(hourly.Take(ctx, "take", weir.Cost(2)))
		equal(t, "allowed", denied.Allowed, false)
		near(t, "retry", denied.RetryAfter, time.Hour, time.Minute)
		equal(t, "name", denied.Limits[0].Name, "hourly")
		equal(t, "policy field", denied.Headers()["RateLimit-Policy"], `"hourly";q=3;w=3600`)
		if denied.Headers()["Retry-After"] == "" {
			t.Error("Retry-After is missing")
		}
		equal(t, "never", verdict(hourly.Take(ctx, "take", weir.Cost(4))).RetryAfter, weir.Never)
	})
	t.Run("up to, and costs", func(t *testing.T) {
		two := limiter(t, on, "FIXED 5/1h FIXED 100/1d")
		equal(t, "granted", verdict(two.Take(ctx, "upto", weir.Cost(8), weir.UpTo())).Granted, 5)
		equal(t, "allowed", verdict(two.Take(ctx, "costs", weir.Costs(1, 50))).Allowed, true)
		equal(t, "left", verdict(two.Peek(ctx, "costs", weir.Costs(0, 0))).Limits[1].Remaining, 50)
		if _, err := two.Take(ctx, "costs", weir.Costs(1, 2, 3)); err == nil {
			t.Error("three costs of two limits")
		}
		for _, wrong := range []error{second(two.Take(ctx, "k", weir.Cost(-1))), second(two.Peek(ctx, "k", weir.UpTo())),
			second(two.Take(ctx, "k", weir.MaxWait(0)))} {
			if wrong == nil {
				t.Error("an option that does not fit is no error")
			}
		}
	})
	t.Run("an ID is charged once", func(t *testing.T) {
		once := limiter(t, on, "FIXED 5/1h")
		for range 3 {
			equal(t, "left", verdict(once.Take(ctx, "id", weir.ID("same"))).Remaining, 4)
			equal(t, "peek", verdict(once.Peek(ctx, "id")).Remaining, 3)
		}
	})
	t.Run("bookings", func(t *testing.T) {
		booked := limiter(t, on, "GCRA 1/10s")
		equal(t, "wait", booking(booked.Reserve(ctx, "book")).Wait, 0)
		later := booking(booked.Reserve(ctx, "book"))
		near(t, "wait", later.Wait, 10*time.Second, time.Second)
		equal(t, "granted", booking(booked.Reserve(ctx, "book", weir.MaxWait(time.Second))).Granted, false)
		equal(t, "came back", must[int64](t)(booked.Cancel(ctx, "book", later)), 1)
		equal(t, "never", booking(booked.Reserve(ctx, "book", weir.Cost(3))).Wait, weir.Never)
	})
}

func second[T any](_ T, err error) error { return err }

func TestBothProtocols(t *testing.T) {
	server := weirtest.Start(t)
	for protocol := 2; protocol <= 3; protocol++ {
		on := connect(t, server.URL(), weir.Redis(func(options *redis.Options) { options.Protocol = protocol }))
		taken := must[weir.Verdict](t)(limiter(t, on, "FIXED 5/1h AS x").Take(ctx, fmt.Sprint("p", protocol)))
		equal(t, "left", taken.Remaining, 4)
		equal(t, "field", taken.Headers()["RateLimit"], `"x";r=4;t=3600`)
	}
	if listed := fmt.Sprint(server.Call("CLIENT", "LIST")); !strings.Contains(listed, "name=weir-") {
		t.Errorf("the process has no name: %s", listed)
	}
}

func TestExactFor16Callers(t *testing.T) {
	for _, how := range []struct {
		name    string
		options []weir.Option
	}{{"connections", nil}, {"few connections", []weir.Option{weir.Connections(3)}}, {"batches", []weir.Option{weir.Batches()}}} {
		t.Run(how.name, func(t *testing.T) {
			_, on := start(t, how.options...)
			hourly := limiter(t, on, "FIXED 100/1h")
			var granted atomic.Int64
			together(16, func(int) {
				for range 10 {
					taken, err := hourly.Take(ctx, "k")
					if err != nil {
						t.Error(err)
					}
					granted.Add(taken.Granted)
				}
			})
			equal(t, "granted", granted.Load(), 100)
		})
	}
}

func together(callers int, call func(int)) {
	var all sync.WaitGroup
	for number := range callers {
		all.Go(func() { call(number) })
	}
	all.Wait()
}

func TestBatchesKeepEachReply(t *testing.T) {
	server, on := start(t, weir.Batches())
	hourly := limiter(t, on, "FIXED 1000/1h")
	left := make([]int64, 150)
	together(len(left), func(number int) {
		taken, err := hourly.Take(ctx, "k")
		if err != nil {
			t.Error(err)
		}
		left[number] = taken.Remaining
	})
	slices.Sort(left)
	for index, got := range left {
		equal(t, "left", got, int64(850+index))
	}
	server.Call("SET", "text", "x")
	together(20, func(number int) {
		key := "text"
		if number%2 == 1 {
			key = "k"
		}
		if _, err := hourly.Take(ctx, key); (err != nil) != (key == "text") {
			t.Errorf("%s: %v", key, err)
		}
	})
}

func TestAcquireWaitsAndHoldsUpNobody(t *testing.T) {
	_, on := start(t)
	slow, verdict := limiter(t, on, "GCRA 2/1s BURST 0"), must[weir.Verdict](t)
	verdict(slow.Take(ctx, "k"))
	begin, done := time.Now(), make(chan weir.Verdict)
	go func() {
		taken, _ := slow.Acquire(ctx, "k", 10*time.Second)
		done <- taken
	}()
	equal(t, "another", verdict(limiter(t, on, "100/1s").Take(ctx, "other")).Allowed, true)
	equal(t, "turn", (<-done).Allowed, true)
	if waited := time.Since(begin); waited < 300*time.Millisecond {
		t.Errorf("it waited %v", waited)
	}
	denied := verdict(slow.Acquire(ctx, "k", time.Millisecond))
	if denied.Allowed || denied.RetryAfter <= 0 {
		t.Errorf("got %+v", denied)
	}
}

func TestWhoseContextEndsLeavesTheQueue(t *testing.T) {
	t.Parallel()
	server, on := start(t)
	slow := limiter(t, on, "GCRA 1/1m BURST 0")
	must[weir.Verdict](t)(slow.Take(ctx, "k"))
	short, cancel := context.WithCancel(ctx)
	time.AfterFunc(300*time.Millisecond, cancel)
	begin := time.Now()
	if _, err := slow.Acquire(short, "k", 2*time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if waited := time.Since(begin); waited > 10*time.Second {
		t.Errorf("it waited %v", waited)
	}
	weirtest.Until(t, "the connection of who waited is closed", func() bool {
		return !strings.Contains(fmt.Sprint(server.Call("CLIENT", "LIST")), "cmd=rl.acquire")
	})
	if _, err := slow.Take(short, "k"); !errors.Is(err, context.Canceled) {
		t.Errorf("of a context that has ended: %v", err)
	}
}

func TestHold(t *testing.T) {
	_, on := start(t)
	tokens, verdict := limiter(t, on, "FIXED 10/1h"), must[weir.Verdict](t)
	left := func() int64 { return verdict(tokens.Peek(ctx, "k", weir.Cost(0))).Remaining }
	hold := must[*weir.Hold](t)(tokens.Hold(ctx, "k", 5))
	equal(t, "settled", must[bool](t)(hold.Settle(ctx, 2)), true)
	_, _ = hold.Cancel(ctx) // as deferred
	equal(t, "left", left(), 8)
	short, cancel := context.WithCancel(ctx)
	hold = must[*weir.Hold](t)(tokens.Hold(short, "k", 5))
	cancel()
	equal(t, "cancelled", must[bool](t)(hold.Cancel(short)), true)
	equal(t, "left", left(), 8)
	_, err := tokens.Hold(ctx, "k", 9)
	var denied *weir.DeniedError
	if !errors.As(err, &denied) || denied.Verdict.Remaining != 8 {
		t.Errorf("got %v", err)
	}
}

func TestLeaseRenewsItself(t *testing.T) {
	t.Parallel()
	server, on := start(t)
	pool, verdict := limiter(t, on, "CONCURRENCY 1 LEASE 1500ms"), must[weir.Verdict](t)
	lease := must[*weir.Lease](t)(pool.Lease(ctx, "k"))
	time.Sleep(3 * time.Second)
	equal(t, "another", verdict(pool.Take(ctx, "k")).Allowed, false)
	equal(t, "lost", lease.Lost(), false)
	waiting := make(chan error)
	go func() {
		next, err := pool.Lease(ctx, "k", weir.Wait(20*time.Second))
		if err == nil {
			next.Release()
		}
		waiting <- err
	}()
	lease.Release()
	lease.Release()
	if err := <-waiting; err != nil {
		t.Error(err)
	}
	if lease.Context().Err() == nil || lease.Lost() {
		t.Error("a context outlives its lease, or one that was released is lost")
	}
	lease = must[*weir.Lease](t)(pool.Lease(ctx, "k"))
	server.Call("RL.RESET", "k")
	select {
	case <-lease.Context().Done():
	case <-time.After(weirtest.Patience):
	}
	equal(t, "lost", lease.Lost(), true)
	lease.Release()
}

func TestTakeAll(t *testing.T) {
	_, on := start(t)
	user, tenant := limiter(t, on, "FIXED 10/1h"), limiter(t, on, "FIXED 2/1h 100/1s")
	all := must[weir.Verdicts](t)
	taken := all(weir.TakeAll(ctx, user.Part("u", 1), tenant.Part("t", 2)))
	equal(t, "allowed", taken.Allowed, true)
	equal(t, "the least left", taken.Deciding().Remaining, 0)
	denied := all(weir.TakeAll(ctx, user.Part("u", 1), tenant.Part("t", 1)))
	if denied.Allowed || denied.Index != 1 || denied.Each[0].Remaining != 9 || denied.RetryAfter() <= 0 {
		t.Errorf("got %+v", denied)
	}
	if denied.Headers()["Retry-After"] == "" {
		t.Error("Retry-After is missing")
	}
}

func TestPolicies(t *testing.T) {
	_, on := start(t)
	verdict := must[weir.Verdict](t)
	set := func(limits string) {
		t.Helper()
		if err := on.SetPolicy(ctx, "free", limits); err != nil {
			t.Fatal(err)
		}
	}
	set("FIXED 3/1h AS hourly")
	equal(t, "names", fmt.Sprint(must[[]string](t)(on.Policies(ctx))), "[free]")
	if got := must[*weir.Policy](t)(on.Policy(ctx, "free")); !strings.Contains(got.Limits, "FIXED 3/1h") || got.Version == 0 {
		t.Errorf("got %+v", got)
	}
	if got := must[*weir.Policy](t)(on.Policy(ctx, "none")); got != nil {
		t.Errorf("got %+v", got)
	}
	free := limiter(t, on, "POLICY free")
	taken := verdict(free.Take(ctx, "k"))
	if taken.Policy != "free" || verdict(free.Peek(ctx, "k")).Remaining != 1 {
		t.Errorf("got %+v", taken)
	}
	set("BLOCKED")
	equal(t, "blocked", verdict(free.Take(ctx, "k")).Allowed, false)
	set("UNLIMITED")
	equal(t, "unlimited", verdict(free.Take(ctx, "k")).Allowed, true)
	equal(t, "deleted", must[bool](t)(on.DeletePolicy(ctx, "free")), true)
}

func TestFaultsOfTheProgramAreErrors(t *testing.T) {
	server, on := start(t)
	for _, wrong := range []string{"100", "", "100/1m BURST"} {
		if _, err := on.Limiter(wrong); err == nil {
			t.Errorf("'%s' is no limit", wrong)
		}
	}
	if _, err := weir.Connect("http://127.0.0.1"); err == nil {
		t.Error("http is no weir")
	}
	server.Call("SET", "text", "x")
	server.Call("ACL", "SETUSER", "shop", "on", ">phrase", "+@ratelimit", "~shop:*")
	shop := connect(t, strings.Replace(server.URL(), "//", "//shop:phrase@", 1))
	equal(t, "a user who may", must[weir.Verdict](t)(limiter(t, shop, "5/1s").Take(ctx, "shop:1")).Allowed, true)
	stranger := connect(t, strings.Replace(server.URL(), "//", "//shop:wrong@", 1))
	for words, call := range map[string]func() (weir.Verdict, error){
		"no policy": func() (weir.Verdict, error) { return limiter(t, on, "POLICY unknown").Take(ctx, "k") },
		"WRONGTYPE": func() (weir.Verdict, error) { return limiter(t, on, "5/1s").Take(ctx, "text") },
		"NOPERM":    func() (weir.Verdict, error) { return limiter(t, shop, "5/1s").Take(ctx, "other") },
		"WRONGPASS": func() (weir.Verdict, error) { return limiter(t, stranger, "5/1s").Take(ctx, "k") },
	} {
		if _, err := call(); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: got %v", words, err)
		}
	}
}
