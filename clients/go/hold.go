package weir

import (
	"context"
	"sync"
	"time"

	"weir/clients/go/internal/core"
)

// Hold is an estimate that was taken and is settled with what was used.
//
//	hold, err := limiter.Hold(ctx, "llm:7", 4000)
//	if err != nil {
//		return err
//	}
//	defer hold.Cancel(ctx) // after Settle it does nothing
//	...
//	hold.Settle(ctx, 3127)
type Hold struct {
	Verdict Verdict

	limiter  *Limiter
	key      string
	estimate int64
	lock     sync.Mutex
	settled  bool
}

// Hold takes an estimate. It answers a *DeniedError if there is not enough. Options: Lasts, ID.
func (l *Limiter) Hold(ctx context.Context, key string, estimate int64, options ...CallOption) (*Hold, error) {
	settings, err := callSettingsOf("Hold", append(options[:len(options):len(options)], Cost(estimate)), "Cost", "Lasts", "ID")
	if err != nil {
		return nil, err
	}
	if settings.lasts <= 0 {
		settings.lasts = time.Minute
	}
	verdict, err := observed(ctx, l.observer, "hold", key, func(ctx context.Context) (Verdict, error) {
		return l.take(ctx, l.end(), key, settings)
	})
	if err != nil {
		return nil, err
	}
	if !verdict.Allowed {
		return nil, &DeniedError{verdict}
	}
	return &Hold{Verdict: verdict, limiter: l, key: key, estimate: estimate}, nil
}

// Settle charges what was used in place of the estimate. It is false if weir did not get to know: then the estimate stays
// charged. It is sent also where the context has ended, and does nothing the second time.
func (h *Hold) Settle(ctx context.Context, used int64) (bool, error) {
	h.lock.Lock()
	done := h.settled
	h.settled = true
	h.lock.Unlock()
	if done {
		return true, nil
	}
	return h.limiter.settle(context.WithoutCancel(ctx), h.limiter.end(), h.key, h.estimate, used, h.Verdict)
}

// Cancel gives the estimate back, unless the hold is settled.
func (h *Hold) Cancel(ctx context.Context) (bool, error) { return h.Settle(ctx, 0) }

// settle makes of an estimate what was used. It is false if weir did not get to know.
func (l *Limiter) settle(ctx context.Context, end time.Time, key string, estimate, used int64,
	verdict Verdict) (bool, error) {
	if used < estimate {
		l.engine.giveBack(key, estimate-used)
	}
	if verdict.Source != BySelf {
		if used > estimate {
			l.engine.charge(key, core.Cost{All: used - estimate})
		}
		return true, nil
	}
	return l.settleThere(ctx, end, key, used, verdict)
}

func (l *Limiter) settleThere(ctx context.Context, end time.Time, key string, used int64, verdict Verdict) (bool, error) {
	switch {
	case verdict.ID == 0:
		return true, nil
	case used == 0:
		_, answered, err := l.ofID(ctx, end, "RL.CANCEL", key, verdict.ID)
		return answered, err
	}
	_, answered, err := l.ofID(ctx, end, "RL.SETTLE", key, verdict.ID, used)
	return answered, err
}
