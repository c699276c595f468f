package weir_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	weir "weir/clients/go"
	"weir/clients/go/internal/weirtest"
)

var leaksSeconds = flag.Int("leaks.seconds", 0, "call for so long while weir comes and goes, and count what is left")

const (
	leakWarm    = 20 * time.Second
	leakCallers = 8
	leakKeys    = 500
	leakLease   = 6 * time.Second
	leakSlots   = 6
)

var leakPool = fmt.Sprintf("CONCURRENCY %d LEASE %s", leakSlots, leakLease)

type leakLimiters struct{ takes, tokens, pool, turns, lotted *weir.Limiter }

func (o leakLimiters) each() []*weir.Limiter {
	return []*weir.Limiter{o.takes, o.tokens, o.pool, o.turns, o.lotted}
}

// leakCall is a call at random, in full.
func leakCall(of leakLimiters, lots *weir.Lots) error {
	key := fmt.Sprint("k", rand.IntN(4*leakKeys))
	var err error
	switch rand.IntN(7) {
	case 0:
		var hold *weir.Hold
		if hold, err = of.tokens.Hold(ctx, key, 10); err == nil {
			_, err = hold.Settle(ctx, 3)
		}
	case 1, 2:
		options := []weir.CallOption{}
		if rand.IntN(2) == 0 {
			options = append(options, weir.Wait(500*time.Millisecond))
		}
		var lease *weir.Lease
		if lease, err = of.pool.Lease(ctx, "pool", options...); err == nil {
			time.Sleep(time.Duration(rand.IntN(2000)) * time.Millisecond)
			lease.Release()
		}
	case 3:
		short, end := context.WithTimeout(ctx, time.Duration(rand.IntN(300))*time.Millisecond) // it may be given up
		_, err = of.turns.Acquire(short, "turns", 300*time.Millisecond)
		end()
	case 4:
		var booking weir.Reservation
		if booking, err = of.turns.Reserve(ctx, "turns"); err == nil {
			_, err = of.turns.Cancel(ctx, "turns", booking)
		}
	case 5:
		_, err = lots.Take(ctx, key)
	default:
		_, err = of.takes.Take(ctx, key)
	}
	var denied *weir.DeniedError
	if errors.As(err, &denied) || errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

func leakWork(t *testing.T, server *weirtest.Server, of leakLimiters, lots *weir.Lots, lasts time.Duration) int64 {
	t.Helper()
	var calls atomic.Int64
	end := time.Now().Add(lasts)
	done := make(chan struct{})
	go func() {
		defer close(done)
		together(leakCallers, func(int) {
			for ; time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
				if err := leakCall(of, lots); err != nil {
					t.Errorf("raised: %v", err)
				}
				calls.Add(1)
			}
		})
	}()
	for time.Now().Before(end) {
		time.Sleep(8 * time.Second)
		server.Kill()
		time.Sleep(2 * time.Second)
		server.Start()
	}
	<-done
	return calls.Load()
}

// leakFigure is a figure, and the most of it, or what more than at a first look a second one may find, after a time many times
// as long.
type leakFigure struct {
	name              string
	value, most, more int64
}

// leakFigures are those when everybody rests, leases that nobody renews have ended, and weir is back for each limiter.
func leakFigures(t *testing.T, server *weirtest.Server, of leakLimiters) []leakFigure {
	t.Helper()
	keys := int64(0)
	for _, each := range of.each() {
		weirtest.Until(t, "weir is back", func() bool {
			taken, _ := each.Take(ctx, "rest")
			return taken.Source == weir.BySelf
		})
		keys = max(keys, int64(each.State().Keys))
	}
	time.Sleep(leakLease + time.Second)
	renewals := func() int64 {
		var count int64
		for line := range strings.Lines(server.Call("INFO", "commandstats").(string)) {
			_, _ = fmt.Sscanf(line, "cmdstat_rl.renew:calls=%d", &count)
		}
		return count
	}
	before := renewals()
	time.Sleep(leakLease)
	words := []any{"RL.PEEK", "pool"}
	for _, word := range strings.Fields(leakPool) {
		words = append(words, word)
	}
	left := server.Call(append(words, "COST", "0")...).([]any)[2].(int64)
	files, _ := os.ReadDir("/proc/self/fd")
	var memory runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&memory)
	connections := int64(strings.Count(server.Call("CLIENT", "LIST").(string), "id="))
	return []leakFigure{{"leases", leakSlots - left + renewals() - before, 0, 0}, {"keys", keys, leakKeys, 0},
		{"connections", connections, -1, 2},
		{"goroutines", int64(runtime.NumGoroutine()), -1, 4}, {"files", int64(len(files)), -1, 4},
		{"heap KB", int64(memory.HeapAlloc / 1024), -1, 2000}}
}

// TestLeaks: go test -run TestLeaks -leaks.seconds 3600 -timeout 0 -v
func TestLeaks(t *testing.T) {
	if *leaksSeconds == 0 {
		t.Skip("-leaks.seconds says for how long")
	}
	server := weirtest.Start(t)
	on := must[*weir.Weir](t)(weir.Connect(server.URL()))
	made := func(limits string) *weir.Limiter {
		return limiter(t, on, limits, weir.Processes(1), weir.KeysMax(leakKeys))
	}
	of := leakLimiters{made("FIXED 100/10s"), made("GCRA 1000/1s"), made(leakPool), made("GCRA 50/1s"), made("FIXED 100000/1s")}
	lots := must[*weir.Lots](t)(of.lotted.Lots(0))
	leakWork(t, server, of, lots, leakWarm)
	first := leakFigures(t, server, of)
	calls := leakWork(t, server, of, lots, time.Duration(*leaksSeconds)*time.Second)
	last := leakFigures(t, server, of)
	for index, each := range last {
		t.Logf("%d calls in %d s: %s %d became %d", calls, *leaksSeconds, each.name, first[index].value, each.value)
		most := each.most
		if most < 0 {
			most = first[index].value
		}
		if each.value > most+each.more {
			t.Errorf("%s leak", each.name)
		}
	}
	lots.Close()
	_ = on.Close()
	weirtest.Until(t, "few goroutines are left of what is closed", func() bool { return runtime.NumGoroutine() < 8 })
}
