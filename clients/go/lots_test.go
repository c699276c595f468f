package weir_test

import (
	"sync/atomic"
	"testing"
	"time"

	weir "weir/clients/go"
	"weir/clients/go/internal/weirtest"
)

func newLots(t testing.TB, on *weir.Weir, limits string, block time.Duration) *weir.Lots {
	t.Helper()
	made, err := limiter(t, on, limits, weir.Processes(2)).Lots(block)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(made.Close)
	return made
}

func TestLotsAreExact(t *testing.T) {
	server, on := start(t)
	// Windows of a minute begin when they are first used, so all of this is in one. Two processes share it.
	lots := []*weir.Lots{newLots(t, on, "FIXED 20000/1m", 50*time.Millisecond),
		newLots(t, connect(t, server.URL()), "FIXED 20000/1m", 50*time.Millisecond)}
	var granted atomic.Int64
	together(16, func(number int) {
		for taken := 0; taken < 2000; taken++ {
			verdict, err := lots[number%2].Take(ctx, "k")
			if err != nil {
				t.Error(err)
				return
			}
			granted.Add(verdict.Granted)
			if !verdict.Allowed {
				time.Sleep(100 * time.Microsecond)
			}
		}
	})
	for verdict := (weir.Verdict{Allowed: true}); verdict.Allowed; {
		verdict = must[weir.Verdict](t)(lots[0].Take(ctx, "k"))
		granted.Add(verdict.Granted)
	}
	if granted.Load() > 20000 || granted.Load() < 19900 {
		t.Errorf("granted %d of 20000", granted.Load())
	}
	asked := server.Call("RL.PEEK", "k", "FIXED", "20000/1m", "COST", "0").([]any)
	weirtest.Until(t, "the rest is given back", func() bool {
		asked = server.Call("RL.PEEK", "k", "FIXED", "20000/1m", "COST", "0").([]any)
		return asked[2].(int64) == 20000-granted.Load()
	})
}

func TestLotsOfASmallLimitAskEachTime(t *testing.T) {
	server, on := start(t)
	lots := newLots(t, on, "FIXED 5/1h", 0)
	for left := int64(4); left >= 0; left-- {
		verdict := must[weir.Verdict](t)(lots.Take(ctx, "k"))
		equal(t, "left", verdict.Remaining, left)
	}
	denied := must[weir.Verdict](t)(lots.Take(ctx, "k"))
	equal(t, "allowed", denied.Allowed, false)
	near(t, "retry", denied.RetryAfter, time.Hour, time.Minute)
	equal(t, "weir says so", server.Call("RL.PEEK", "k", "FIXED", "5/1h").([]any)[0].(int64), 0)
	if _, err := limiter(t, on, "CONCURRENCY 5 LEASE 1s").Lots(0); err == nil {
		t.Error("leases come in lots")
	}
	lots.Close()
	if _, err := lots.Take(ctx, "k"); err == nil {
		t.Error("lots that are closed take")
	}
}

func TestLotsTakeCosts(t *testing.T) {
	server, on := start(t)
	lots := newLots(t, on, "FIXED 100000/1m", time.Second)
	sum := int64(0)
	for cost := int64(1); cost < 200; cost++ {
		sum += must[weir.Verdict](t)(lots.Take(ctx, "k", weir.Cost(cost))).Granted
	}
	equal(t, "granted", sum, 199*100)
	lots.Close()
	weirtest.Until(t, "the rest is given back", func() bool {
		return server.Call("RL.PEEK", "k", "FIXED", "100000/1m", "COST", "0").([]any)[2].(int64) == 100000-sum
	})
}

func TestLotsWhileWeirIsAway(t *testing.T) {
	server := weirtest.Start(t)
	on := connect(t, server.URL(), weir.Deadline(deadline))
	lots := newLots(t, on, "1000000/1s", 0)
	for range 1000 {
		must[weir.Verdict](t)(lots.Take(ctx, "k"))
	}
	server.Kill()
	var longest time.Duration
	for range 200 {
		watch := weirtest.Watch()
		for range 100 {
			equal(t, "allowed", must[weir.Verdict](t)(lots.Take(ctx, "k")).Allowed, true)
		}
		longest = max(longest, watch.Taken())
	}
	if longest > deadline+slack {
		t.Errorf("a call took %v", longest)
	}
	server.Start()
	weirtest.Until(t, "weir is back", func() bool {
		return must[weir.Verdict](t)(lots.Take(ctx, "k")).Source == weir.BySelf
	})
}

// BenchmarkTake has many goroutines take from one limit of 100 million a second. A decision is one Take.
func BenchmarkTake(b *testing.B) {
	for _, how := range []struct {
		name    string
		options []weir.Option
	}{{"each", nil}, {"batches", []weir.Option{weir.Batches()}}} {
		b.Run(how.name, func(b *testing.B) {
			made := limiter(b, connect(b, weirtest.Start(b).URL(), how.options...), "100000000/1s")
			b.SetParallelism(32)
			decisions(b, func() (weir.Verdict, error) { return made.Take(ctx, "k") })
		})
	}
	b.Run("lots", func(b *testing.B) {
		lots := newLots(b, connect(b, weirtest.Start(b).URL()), "100000000/1s", 0)
		b.SetParallelism(32)
		decisions(b, func() (weir.Verdict, error) { return lots.Take(ctx, "k") })
	})
}

func decisions(b *testing.B, take func() (weir.Verdict, error)) {
	var denied atomic.Int64
	b.ResetTimer()
	b.RunParallel(func(next *testing.PB) {
		for next.Next() {
			verdict, err := take()
			if err != nil {
				b.Error(err)
				return
			}
			if !verdict.Allowed {
				denied.Add(1)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "decisions/s")
	b.ReportMetric(float64(denied.Load())/float64(b.N), "denied/decision")
}
