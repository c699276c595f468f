package weir

import (
	"context"
	"time"
)

// Observer is told of the calls of a limiter: a *weirotel.Telemetry, for OpenTelemetry, or the program's own. Goroutines share
// it.
type Observer interface {
	// Limiter is told of a limiter that is made. It should hold it by a weak pointer alone.
	Limiter(limiter *Limiter)
	// Calling is told of a call of that name before it begins. The call goes on in the context that it answers, and ends with the
	// function.
	Calling(ctx context.Context, call, key string) (context.Context, func(Outcome, error))
	// HandedOut is told of a take that a lot has decided.
	HandedOut(outcome Outcome)
}

// ByLot is the Source of what a lot has decided, as an Observer is told it.
const ByLot Source = "lot"

// Outcome is what a call has answered. What a call does not answer is nil, or "".
type Outcome struct {
	Allowed    bool
	Source     Source
	Remaining  *int64
	RetryAfter *time.Duration // nil also where that is Never
	Policy     string
}

// Observed tells the observer of the limiter's calls. The observer of the first limiter is told of a TakeAll.
func Observed(observer Observer) LimiterOption {
	return func(s *limiterSettings) { s.observer = observer }
}

type answering interface{ outcome() Outcome }

// observed makes a call, with the observer around it.
func observed[T answering](ctx context.Context, observer Observer, call, key string,
	work func(ctx context.Context) (T, error)) (T, error) {
	if observer == nil {
		return work(ctx)
	}
	ctx, ended := observer.Calling(ctx, call, key)
	made, err := work(ctx)
	if err != nil {
		ended(Outcome{}, err)
	} else {
		ended(made.outcome(), nil)
	}
	return made, err
}

func retryOf(wait time.Duration) *time.Duration {
	if wait == Never {
		return nil
	}
	return &wait
}

func (v Verdict) outcome() Outcome {
	return Outcome{Allowed: v.Allowed, Source: v.Source, Remaining: &v.Remaining, RetryAfter: retryOf(v.RetryAfter),
		Policy: v.Policy}
}

func (v Verdicts) outcome() Outcome {
	decided := v.Each[len(v.Each)-1]
	if v.Index >= 0 {
		decided = v.Each[v.Index]
	}
	return Outcome{Allowed: v.Allowed, Source: decided.Source, RetryAfter: retryOf(v.RetryAfter())}
}

func (r Reservation) outcome() Outcome { return Outcome{Allowed: r.Granted, Source: r.Source} }

// permits that came back.
type permits int64

func (p permits) outcome() Outcome { return Outcome{Allowed: p > 0} }
