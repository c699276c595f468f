package weir

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"weir/clients/go/internal/core"
)

// One deadline for each call, however many requests it makes, and one ID for each of them, however often it is sent; by the
// clock of a bubble.

const (
	within = 100 * time.Millisecond
	turn   = time.Second
	depth  = 6 // requests of which each may be late or answered; those after them are late
)

// peer answers each request when its time is all but over, or not at all.
type peer struct {
	answered uint // a bit for each request
	crosses  bool // keys of RL.MTAKE are in several slots
	asked    atomic.Int64
	lock     sync.Mutex
	ids      map[string][]string // of all that charges, by what it is
}

// note keeps the ID of what charges.
func (p *peer) note(command []any) {
	name := fmt.Sprint(command[0])
	if !slices.Contains([]string{"RL.TAKE", "RL.ACQUIRE", "RL.RESERVE", "RL.MTAKE"}, name) {
		return
	}
	// A lot, which is held, and a call's own cost are two.
	what, token := fmt.Sprint(name, command[1], slices.Contains(command, any("HOLD")), command[len(command)-1]), ""
	if at := slices.Index(command, any("ID")); at >= 0 {
		token = fmt.Sprint(command[at+1])
		if at+2 == len(command) { // no last word says what it is
			what = fmt.Sprint(name, command[1], command[at-2:at])
		}
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	if !slices.Contains(p.ids[what], token) {
		p.ids[what] = append(p.ids[what], token)
	}
}

type crossSlot struct{}

func (crossSlot) Error() string { return "CROSSSLOT Keys in request don't hash to the same slot" }
func (crossSlot) RedisError()   {}

func (p *peer) send(ctx context.Context, commands [][]any) []reply {
	deadline, _ := ctx.Deadline()
	for _, command := range commands {
		p.note(command)
	}
	number := p.asked.Add(1) - 1
	if number >= depth || p.answered>>number&1 == 0 {
		<-ctx.Done()
		return failed(commands, context.DeadlineExceeded)
	}
	time.Sleep(time.Until(deadline) - time.Microsecond)
	replies := make([]reply, len(commands))
	for index, command := range commands {
		if p.crosses && command[0] == "RL.MTAKE" {
			replies[index].err = crossSlot{}
		} else {
			replies[index].value = answerTo(command)
		}
	}
	return replies
}

func (p *peer) close() error { return nil }

// answerTo says that a limit would deny a hand back of several costs, and grants what else there is.
func answerTo(command []any) any {
	key := []any{"allowed", int64(1), "limits", []any{}, "retry_ms", int64(0), "granted", int64(5), "hold", int64(7)}
	switch last := command[len(command)-1]; {
	case last == "FULL":
		return []any{"allowed", int64(1), "index", int64(-1), "keys", []any{key, key}}
	case last == "HEADERS":
		return key
	case command[0] == "RL.TAKE":
		return []any{int64(1), int64(0), int64(0), int64(0), int64(0), int64(0)}
	case command[0] == "RL.RESERVE":
		return []any{int64(0), int64(0), int64(0)}
	}
	return int64(1)
}

// owing makes a limiter that owes a hand back of keys a and b.
func owing(t *testing.T, limits string, to *peer) *Limiter {
	on := &Weir{deadline: within, attempts: 2, calls: to, waits: to}
	made, err := on.Limiter(limits)
	if err != nil {
		t.Fatal(err)
	}
	made.engine.failed(core.Gone)
	for _, cost := range []int64{1, 5} { // unknown keys begin empty
		for _, key := range []string{"a", "b"} {
			made.engine.decide(key, core.Cost{All: cost}, false, true)
		}
		time.Sleep(2 * time.Hour)
	}
	for _, key := range []string{"a", "b"} {
		if !made.engine.decide(key, core.Cost{All: 5}, false, true).Allowed {
			t.Fatal("nothing is granted here")
		}
	}
	made.engine.core.Breaker.BeginProbe(nowMS())
	made.engine.probed(core.Gone, true)
	if _, back := made.engine.core.Plan("a", nowMS(), newID); back == nil {
		t.Fatal("nothing is owed")
	}
	return made
}

var held = Verdict{Allowed: true, Source: BySelf, ID: 7}

var calls = []struct {
	name  string
	waits time.Duration
	call  func(ctx context.Context, on *Limiter) error
}{
	{"take", 0, func(ctx context.Context, on *Limiter) error { return of(on.Take(ctx, "a")) }},
	{"peek", 0, func(ctx context.Context, on *Limiter) error { return of(on.Peek(ctx, "a")) }},
	{"acquire", turn, func(ctx context.Context, on *Limiter) error { return of(on.Acquire(ctx, "a", turn)) }},
	{"reserve", 0, func(ctx context.Context, on *Limiter) error { return of(on.Reserve(ctx, "a")) }},
	{"cancel", 0, func(ctx context.Context, on *Limiter) error { return of(on.Cancel(ctx, "a", Reservation{ID: 7})) }},
	{"hold", 0, func(ctx context.Context, on *Limiter) error { return of(on.Hold(ctx, "a", 5)) }},
	{"settle", 0, func(ctx context.Context, on *Limiter) error {
		return of((&Hold{Verdict: held, limiter: on, key: "a", estimate: 5}).Settle(ctx, 3))
	}},
	{"take of lots", 0, func(ctx context.Context, on *Limiter) error {
		lots, err := on.Lots(0)
		if err != nil {
			return err
		}
		defer lots.Close()
		return of(lots.Take(ctx, "a", Cost(6)))
	}},
	{"take all", 0, func(ctx context.Context, on *Limiter) error {
		return of(TakeAll(ctx, on.Part("a", 1), on.Part("b", 1)))
	}},
}

func of[T any](_ T, err error) error {
	if denied := (*DeniedError)(nil); errors.As(err, &denied) {
		return nil
	}
	return err
}

func TestOneDeadlineAndOneID(t *testing.T) {
	for _, limits := range []string{"100/1m", "100/1m FIXED 1000/1h"} {
		for _, call := range calls {
			for _, crosses := range []bool{false, true} {
				if crosses && call.name != "take all" {
					continue
				}
				t.Run(fmt.Sprintf("%s of %s, slots %v", call.name, limits, crosses), func(t *testing.T) {
					asked := int64(0)
					for answered := range uint(1 << depth) {
						synctest.Test(t, func(t *testing.T) {
							to := &peer{answered: answered, crosses: crosses, ids: map[string][]string{}}
							on := owing(t, limits, to)
							begin := time.Now()
							if err := call.call(context.Background(), on); err != nil {
								t.Error(err)
							}
							if took := time.Since(begin) - call.waits; took > within+time.Millisecond {
								t.Errorf("%b: it took %v", answered, took)
							}
							asked = max(asked, to.asked.Load())
							time.Sleep(time.Hour) // for what goes on beside
							for what, tokens := range to.ids {
								if len(tokens) != 1 || tokens[0] == "" {
									t.Errorf("%b: %s has the IDs %q", answered, what, tokens)
								}
							}
						})
					}
					if asked < 2 {
						t.Error("nothing was asked again")
					}
				})
			}
		}
	}
}
