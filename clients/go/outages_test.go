package weir_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	weir "weir/clients/go"
	"weir/clients/go/internal/weirtest"
)

const (
	deadline = 100 * time.Millisecond
	slack    = 300 * time.Millisecond
	hourly   = "FIXED 1000/1h"
)

// caller takes, and knows the longest.
type caller struct {
	*weir.Limiter
	t       testing.TB
	longest time.Duration
}

func newCaller(t *testing.T, url, limits string, within time.Duration, options ...weir.LimiterOption) *caller {
	t.Helper()
	on := connect(t, url, weir.Deadline(within))
	made := &caller{Limiter: limiter(t, on, limits, append(options, weir.Processes(2))...), t: t}
	weirtest.Until(t, "weir answers", func() bool { return made.source("k") == weir.BySelf })
	made.longest = 0
	return made
}

func (c *caller) source(key string) weir.Source {
	c.t.Helper()
	watch := weirtest.Watch()
	verdict, err := c.Take(ctx, key)
	c.longest = max(c.longest, watch.Taken())
	if err != nil {
		c.t.Fatal(err)
	}
	return verdict.Source
}

func (c *caller) sources(count int, want weir.Source) {
	c.t.Helper()
	for range count {
		equal(c.t, "source", c.source("k"), want)
	}
}

func (c *caller) back() {
	c.t.Helper()
	weirtest.Until(c.t, "weir is back", func() bool {
		c.source("other")
		return !c.State().Away
	})
}

func (c *caller) inTime() {
	c.t.Helper()
	if c.longest > deadline+slack {
		c.t.Errorf("a call took %v", c.longest)
	}
}

func remaining(server *weirtest.Server) int64 {
	return server.Call("RL.PEEK", "k", "FIXED", "1000/1h", "COST", "0").([]any)[2].(int64)
}

func TestKilledAndStartedAgain(t *testing.T) {
	t.Parallel()
	server := weirtest.Start(t)
	var lock sync.Mutex
	var changes []weir.Change
	calls := newCaller(t, server.URL(), hourly, patient, weir.OnChange(func(change weir.Change) {
		lock.Lock()
		defer lock.Unlock()
		changes = append(changes, change)
	}))
	calls.back()
	lock.Lock()
	changes = nil
	lock.Unlock()
	before, here := remaining(server), calls.State().DecidedHere
	server.Kill()
	calls.sources(5, weir.ByLocal)
	state := calls.State()
	equal(t, "cause", state.Cause, "gone")
	equal(t, "decided here", state.DecidedHere-here, 5)
	server.Start()
	calls.back()
	equal(t, "left", remaining(server), before)
	equal(t, "source", calls.source("k"), weir.BySelf)
	equal(t, "what was granted meanwhile is charged once: left", remaining(server), before-5-1)
	calls.source("k")
	equal(t, "left", remaining(server), before-5-2)
	lock.Lock()
	defer lock.Unlock()
	if len(changes) != 2 || !changes[0].Away || changes[1].Away {
		t.Errorf("got %v", changes)
	}
	if calls.longest > patient/2 {
		t.Errorf("who is refused waits for nobody: a call took %v", calls.longest)
	}
}

func TestStoppedAndContinued(t *testing.T) {
	t.Parallel()
	server := weirtest.Start(t)
	calls := newCaller(t, server.URL(), hourly, deadline)
	server.Signal(syscall.SIGSTOP)
	calls.sources(20, weir.ByLocal)
	state := calls.State()
	server.Signal(syscall.SIGCONT)
	equal(t, "away", state.Away, true)
	equal(t, "cause", state.Cause, "late")
	calls.inTime()
	calls.back()
	weirtest.Until(t, "weir answers", func() bool { return calls.source("k") == weir.BySelf })
}

