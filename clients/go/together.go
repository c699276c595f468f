package weir

import (
	"context"
	"errors"
	"strings"
	"time"

	"weir/clients/go/internal/core"
)

// slotHold is how long what is taken of one slot waits for the others.
const slotHold = 10 * time.Second

// Part is one key of TakeAll, with its own limiter. A Cost of 0 counts as 1.
type Part struct {
	Limiter *Limiter
	Key     string
	Cost    int64
}

// Part of TakeAll.
func (l *Limiter) Part(key string, cost int64) Part { return Part{l, key, cost} }

func (p Part) cost() core.Cost { return core.Cost{All: max(1, p.Cost)} }

// Verdicts are those of several keys. Each may have fewer than there are parts where one denies over slots of a cluster.
type Verdicts struct {
	Allowed bool
	Index   int // of the deciding key; -1 if all grant
	Each    []Verdict
}

// Deciding is the verdict of the deciding key; of the one with the least left if all grant.
func (v Verdicts) Deciding() Verdict {
	if v.Index >= 0 {
		return v.Each[v.Index]
	}
	chosen := 0
	for index := range v.Each {
		if v.Each[index].Remaining < v.Each[chosen].Remaining {
			chosen = index
		}
	}
	return v.Each[chosen]
}

// RetryAfter is until the same request succeeds: 0 when allowed, Never if it never does.
func (v Verdicts) RetryAfter() time.Duration {
	if v.Allowed {
		return 0
	}
	return v.Deciding().RetryAfter
}

// Headers are the fields of HTTP of the deciding key.
func (v Verdicts) Headers() map[string]string { return v.Deciding().Headers() }

// TakeAll takes from all keys or from none, of limiters of one Weir: at most 16 parts, each key once. Over slots of a
// cluster it takes holds, and settles them when all grant; who ends in between has taken what it held, so too much is never
// granted.
func TakeAll(ctx context.Context, parts ...Part) (Verdicts, error) {
	if len(parts) == 0 {
		return Verdicts{}, errors.New("weir: TakeAll needs a part")
	}
	first := parts[0]
	return observed(ctx, first.Limiter.observer, "take_all", first.Key, func(ctx context.Context) (Verdicts, error) {
		return takeAll(ctx, parts)
	})
}

func takeAll(ctx context.Context, parts []Part) (Verdicts, error) {
	asks, end := true, parts[0].Limiter.end()
	for _, part := range parts {
		if part.Limiter.weir != parts[0].Limiter.weir {
			return Verdicts{}, errors.New("weir: TakeAll takes limiters of one Weir")
		}
		made, err := part.Limiter.plan(ctx, part.Key, part.cost())
		if err != nil {
			return Verdicts{}, err
		}
		asks = made.asks && part.Limiter.handBack(ctx, end, part.Key, made.back) && asks
	}
	if !asks {
		return decideAll(parts), nil
	}
	replies, answered, err := parts[0].Limiter.ask(ctx, end, takeAllCommand(parts))
	switch {
	case err != nil && isCrossSlot(err):
		return takeOneByOne(ctx, end, parts)
	case err != nil:
		return Verdicts{}, err
	case !answered:
		return decideAll(parts), nil
	}
	return learnAll(parts, replies[0].value)
}

func isCrossSlot(err error) bool {
	words := err.Error()
	return strings.Contains(words, "CROSSSLOT") || strings.Contains(words, "same slot")
}

func takeAllCommand(parts []Part) []any {
	command := []any{"RL.MTAKE", len(parts)}
	for _, part := range parts {
		command = append(command, part.Key)
	}
	var costs []int64
	same := true
	for _, part := range parts {
		command = append(append(command, "EACH"), part.Limiter.engine.words...)
		for range max(1, len(part.Limiter.engine.known())) {
			costs = append(costs, part.cost().All)
			same = same && costs[0] == part.cost().All
		}
	}
	if same {
		costs = costs[:1]
	}
	return append(command, "COST", costWord(core.Cost{Each: costs}), "ID", newID(), "FULL")
}

func learnAll(parts []Part, reply any) (Verdicts, error) {
	full, err := mapping(reply)
	if err != nil {
		return Verdicts{}, err
	}
	keys, _ := full["keys"].([]any)
	if len(keys) != len(parts) {
		return Verdicts{}, errors.New("weir: an answer without a verdict for each key")
	}
	for _, part := range parts[1:] { // the first one knows
		part.Limiter.engine.replied()
	}
	made := Verdicts{Allowed: number(full["allowed"]) == 1, Index: int(number(full["index"]))}
	for index, part := range parts {
		verdict, err := part.Limiter.engine.learn(part.Key, keys[index], part.cost())
		if err != nil {
			return Verdicts{}, err
		}
		made.Each = append(made.Each, verdict)
	}
	return made, nil
}

// decideAll asks all here first, and charges if all grant.
func decideAll(parts []Part) Verdicts {
	made := Verdicts{Allowed: true, Index: -1}
	for index, part := range parts {
		verdict := part.Limiter.engine.decide(part.Key, part.cost(), false, false)
		made.Each = append(made.Each, verdict)
		if verdict.Allowed {
			continue
		}
		made.Allowed = false
		if made.Index < 0 || waitsLonger(verdict, made.Each[made.Index]) {
			made.Index = index
		}
	}
	if made.Allowed {
		for index, part := range parts {
			made.Each[index] = part.Limiter.engine.decide(part.Key, part.cost(), false, true)
		}
	}
	return made
}

func waitsLonger(verdict, before Verdict) bool {
	return before.RetryAfter != Never && (verdict.RetryAfter == Never || verdict.RetryAfter > before.RetryAfter)
}

func takeOneByOne(ctx context.Context, end time.Time, parts []Part) (Verdicts, error) {
	made := Verdicts{Allowed: true, Index: -1}
	var failed error
	for index, part := range parts {
		verdict, err := part.Limiter.take(ctx, end, part.Key, callSettings{cost: part.cost(), lasts: slotHold})
		if err != nil {
			failed, made.Allowed = err, false
			break
		}
		made.Each = append(made.Each, verdict)
		if !verdict.Allowed {
			made.Allowed, made.Index = false, index
			break
		}
	}
	return made, errors.Join(failed, made.settle(context.WithoutCancel(ctx), end, parts))
}

// settle settles what is held, or gives it back where one denies. What weir does not answer by the end is sent once more
// beside the call.
func (v Verdicts) settle(ctx context.Context, end time.Time, parts []Part) error {
	var failed error
	for index, verdict := range v.Each {
		part, used := parts[index], int64(0)
		if v.Allowed {
			used = part.cost().All
		}
		if !verdict.Allowed {
			continue
		}
		done, err := part.Limiter.settle(ctx, end, part.Key, part.cost().All, used, verdict)
		if err != nil && failed == nil {
			failed = err
		}
		if err == nil && !done {
			go part.Limiter.settleThere(ctx, part.Limiter.end(), part.Key, used, verdict)
		}
	}
	return failed
}
