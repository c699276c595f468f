package core

import "math"

const (
	epsilon = 1e-9
	// Never is the wait for what can never be allowed.
	Never = -1.0
)

// View is what a limit says to a cost, as the integers of RL.TAKE do; times are milliseconds that are not rounded.
type View struct {
	Allowed   bool
	Limit     int64
	Remaining int64
	RetryMS   float64 // 0 when allowed, Never if it can never be allowed
	ResetMS   float64
}

// local is a process' own state of one limit. It is charged with what weir granted to this process, and decides while weir
// is away. The share is the part of the limit that this process may hand out, above 0 and at most 1.
type local interface {
	view(share, now, cost float64) View
	// charge takes without asking: what weir granted, or, with here, what this process granted.
	charge(share, now, cost float64, here bool)
	giveBack(share, now, cost float64)
	// drain makes it as if all had just been used.
	drain(share, now float64)
	// owed is what weir has to be charged with after its return.
	owed(share, now float64) int64
	// told is when weir said that the limit is full again.
	told(now, resetMS float64)
}

func newLocal(spec Spec, share, now float64) local {
	switch spec.Kind {
	case KindFixed:
		return &fixedWindow{spec: spec, end: now}
	case KindSliding:
		return &slidingWindow{spec: spec, slotMS: spec.PeriodMS / slots}
	case KindLeases:
		return &leases{spec: spec}
	}
	return &bucket{spec: spec, level: spec.Capacity * share, at: now}
}

func whole(permits float64) int64 { return int64(math.Floor(permits + epsilon)) }

// bucket is a token bucket of the share. It goes into debt down to the limit's capacity.
type bucket struct {
	spec      Spec
	level, at float64
}

func (b *bucket) refill(share, now float64) float64 {
	gained := max(0, now-b.at) * b.spec.Count * share / b.spec.PeriodMS
	b.level = min(b.spec.Capacity*share, b.level+gained)
	b.at = max(b.at, now)
	return b.level
}

func (b *bucket) view(share, now, cost float64) View {
	level, capacity := b.refill(share, now), b.spec.Capacity*share
	msEach := b.spec.PeriodMS / (b.spec.Count * share)
	if after := level - cost; cost <= 0 || after >= -epsilon {
		return View{true, whole(capacity), whole(after), 0, max(0, capacity-after) * msEach}
	}
	retry := Never
	if cost <= capacity+epsilon {
		retry = (cost - level) * msEach
	}
	return View{false, whole(capacity), whole(level), retry, max(0, capacity-level) * msEach}
}

func (b *bucket) charge(share, now, cost float64, _ bool) {
	b.level = max(b.refill(share, now)-cost, -b.spec.Capacity)
}

func (b *bucket) giveBack(share, now, cost float64) {
	b.level = min(b.refill(share, now)+cost, b.spec.Capacity*share)
}

func (b *bucket) drain(share, now float64) { b.level = min(b.refill(share, now), 0) }

// owed counts a part as a whole: each process' part that was left out would pass once more.
func (b *bucket) owed(share, now float64) int64 {
	return int64(math.Ceil(b.spec.Capacity*share - b.refill(share, now) - epsilon))
}

func (b *bucket) told(float64, float64) {}

// fixedWindow is a window whose end is weir's where weir told it. One that is over begins anew with the next use.
type fixedWindow struct {
	spec            Spec
	used, here, end float64
}

func (w *fixedWindow) roll(now float64) {
	if now >= w.end {
		w.used, w.here = 0, 0
	}
}

func (w *fixedWindow) begin(now float64) {
	w.roll(now)
	if now >= w.end {
		w.end = now + w.spec.PeriodMS
	}
}

func (w *fixedWindow) view(share, now, cost float64) View {
	w.roll(now)
	capacity, rest := w.spec.Capacity*share, max(0, w.end-now)
	if cost <= 0 || w.used+cost <= capacity+epsilon {
		if rest == 0 && cost != 0 {
			rest = w.spec.PeriodMS
		}
		return View{true, whole(capacity), whole(capacity - w.used - cost), 0, rest}
	}
	retry := Never
	if cost <= capacity+epsilon {
		retry = rest
	}
	return View{false, whole(capacity), whole(capacity - w.used), retry, rest}
}

func (w *fixedWindow) charge(_, now, cost float64, here bool) {
	if cost == 0 {
		return
	}
	w.begin(now)
	w.used += cost
	if here {
		w.here += cost
	}
}

func (w *fixedWindow) giveBack(_, now, cost float64) {
	w.roll(now)
	w.used, w.here = max(0, w.used-cost), max(0, w.here-cost)
}

func (w *fixedWindow) drain(share, now float64) {
	w.begin(now)
	w.used = max(w.used, w.spec.Capacity*share)
}

func (w *fixedWindow) owed(_, now float64) int64 {
	w.roll(now)
	return whole(w.here)
}

func (w *fixedWindow) told(now, resetMS float64) {
	if resetMS > 0 && w.used > 0 {
		w.end = now + resetMS
	}
}
