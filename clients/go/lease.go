package weir

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"weir/clients/go/internal/core"
)

// ErrLeaseLost is the cause of the end of a lease's context.
var ErrLeaseLost = errors.New("weir: the lease has ended before it was released")

const (
	renewals = 3                     // in the length of a lease
	soon     = 50 * time.Millisecond // the first pause after a renewal that weir has not answered; each further one is
	soonMax  = time.Second           // twice as long, but not longer than this
)

// Lease is one of a CONCURRENCY limit. It renews itself until it is released.
//
//	lease, err := limiter.Lease(ctx, "pool")
//	if err != nil {
//		return err
//	}
//	defer lease.Release()
//	work(lease.Context())
type Lease struct {
	Verdict Verdict

	limiter *Limiter
	key     string
	cost    core.Cost
	length  time.Duration
	context context.Context
	lose    context.CancelCauseFunc
	over    chan struct{}
	ended   chan struct{} // closed when renewals have ended
	once    sync.Once
	renewed time.Time
}

// Lease takes a lease. It answers a *DeniedError if there is none; with Wait it waits for its turn. Options: Cost, Wait.
func (l *Limiter) Lease(ctx context.Context, key string, options ...CallOption) (*Lease, error) {
	settings, err := callSettingsOf("Lease", options, "Cost", "Wait")
	if err != nil {
		return nil, err
	}
	asked := time.Now()
	verdict, err := observed(ctx, l.observer, "lease", key, func(ctx context.Context) (Verdict, error) {
		if settings.wait > 0 {
			return l.acquire(ctx, key, settings.wait, settings)
		}
		return l.take(ctx, l.end(), key, settings)
	})
	if settings.wait > 0 {
		asked = time.Now()
	}
	if err != nil {
		return nil, err
	}
	if !verdict.Allowed {
		return nil, &DeniedError{verdict}
	}
	made := &Lease{Verdict: verdict, limiter: l, key: key, cost: settings.cost, length: leaseLength(verdict),
		over: make(chan struct{}), ended: make(chan struct{}), renewed: asked}
	made.context, made.lose = context.WithCancelCause(ctx)
	if verdict.ID == 0 {
		close(made.ended)
	} else {
		go made.renewOn()
	}
	return made, nil
}

// leaseLength is the shortest LEASE among the limits.
func leaseLength(verdict Verdict) time.Duration {
	shortest := time.Duration(0)
	for index, limit := range verdict.Limits {
		isLease := index < len(verdict.specs) && verdict.specs[index].Kind == core.KindLeases
		if isLease && (shortest == 0 || limit.Window < shortest) {
			shortest = limit.Window
		}
	}
	if shortest == 0 {
		return time.Second
	}
	return shortest
}

// Context is the one that the lease was taken with. It ends when the lease is lost or released; context.Cause is
// ErrLeaseLost then.
func (l *Lease) Context() context.Context { return l.context }

// Lost says whether the lease has ended before it was released.
func (l *Lease) Lost() bool { return errors.Is(context.Cause(l.context), ErrLeaseLost) }

// Release gives the lease back, once.
func (l *Lease) Release() {
	l.once.Do(func() {
		end := l.limiter.end()
		close(l.over)
		l.lose(context.Canceled)
		l.limiter.engine.giveBack(l.key, l.cost.All)
		if l.Verdict.ID != 0 {
			_, _, _ = l.limiter.ofID(context.WithoutCancel(l.context), end, "RL.RELEASE", l.key, l.Verdict.ID)
		}
		<-l.ended // a renewal under way began before, and so ends before
	})
}

func (l *Lease) renewOn() {
	defer close(l.ended)
	var missed time.Duration // the next pause, where weir has not answered
	for {
		select {
		case <-l.over:
			return
		case <-time.After(l.pause(missed)):
		}
		answered, runs := l.renew()
		switch {
		case !runs:
			l.lose(ErrLeaseLost)
			return
		case answered:
			missed = 0
		default:
			missed = min(max(soon, 2*missed), soonMax)
		}
	}
}

// pause is until the next renewal; none after a miss ends after the lease.
func (l *Lease) pause(missed time.Duration) time.Duration {
	third := max(time.Millisecond, l.length/renewals)
	if missed == 0 {
		return third
	}
	jittered := time.Duration(float64(missed) * (0.8 + 0.4*rand.Float64()))
	return max(0, min(jittered, third, l.length-time.Since(l.renewed)))
}

// renew answers whether weir has renewed the lease, and whether it still runs. What weir has not answered, and a fault of
// the program, loses it at its end.
func (l *Lease) renew() (answered, runs bool) {
	began := time.Now()
	permits, answered, err := l.limiter.renew(context.WithoutCancel(l.context), l.key, l.Verdict.ID)
	switch {
	case err == nil && answered && number(permits) > 0:
		l.renewed = began
		return true, true
	case err == nil && answered:
		return true, false
	}
	return false, time.Since(l.renewed) < l.length
}
