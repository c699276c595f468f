package weir

import (
	"context"
	"fmt"
	"time"

	"weir/clients/go/internal/core"
)

// laterMax: who waits while weir is away looks again after this at the latest.
const laterMax = 500 * time.Millisecond

// The field of a reply to SHADOW that names the limit that would deny, and what it says where none would.
const (
	shadowIndex = 5
	allAllow    = -1
)

func (s callSettings) words() []any {
	words := []any{"COST", costWord(s.cost)}
	if s.upTo {
		words = append(words, "UPTO")
	}
	if s.lasts > 0 {
		words = append(words, "HOLD", fmt.Sprintf("%dms", max(1, s.lasts.Milliseconds())))
	}
	return words
}

func (s callSettings) token() string {
	if s.id != "" {
		return s.id
	}
	return newID()
}

// Take takes from all limits of the key, or from none, and answers at once. Options: Cost, Costs, UpTo, ID.
func (l *Limiter) Take(ctx context.Context, key string, options ...CallOption) (Verdict, error) {
	settings, err := callSettingsOf("Take", options, "Cost", "Costs", "UpTo", "ID")
	if err != nil {
		return Verdict{}, err
	}
	return observed(ctx, l.observer, "take", key, func(ctx context.Context) (Verdict, error) {
		return l.take(ctx, l.end(), key, settings)
	})
}

func (l *Limiter) take(ctx context.Context, end time.Time, key string, settings callSettings) (Verdict, error) {
	made, err := l.plan(ctx, key, settings.cost)
	if err != nil {
		return Verdict{}, err
	}
	if !made.asks {
		return l.engine.decide(key, settings.cost, settings.upTo, true), nil
	}
	command := l.command("RL.TAKE", key, append(settings.words(), "ID", settings.token(), "HEADERS")...)
	var replies []reply
	var answered bool
	if made.back == nil {
		replies, answered, err = l.ask(ctx, end, command)
	} else {
		replies, answered, err = l.ask(ctx, end, l.handBackCommand(key, made.back), command)
	}
	if err != nil {
		return Verdict{}, err
	}
	if !answered {
		return l.engine.decide(key, settings.cost, settings.upTo, true), nil
	}
	if made.back != nil && replies[0].err == nil {
		_ = l.handedBack(ctx, end, key, made.back, replies[0].value)
	}
	return l.engine.learn(key, replies[len(replies)-1].value, settings.cost)
}

// handBackCommand charges by SHADOW what is there, and is never counted as a denial, which could ban the key.
func (l *Limiter) handBackCommand(key string, back *core.HandBack) []any {
	if len(back.Costs) == 1 {
		return l.command("RL.TAKE", key, "COST", back.Costs[0], "UPTO", "SHADOW", "ID", back.ID)
	}
	return l.command("RL.TAKE", key, "COST", costWord(core.Cost{Each: back.Costs}), "SHADOW", "ID", back.ID)
}

// handBack goes in a request of its own before a call that is no take, and within its time. It is false where weir does not
// answer: then it is not asked for more, which it would grant beside what was granted here.
func (l *Limiter) handBack(ctx context.Context, end time.Time, key string, back *core.HandBack) bool {
	if back == nil {
		return true
	}
	replies, answered, err := l.ask(ctx, end, l.handBackCommand(key, back))
	if err != nil || !answered {
		return err != nil // which the call is told as well
	}
	return l.handedBack(ctx, end, key, back, replies[0].value)
}

// handedBack: of several limits each has its own cost, all or none. Denied, all are charged with the most, up to what is
// there.
func (l *Limiter) handedBack(ctx context.Context, end time.Time, key string, back *core.HandBack, reply any) bool {
	fields, err := numbers(reply, shadowIndex+1)
	if len(back.Costs) > 1 && (err != nil || fields[shadowIndex] != allAllow) {
		most := core.Cost{Each: back.Costs}.Most()
		_, answered, err := l.ask(ctx, end, l.command("RL.TAKE", key, "COST", most, "UPTO", "SHADOW", "ID", back.ID+"u"))
		if err != nil || !answered {
			return err != nil
		}
	}
	l.engine.handedBack(key, back)
	return true
}

// Peek is the verdict that Take would give, and changes nothing. Options: Cost, Costs.
func (l *Limiter) Peek(ctx context.Context, key string, options ...CallOption) (Verdict, error) {
	settings, err := callSettingsOf("Peek", options, "Cost", "Costs")
	if err != nil {
		return Verdict{}, err
	}
	return observed(ctx, l.observer, "peek", key, func(ctx context.Context) (Verdict, error) {
		return l.peek(ctx, key, settings)
	})
}

func (l *Limiter) peek(ctx context.Context, key string, settings callSettings) (Verdict, error) {
	made, err := l.plan(ctx, key, settings.cost)
	if err != nil {
		return Verdict{}, err
	}
	if made.asks {
		replies, answered, err := l.ask(ctx, l.end(), l.command("RL.PEEK", key, "COST", costWord(settings.cost), "HEADERS"))
		if err != nil {
			return Verdict{}, err
		}
		if answered {
			found, err := ofReply(replies[0].value, l.engine.specs, settings.cost)
			return found.verdict, err
		}
	}
	return l.engine.decide(key, settings.cost, false, false), nil
}

// Acquire waits for its turn, at most the timeout and until the context's deadline: in weir, on a connection of its own,
// or here while weir is away. Options: Cost, Costs, ID.
func (l *Limiter) Acquire(ctx context.Context, key string, timeout time.Duration, options ...CallOption) (Verdict, error) {
	settings, err := callSettingsOf("Acquire", options, "Cost", "Costs", "ID")
	if err != nil {
		return Verdict{}, err
	}
	return observed(ctx, l.observer, "acquire", key, func(ctx context.Context) (Verdict, error) {
		return l.acquire(ctx, key, timeout, settings)
	})
}

