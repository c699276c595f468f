package weir

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"weir/clients/go/internal/core"
)

// defaultBlock is the time for which a lot is to last.
const defaultBlock = 50 * time.Millisecond

// Lots hand out in the process what they have taken ahead of weir: for limits above what a round trip a call carries. In
// sum they are exact, since all that they hand out was granted before. A permit is used at most two blocks after it was
// taken, and what is left of a lot then is given back.
type Lots struct {
	limiter *Limiter
	block   time.Duration
	lock    sync.RWMutex
	lots    map[string]*lot
	closed  bool
}

// Lots makes lots of a limiter, in blocks of so much time: 50 ms for 0. A lot is never more than the limit gains in a block,
// nor than half its capacity, so of a small limit each call asks weir. A limit of CONCURRENCY has none.
func (l *Limiter) Lots(block time.Duration) (*Lots, error) {
	if slices.ContainsFunc(l.engine.specs, func(spec core.Spec) bool { return spec.Kind == core.KindLeases }) {
		return nil, errors.New("weir: leases of CONCURRENCY come one by one, not in lots")
	}
	if block <= 0 {
		block = defaultBlock
	}
	return &Lots{limiter: l, block: block, lots: map[string]*lot{}}, nil
}

// Take takes from the process' lot, and fills it where it has run out. Other fields of the verdict than Allowed, Granted
// and RetryAfter are as of the last filling. Option: Cost.
func (l *Lots) Take(ctx context.Context, key string, options ...CallOption) (Verdict, error) {
	cost := int64(1)
	if len(options) > 0 {
		settings, err := callSettingsOf("Take of lots", options, "Cost")
		if err != nil {
			return Verdict{}, err
		}
		cost = settings.cost.All
	}
	observer := l.limiter.observer
	if observer == nil {
		return l.take(ctx, key, cost)
	}
	if lot, err := l.lotOf(key); err == nil {
		if verdict, done := lot.handOut(cost, time.Now()); done {
			observer.HandedOut(byLot(verdict))
			return verdict, nil
		}
	}
	return observed(ctx, observer, "take", key, func(ctx context.Context) (Verdict, error) { return l.take(ctx, key, cost) })
}

func byLot(verdict Verdict) Outcome {
	outcome := verdict.outcome()
	outcome.Source = ByLot
	return outcome
}

func (l *Lots) take(ctx context.Context, key string, cost int64) (Verdict, error) {
	var end time.Time // of a call that its lot does not decide
	for {
		lot, err := l.lotOf(key)
		if err != nil {
			return Verdict{}, err
		}
		now := time.Now()
		verdict, done, filling, mine := lot.take(cost, now)
		if end.IsZero() && !done {
			end = now.Add(l.limiter.weir.deadline)
		}
		switch {
		case done:
			return verdict, nil
		case mine:
			return l.fill(ctx, end, key, lot, cost)
		case now.Before(end):
			timer := time.NewTimer(end.Sub(now))
			select {
			case <-filling:
			case <-timer.C:
			case <-ctx.Done():
				timer.Stop()
				return Verdict{}, ctx.Err()
			}
			timer.Stop()
		default: // as a call that weir has not answered in time
			return l.limiter.engine.decide(key, core.Cost{All: cost}, false, true), nil
		}
	}
}

// Close gives back what is left of all lots. Takes after it are errors.
func (l *Lots) Close() {
	l.lock.Lock()
	l.closed = true
	lots := l.lots
	l.lots = map[string]*lot{}
	l.lock.Unlock()
	for key, lot := range lots {
		l.giveBack(key, lot.empty(nil))
	}
}

func (l *Lots) lotOf(key string) (*lot, error) {
	l.lock.RLock()
	found := l.lots[key]
	l.lock.RUnlock()
	if found != nil {
		return found, nil
	}
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.closed {
		return nil, errors.New("weir: the lots are closed")
	}
	if l.lots[key] == nil {
		l.lots[key] = &lot{size: 1}
	}
	return l.lots[key], nil
}

// fill takes a lot, of which the call takes its cost.
func (l *Lots) fill(ctx context.Context, end time.Time, key string, lot *lot, cost int64) (Verdict, error) {
	rest, size := lot.begin(l.sizeMax(), cost)
	defer lot.filled()
	l.giveBack(key, rest)
	asked := time.Now()
	settings := callSettings{cost: core.Cost{All: size}, upTo: size > cost, lasts: max(time.Second, 8*l.block)}
	verdict, err := l.limiter.take(ctx, end, key, settings)
	if err != nil {
		return Verdict{}, err
	}
	defer l.watch(key, lot, 2*l.block)
	if verdict.Allowed && verdict.Granted < cost { // too little for this call: it goes to the next ones
		lot.put(verdict, asked.Add(l.lasts(verdict)), 0)
		return l.limiter.take(ctx, end, key, callSettings{cost: core.Cost{All: cost}})
	}
	if !verdict.Allowed {
		lasts := l.block
		if verdict.RetryAfter != Never {
			lasts = min(lasts, verdict.RetryAfter)
		}
		lot.deny(verdict, cost, lasts)
		return verdict, nil
	}
	lot.put(verdict, asked.Add(l.lasts(verdict)), cost)
	verdict.Granted = cost
	return verdict, nil
}

// lasts is how long a lot may be used: not beyond the window that it was taken from.
func (l *Lots) lasts(verdict Verdict) time.Duration {
	lasts := 2 * l.block
	for index, spec := range verdict.specs {
		if spec.Kind == core.KindFixed && index < len(verdict.Limits) && verdict.Limits[index].ResetAfter > 0 {
			lasts = min(lasts, verdict.Limits[index].ResetAfter)
		}
	}
	return lasts
}

// sizeMax is the least that any of the limits gains in a block, or half its capacity, or 1.
func (l *Lots) sizeMax() int64 {
	most := 0.0
	for index, spec := range l.limiter.engine.known() {
		size := min(spec.Count*float64(l.block)/float64(time.Millisecond)/spec.PeriodMS, spec.Capacity/2)
		if index == 0 || size < most {
			most = size
		}
	}
	return max(1, int64(most))
}

// watch gives back what is left of a lot when its time is over, and forgets a key of which nothing was asked since.
func (l *Lots) watch(key string, lot *lot, after time.Duration) {
	filling := lot.number()
	time.AfterFunc(after, func() {
		if lot.number() != filling {
			return
		}
		l.lock.Lock()
		if l.lots[key] == lot {
			delete(l.lots, key)
		}
		l.lock.Unlock()
		l.giveBack(key, lot.empty(&filling))
	})
}

func (l *Lots) giveBack(key string, rest rest) {
	if rest.left <= 0 {
		return
	}
	go func() {
		_, _ = l.limiter.settle(context.Background(), l.limiter.end(), key, rest.taken, rest.taken-rest.left, rest.verdict)
	}()
}
