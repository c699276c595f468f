package weir

import (
	"context"
	"errors"
	"sync"
	"time"

	"weir/clients/go/internal/core"
)

// ErrLeaseLost is the cause of the end of a lease's context.
var ErrLeaseLost = errors.New("weir: the lease has ended before it was released")

// renewals in the length of a lease.
const renewals = 3

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
	var verdict Verdict
	if settings.wait > 0 {
		verdict, err = l.acquire(ctx, key, settings.wait, settings)
		asked = time.Now()
	} else {
		verdict, err = l.take(ctx, key, settings)
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
	for _, limit := range verdict.Limits {
		if shortest == 0 || limit.Window < shortest {
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
		close(l.over)
		<-l.ended
		l.lose(context.Canceled)
		l.limiter.engine.giveBack(l.key, l.cost.All)
		if l.Verdict.ID != 0 {
			_, _, _ = l.limiter.ofID(context.WithoutCancel(l.context), "RL.RELEASE", l.key, l.Verdict.ID)
		}
	})
}

func (l *Lease) renewOn() {
	defer close(l.ended)
	ticker := time.NewTicker(max(time.Millisecond, l.length/renewals))
	defer ticker.Stop()
	for {
		select {
		case <-l.over:
			return
		case <-ticker.C:
		}
		if !l.renew() {
			l.lose(ErrLeaseLost)
			return
		}
	}
}

// renew is false if the lease has ended. It is true while weir is away and the lease still runs.
func (l *Lease) renew() bool {
	began := time.Now()
	permits, answered, err := l.limiter.ofID(context.WithoutCancel(l.context), "RL.RENEW", l.key, l.Verdict.ID)
	switch {
	case err == nil && answered && number(permits) > 0:
		l.renewed = began
		return true
	case err == nil && answered:
		return false
	}
	return time.Since(l.renewed) < l.length
}