func (l *Limiter) acquire(ctx context.Context, key string, timeout time.Duration, settings callSettings) (Verdict, error) {
	turn := time.Now().Add(timeout) // by when it is to be its turn
	if deadline, found := ctx.Deadline(); found && deadline.Before(turn) {
		turn = deadline
	}
	end := turn.Add(l.weir.deadline)
	settings.id = settings.token()
	for {
		made, err := l.plan(ctx, key, settings.cost)
		if err != nil {
			return Verdict{}, err
		}
		if made.asks && l.handBack(ctx, earlier(end, l.end()), key, made.back) {
			verdict, answered, err := l.acquireThere(ctx, end, key, max(0, time.Until(turn)), settings)
			if answered || err != nil {
				return verdict, err
			}
		}
		verdict := l.engine.decide(key, settings.cost, false, true)
		left := time.Until(turn)
		if verdict.Allowed || verdict.RetryAfter == Never || left <= 0 || verdict.RetryAfter > left {
			return verdict, nil
		}
		select {
		case <-ctx.Done():
			return Verdict{}, ctx.Err()
		case <-time.After(min(left, verdict.RetryAfter, laterMax)):
		}
	}
}

func earlier(one, other time.Time) time.Time {
	if one.Before(other) {
		return one
	}
	return other
}

func (l *Limiter) acquireThere(ctx context.Context, end time.Time, key string, left time.Duration,
	settings callSettings) (Verdict, bool, error) {
	words := append(settings.words(), "TIMEOUT", max(1, left.Round(time.Millisecond).Milliseconds()), "ID", settings.id, "HEADERS")
	replies, answered, err := l.askAndWait(ctx, end, true, [][]any{l.command("RL.ACQUIRE", key, words...)})
	if err != nil || !answered {
		return Verdict{}, false, err
	}
	verdict, err := l.engine.learn(key, replies[0].value, settings.cost)
	return verdict, err == nil, err
}

// Reservation is a booking: it may be used after Wait. The Wait of a denial is what it would have been, Never for ever.
type Reservation struct {
	Granted bool
	Wait    time.Duration
	ID      int64 // 0 where weir has not booked it
	Source  Source
}

// Reserve books now what may be used later, and answers at once. Options: Cost, MaxWait, ID.
func (l *Limiter) Reserve(ctx context.Context, key string, options ...CallOption) (Reservation, error) {
	settings, err := callSettingsOf("Reserve", options, "Cost", "MaxWait", "ID")
	if err != nil {
		return Reservation{}, err
	}
	return observed(ctx, l.observer, "reserve", key, func(ctx context.Context) (Reservation, error) {
		return l.reserve(ctx, key, settings)
	})
}

func (l *Limiter) reserve(ctx context.Context, key string, settings callSettings) (Reservation, error) {
	end := l.end()
	made, err := l.plan(ctx, key, settings.cost)
	if err != nil {
		return Reservation{}, err
	}
	if made.asks && l.handBack(ctx, end, key, made.back) {
		words := settings.words()
		if settings.wait >= 0 {
			words = append(words, "MAXWAIT", settings.wait.Milliseconds())
		}
		replies, answered, err := l.ask(ctx, end, l.command("RL.RESERVE", key, append(words, "ID", settings.token())...))
		if err != nil {
			return Reservation{}, err
		}
		if answered {
			return l.reserved(key, replies[0].value, settings.cost)
		}
	}
	booked, verdict := l.engine.book(key, settings.cost, settings.wait)
	return Reservation{booked, verdict.RetryAfter, 0, verdict.Source}, nil
}

func (l *Limiter) reserved(key string, reply any, cost core.Cost) (Reservation, error) {
	fields, err := numbers(reply, 3)
	if err != nil {
		return Reservation{}, err
	}
	if fields[0] == 1 {
		l.engine.note(key, cost)
	} else {
		l.engine.note(key, core.Cost{})
	}
	return Reservation{fields[0] == 1, duration(float64(fields[1])), fields[2], BySelf}, nil
}

// Cancel gives a booking back. It answers how many permits came back: none where it was not weir's, or weir is away.
func (l *Limiter) Cancel(ctx context.Context, key string, booking Reservation) (int64, error) {
	if booking.ID == 0 {
		return 0, nil
	}
	back, err := observed(ctx, l.observer, "cancel", key, func(ctx context.Context) (permits, error) {
		reply, _, err := l.ofID(ctx, l.end(), "RL.CANCEL", key, booking.ID)
		return permits(number(reply)), err
	})
	return int64(back), err
}

// ofID is RL.SETTLE, RL.CANCEL or RL.RELEASE, each of which may be sent again. It is false where weir does not answer.
func (l *Limiter) ofID(ctx context.Context, end time.Time, name, key string, id int64, more ...any) (any, bool, error) {
	made, err := l.plan(ctx, key, core.Cost{})
	if err != nil || !made.asks {
		return nil, false, err
	}
	return l.askOfID(ctx, end, append([]any{name, key, id}, more...))
}

// renew is asked while weir is away, too, for a lease does not wait for the next probe.
func (l *Limiter) renew(ctx context.Context, key string, id int64) (any, bool, error) {
	end := l.end()
	if _, err := l.plan(ctx, key, core.Cost{}); err != nil { // for a probe
		return nil, false, err
	}
	return l.askOfID(ctx, end, []any{"RL.RENEW", key, id})
}

func (l *Limiter) askOfID(ctx context.Context, end time.Time, command []any) (any, bool, error) {
	replies, answered, err := l.ask(ctx, end, command)
	if err != nil || !answered {
		return nil, false, err
	}
	return replies[0].value, true, nil
}