// TestAHandBackHasNoTimeOfItsOwn: a call and what is handed back before it have one deadline.
func TestAHandBackHasNoTimeOfItsOwn(t *testing.T) {
	t.Parallel()
	server := weirtest.Start(t)
	calls := newCaller(t, server.URL(), hourly, time.Second)
	server.Kill()
	calls.sources(2, weir.ByLocal)
	server.Start()
	calls.back()
	server.Signal(syscall.SIGSTOP)
	watch := weirtest.Watch()
	equal(t, "source", must[weir.Reservation](t)(calls.Reserve(ctx, "k")).Source, weir.ByLocal)
	if took := watch.Taken(); took > time.Second+slack {
		t.Errorf("a call took %v", took)
	}
}

// TestACallersOwnEndSaysNothing of weir, unless weir has had its time.
func TestACallersOwnEndSaysNothing(t *testing.T) {
	server := weirtest.Start(t)
	calls := newCaller(t, server.URL(), hourly, 10*time.Second)
	server.Signal(syscall.SIGSTOP)
	for range 3 {
		short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		if _, err := calls.Take(short, "k"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		cancel()
	}
	server.Signal(syscall.SIGCONT)
	equal(t, "away", calls.State().Away, false)
}

func TestSlowAndTricklingPeers(t *testing.T) {
	t.Parallel()
	server := weirtest.Start(t)
	for _, batches := range []bool{false, true} {
		for _, fault := range []string{"delay", "trickle"} {
			proxy := weirtest.NewProxy(t, server)
			options := []weir.Option{weir.Deadline(deadline)}
			if batches {
				options = append(options, weir.Batches())
			}
			calls := &caller{Limiter: limiter(t, connect(t, proxy.URL(), options...), hourly, weir.Processes(2)), t: t}
			weirtest.Until(t, "weir answers", func() bool { return calls.source("k") == weir.BySelf })
			calls.longest = 0
			if fault == "delay" {
				proxy.Delay.Store(2000)
			} else {
				proxy.Trickle.Store(20)
			}
			calls.sources(5, weir.ByLocal)
			calls.inTime()
			proxy.Cut() // and now the handshake is slow
			weirtest.Until(t, "it probes", func() bool { return calls.source("k") != "" && calls.State().Probes > 1 })
			equal(t, "away", calls.State().Away, true)
			calls.inTime()
		}
	}
}

func TestLostRepliesAndCutConnectionsAreChargedOnce(t *testing.T) {
	server := weirtest.Start(t)
	proxy := weirtest.NewProxy(t, server)
	calls := newCaller(t, proxy.URL(), hourly, patient)
	before := remaining(server)
	for range 10 {
		proxy.Lose.Store(1)
		equal(t, "source", calls.source("k"), weir.BySelf)
	}
	equal(t, "left", remaining(server), before-10)
	for range 10 {
		proxy.Cut()
		equal(t, "source", calls.source("k"), weir.BySelf)
	}
	equal(t, "left", remaining(server), before-20)
}

func TestModes(t *testing.T) {
	server := weirtest.Start(t)
	wanted := map[weir.Away]bool{weir.Local: true, weir.Strict: false, weir.Open: true, weir.Closed: false}
	calls := map[weir.Away]*caller{}
	for mode := range wanted {
		calls[mode] = newCaller(t, server.URL(), hourly, patient, weir.WhenAway(mode))
	}
	server.Kill()
	for mode, allowed := range wanted {
		verdict := must[weir.Verdict](t)(calls[mode].Take(ctx, "k"))
		equal(t, string(mode), verdict.Allowed, allowed)
		if mode == weir.Closed {
			equal(t, "retry", verdict.Headers()["Retry-After"], "1")
		}
		if mode == weir.Local {
			equal(t, "policy", verdict.Headers()["RateLimit-Policy"], `"default";q=1000;w=3600`)
		}
	}
}

func TestOtherCallsWhileAway(t *testing.T) {
	server := weirtest.Start(t)
	calls := newCaller(t, server.URL(), "10/1s", patient)
	leases := limiter(t, calls.Weir(), "CONCURRENCY 4 LEASE 10s", weir.Processes(2))
	verdict := must[weir.Verdict](t)
	equal(t, "lease", verdict(leases.Take(ctx, "pool")).Allowed, true)
	server.Kill()
	calls.sources(1, weir.ByLocal)
	hold := must[*weir.Hold](t)(calls.Hold(ctx, "k", 1))
	equal(t, "settled", must[bool](t)(hold.Settle(ctx, 1)), true)
	equal(t, "acquire", verdict(calls.Acquire(ctx, "k", 5*time.Second)).Allowed, true)
	equal(t, "reserve", must[weir.Reservation](t)(calls.Reserve(ctx, "k", weir.Cost(2))).Granted, true)
	window := must[weir.Reservation](t)(limiter(t, calls.Weir(), hourly).Reserve(ctx, "w"))
	equal(t, "weir books no windows either", window, weir.Reservation{Wait: weir.Never, Source: weir.ByLocal})
	equal(t, "peek", verdict(calls.Peek(ctx, "k", weir.Cost(5))).Allowed, false)
	lease := must[*weir.Lease](t)(leases.Lease(ctx, "pool"))
	equal(t, "another", verdict(leases.Take(ctx, "pool")).Allowed, false)
	lease.Release()
	equal(t, "released", verdict(leases.Peek(ctx, "pool")).Allowed, true)
	unknown := limiter(t, calls.Weir(), "POLICY unknown")
	equal(t, "what is not known", must[weir.Reservation](t)(unknown.Reserve(ctx, "k")).Granted, false)
	equal(t, "what is not known", verdict(unknown.Acquire(ctx, "k", time.Millisecond)).Allowed, false)
	equal(t, "what is not known", must[weir.Verdicts](t)(weir.TakeAll(ctx, unknown.Part("k", 1))).Allowed, false)
	var denied *weir.DeniedError
	if _, err := unknown.Hold(ctx, "k", 1); !errors.As(err, &denied) {
		t.Errorf("got %v", err)
	}
	if _, err := unknown.Lease(ctx, "k"); !errors.As(err, &denied) {
		t.Errorf("got %v", err)
	}
	all := must[weir.Verdicts](t)(weir.TakeAll(ctx, calls.Part("k", 6), leases.Part("pool", 1)))
	equal(t, "take all", all.Index, 0)
	equal(t, "more than the share", all.RetryAfter(), weir.Never)
}

func TestTheShareThatWeirTells(t *testing.T) {
	t.Parallel()
	server := weirtest.Start(t)
	server.Call("RL.POLICY", "SET", "free", "FIXED", "9/1h")
	for _, name := range []string{"one", "another"} {
		server.CallAs(name, "RL.TAKE", "k", "POLICY", "free", "COST", 0, "FULL")
	}
	free := limiter(t, connect(t, server.URL()), "POLICY free")
	verdict := must[weir.Verdict](t)
	equal(t, "take", verdict(free.Take(ctx, "k")).Allowed, true)
	equal(t, "share", free.State().Share, 1.0/3)
	server.Kill()
	for _, allowed := range []bool{true, true, false} {
		equal(t, "of the share", verdict(free.Take(ctx, "k")).Allowed, allowed)
	}
}

func TestABanLastsAsLongAsWeirSaid(t *testing.T) {
	t.Parallel()
	server := weirtest.Start(t)
	made := limiter(t, connect(t, server.URL()), "GCRA 1/1s BURST 0 BAN 1h AFTER 1 WITHIN 1h")
	verdict := must[weir.Verdict](t)
	equal(t, "other", verdict(made.Take(ctx, "other")).Allowed, true)
	weirtest.Until(t, "it is banned", func() bool { return verdict(made.Take(ctx, "k")).Banned })
	server.Kill()
	denied := verdict(made.Take(ctx, "k"))
	equal(t, "allowed", denied.Allowed, false)
	equal(t, "source", denied.Source, weir.ByLocal)
	if denied.RetryAfter < 30*time.Minute {
		t.Errorf("it is banned for %v", denied.RetryAfter)
	}
	weirtest.Until(t, "others are not", func() bool { return verdict(made.Take(ctx, "other")).Allowed })
}

func TestAPolicyThatLetsNobodyThrough(t *testing.T) {
	t.Parallel()
	server := weirtest.Start(t)
	server.Call("RL.POLICY", "SET", "emergency", "BLOCKED")
	blocked := limiter(t, connect(t, server.URL()), "POLICY emergency")
	verdict := must[weir.Verdict](t)
	equal(t, "take", verdict(blocked.Take(ctx, "k")).Allowed, false)
	server.Kill()
	for _, key := range []string{"k", "unknown"} {
		found := verdict(blocked.Take(ctx, key))
		equal(t, key, found.Allowed, false)
		equal(t, key, found.Source, weir.ByLocal)
	}
}

func TestABookingIsKnownWhenWeirGoes(t *testing.T) {
	t.Parallel()
	server := weirtest.Start(t)
	on := connect(t, server.URL())
	if err := on.SetPolicy(ctx, "free", "10/1h BURST 9"); err != nil {
		t.Fatal(err)
	}
	verdict := must[weir.Verdict](t)
	for _, limits := range []string{"POLICY free", "10/1h BURST 9"} {
		free := limiter(t, on, limits, weir.Processes(2))
		equal(t, "take", verdict(free.Take(ctx, limits)).Allowed, true)
		equal(t, "reserve", must[weir.Reservation](t)(free.Reserve(ctx, limits, weir.Cost(3))).Granted, true)
		equal(t, "left", verdict(free.Peek(ctx, limits, weir.Cost(0))).Remaining, 6)
		defer func() { // while weir is away: five less four are left
			equal(t, limits, verdict(free.Take(ctx, limits)).Allowed, true)
			equal(t, limits, verdict(free.Take(ctx, limits)).Allowed, false)
		}()
	}
	server.Kill()
}

func TestLeaseOutlivesARestart(t *testing.T) {
	t.Parallel()
	server := weirtest.Start(t)
	calls := newCaller(t, server.URL(), "CONCURRENCY 2 LEASE 6s", patient)
	lease := must[*weir.Lease](t)(calls.Lease(ctx, "pool"))
	server.Kill()
	time.Sleep(2500 * time.Millisecond) // a renewal fails
	equal(t, "lost", lease.Lost(), false)
	server.Start()
	calls.back()
	time.Sleep(4 * time.Second) // beyond the first end
	equal(t, "lost", lease.Lost(), false)
	equal(t, "left", server.Call("RL.PEEK", "pool", "CONCURRENCY", "2", "LEASE", "6s").([]any)[2].(int64), 0)
	lease.Release()
}

// TestWhatEachErrorMeans goes by the way of go-redis, which makes types of some words.
func TestWhatEachErrorMeans(t *testing.T) {
	text, err := os.ReadFile("../conformance/errors.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct{ Error, Means string }
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		t.Run(row.Error, func(t *testing.T) {
			server := weirtest.NewAnswering(t, map[string]string{"RL.TAKE": "-" + row.Error + "\r\n"})
			made := limiter(t, connect(t, server.URL()), "5/1s")
			verdict, err := made.Take(ctx, "k")
			state := made.State()
			switch {
			case row.Means == "program" && (err == nil || state.Away):
				t.Errorf("got %+v, %v", verdict, err)
			case row.Means != "program" && (err != nil || verdict.Source != weir.ByLocal || state.Cause != row.Means):
				t.Errorf("got %+v, %v, %+v", verdict, err, state)
			}
		})
	}
}

func TestARefusalOfWritesIsProbedByAWrite(t *testing.T) {
	t.Parallel()
	server := weirtest.NewAnswering(t, map[string]string{"RL.TAKE": "-MISCONF the disk is full\r\n",
		"RL.PEEK": "*6\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n"})
	made := limiter(t, connect(t, server.URL()), "5/1s", weir.Processes(1))
	weirtest.Until(t, "it probes", func() bool {
		_, err := made.Take(ctx, "k")
		return err == nil && made.State().Probes > 1
	})
	equal(t, "absences", made.State().Absences, 1)
	equal(t, "away", made.State().Away, true)
}
