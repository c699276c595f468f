package weir

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"weir/clients/go/internal/core"
)

// Leases whose renewals are not answered: sent again soon, so that none is lost by a connection that was cut.

// renewer answers renewals by their number; what is after those is answered.
type renewer struct {
	fails func(number int64) error
	asked atomic.Int64
}

func (r *renewer) send(_ context.Context, commands [][]any) []reply {
	if commands[0][0] != "RL.RENEW" {
		return []reply{{value: []any{int64(0)}}}
	}
	return []reply{{int64(1), r.fails(r.asked.Add(1))}}
}

func (r *renewer) close() error { return nil }

type noPermission struct{}

func (noPermission) Error() string { return "NOPERM no permission" }
func (noPermission) RedisError()   {}

// leased makes a lease that has just been given.
func leased(t *testing.T, length time.Duration, to sender) *Lease {
	on, err := (&Weir{deadline: within, attempts: 1, calls: to, waits: to}).Limiter("CONCURRENCY 1 LEASE 30s")
	if err != nil {
		t.Fatal(err)
	}
	made := &Lease{Verdict: held, limiter: on, key: "a", length: length, over: make(chan struct{}), ended: make(chan struct{}),
		renewed: time.Now()}
	made.context, made.lose = context.WithCancelCause(context.Background())
	go made.renewOn()
	return made
}

func TestAMissLosesNoLease(t *testing.T) {
	for _, length := range []time.Duration{500 * time.Millisecond, 2 * time.Second, 30 * time.Second, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			to := &renewer{fails: func(number int64) error {
				if number%3 == 1 {
					return io.EOF
				}
				return nil
			}}
			lease := leased(t, length, to)
			time.Sleep(length/renewals + 2*soon)
			if asked := to.asked.Load(); asked != 2 {
				t.Errorf("of %v: %d renewals, and one of them soon after the one before", length, asked)
			}
			time.Sleep(5 * length)
			if lease.Lost() {
				t.Errorf("of %v: it is lost", length)
			}
			lease.Release()
		})
	}
}

func TestALeaseIsLostAtItsEnd(t *testing.T) {
	for _, fault := range []error{io.EOF, context.DeadlineExceeded, noPermission{}} {
		synctest.Test(t, func(t *testing.T) {
			begin, to := time.Now(), &renewer{fails: func(int64) error { return fault }}
			lease := leased(t, 30*time.Second, to)
			<-lease.Context().Done()
			if after := time.Since(begin); !lease.Lost() || after != 30*time.Second {
				t.Errorf("%v: lost %v, after %v", fault, lease.Lost(), after)
			}
			if asked := to.asked.Load(); asked < 20 || asked > 40 {
				t.Errorf("%v: %d renewals in 20 s", fault, asked)
			}
			lease.Release()
		})
	}
}

func TestAReleaseDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &peer{}
		lease := leased(t, 30*time.Second, to)
		time.Sleep(10*time.Second + within/10)
		if to.asked.Load() != 1 {
			t.Error("no renewal is under way")
		}
		begin := time.Now()
		if lease.Release(); time.Since(begin) > within {
			t.Errorf("it took %v", time.Since(begin))
		}
		if !errors.Is(context.Cause(lease.Context()), context.Canceled) {
			t.Error("a lease that was released is lost")
		}
	})
}

// TestTheLengthOfALease is not the window of a limit beside it, before whose end it would be lost.
func TestTheLengthOfALease(t *testing.T) {
	verdict := Verdict{Limits: []LimitState{{Window: time.Second}, {Window: time.Hour}, {Window: time.Minute}},
		specs: []core.Spec{{Kind: core.KindBucket}, {Kind: core.KindLeases}, {Kind: core.KindLeases}}}
	if got := leaseLength(verdict); got != time.Minute {
		t.Errorf("got %v", got)
	}
}
