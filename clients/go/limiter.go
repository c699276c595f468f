package weir

import (
	"context"
	"fmt"
	"time"

	"weir/clients/go/internal/core"
)

// Limiter has limits under keys. Goroutines share it.
type Limiter struct {
	weir     *Weir
	engine   *engine
	observer Observer
}

// New makes a Limiter with connections of its own, of an URL as Connect takes it. The limits are those of RL.TAKE, such as
// "100/1m BURST 20", "10/1s FIXED 1000/1h" or "POLICY free".
func New(url, limits string, options ...LimiterOption) (*Limiter, error) {
	weir, err := Connect(url)
	if err != nil {
		return nil, err
	}
	return weir.Limiter(limits, options...)
}

// Limiter makes a Limiter on these connections.
func (w *Weir) Limiter(limits string, options ...LimiterOption) (*Limiter, error) {
	settings, err := limiterSettingsOf(options)
	if err != nil {
		return nil, err
	}
	engine, err := newEngine(limits, settings)
	if err != nil {
		return nil, err
	}
	made := &Limiter{w, engine, settings.observer}
	if made.observer != nil {
		made.observer.Limiter(made)
	}
	return made, nil
}

// State says whether weir is away for this limiter, since when, and what was decided where.
func (l *Limiter) State() State { return l.engine.state() }

// Weir has the connections, for other limiters and for policies.
func (l *Limiter) Weir() *Weir { return l.weir }

// Close closes the connections, which other limiters may share.
func (l *Limiter) Close() error { return l.weir.Close() }

// plan begins a call: a probe goes on beside it.
func (l *Limiter) plan(ctx context.Context, key string, cost core.Cost) (plan, error) {
	if err := endOf(ctx); err != nil {
		return plan{}, err
	}
	made, err := l.engine.plan(key, cost)
	if made.probes {
		go l.probe(made)
	}
	return made, err
}

const probeMax = time.Second

// probe is RL.PEEK of the limiter's kind; where what writes was refused, a take of nothing, which writes as well. A fault
// of the program is an answer, which is told to its next call.
func (l *Limiter) probe(made plan) {
	words := l.command("RL.PEEK", made.probeKey)
	if made.cause == core.NoWrites {
		words = l.command("RL.TAKE", made.probeKey, "COST", 0)
	}
	until := time.Now().Add(min(probeMax, 2*l.weir.deadline))
	replies := l.weir.send(context.Background(), until, [][]any{words}, false)
	l.engine.probed(made.cause, replies[0].err == nil || failureOf(replies[0].err) == "")
}

// end is by when a call that begins now has its verdict, of all that it asks.
func (l *Limiter) end() time.Time { return time.Now().Add(l.weir.deadline) }

// ask sends commands together and once more where their replies do not come, until the end. It is false where weir does
// not answer; an error of the last command is the program's, or that of the caller's context.
func (l *Limiter) ask(ctx context.Context, end time.Time, commands ...[]any) ([]reply, bool, error) {
	return l.askAndWait(ctx, end, false, commands)
}

// askAndWait may wait in weir.
func (l *Limiter) askAndWait(ctx context.Context, end time.Time, waits bool, commands [][]any) ([]reply, bool, error) {
	var failure core.Failure // "": there was no time to ask
	for left := l.weir.attempts; left > 0; left-- {
		now := time.Now()
		if !now.Before(end) {
			break
		}
		until := end
		if !waits {
			until = now.Add(end.Sub(now) / time.Duration(left))
		}
		replies := l.weir.send(ctx, until, commands, waits)
		err := replies[len(replies)-1].err
		if err == nil {
			l.engine.replied()
			return replies, true, nil
		}
		if ended := endOf(ctx); ended != nil {
			if !time.Now().Before(until) { // weir has had its time
				l.engine.failed(core.Late)
			}
			return nil, false, ended
		}
		found := failureOf(err)
		if found == "" {
			if isReply(err) {
				l.engine.replied()
			}
			return nil, false, fmt.Errorf("weir: %w", err)
		}
		failure = found
		if found == core.NoWrites {
			break
		}
	}
	if failure != "" {
		l.engine.failed(failure)
	}
	return nil, false, nil
}

// endOf is the context's error, also in the moment between its deadline and its end.
func endOf(ctx context.Context) error {
	if deadline, found := ctx.Deadline(); found && !time.Now().Before(deadline) {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}

// command has the words of a call of a key with the limiter's limits.
func (l *Limiter) command(name, key string, more ...any) []any {
	words := make([]any, 0, 2+len(l.engine.words)+len(more))
	return append(append(append(words, name, key), l.engine.words...), more...)
}
