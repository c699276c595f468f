package core

import "math"

const slots = 20

// slidingWindow counts in slots of a twentieth of the period, each kept until its last instant has left the window.
type slidingWindow struct {
	spec   Spec
	slotMS float64
	used   []slot // the oldest first
}

type slot struct {
	number     int64
	used, here float64 // here: of used, what this process granted
}

func (w *slidingWindow) roll(now float64) float64 {
	over := 0
	for over < len(w.used) && w.ends(w.used[over]) <= now+epsilon {
		over++
	}
	w.used = append(w.used[:0], w.used[over:]...)
	sum := 0.0
	for _, each := range w.used {
		sum += each.used
	}
	return sum
}

func (w *slidingWindow) ends(each slot) float64 {
	return float64(each.number+1)*w.slotMS + w.spec.PeriodMS
}

func (w *slidingWindow) wait(now, permits float64) float64 {
	for _, each := range w.used {
		permits -= each.used
		if permits <= epsilon {
			return w.ends(each) - now
		}
	}
	return Never
}

func (w *slidingWindow) view(share, now, cost float64) View {
	used, capacity, reset := w.roll(now), w.spec.Capacity*share, 0.0
	if last := len(w.used) - 1; last >= 0 {
		reset = w.ends(w.used[last]) - now
	}
	if cost <= 0 || used+cost <= capacity+epsilon {
		if cost != 0 {
			reset = w.spec.PeriodMS
		}
		return View{true, whole(capacity), whole(capacity - used - cost), 0, reset}
	}
	retry := Never
	if cost <= capacity+epsilon {
		retry = w.wait(now, used+cost-capacity)
	}
	return View{false, whole(capacity), whole(capacity - used), retry, reset}
}

func (w *slidingWindow) charge(_, now, cost float64, here bool) {
	w.roll(now)
	mine := 0.0
	if here {
		mine = cost
	}
	number := int64(math.Floor(now / w.slotMS))
	if last := len(w.used) - 1; last >= 0 && w.used[last].number >= number {
		w.used[last].used += cost
		w.used[last].here += mine
	} else if cost != 0 {
		w.used = append(w.used, slot{number, cost, mine})
	}
}

func (w *slidingWindow) giveBack(_, now, cost float64) {
	w.roll(now)
	for len(w.used) > 0 && cost > epsilon {
		last := &w.used[len(w.used)-1]
		back := min(last.used, cost)
		cost -= back
		last.used, last.here = last.used-back, max(0, last.here-back)
		if last.used <= epsilon {
			w.used = w.used[:len(w.used)-1]
		}
	}
}

func (w *slidingWindow) drain(share, now float64) {
	if missing := w.spec.Capacity*share - w.roll(now); missing > 0 {
		w.charge(share, now, missing, false)
	}
}

func (w *slidingWindow) owed(_, now float64) int64 {
	w.roll(now)
	sum := 0.0
	for _, each := range w.used {
		sum += each.here
	}
	return whole(sum)
}

func (w *slidingWindow) told(float64, float64) {}

// leases are those that this process holds. Each ends when it is given back, or with the LEASE of the limit.
type leases struct {
	spec Spec
	held []lease // the oldest first
}

type lease struct{ end, permits float64 }

func (l *leases) roll(now float64) float64 {
	over := 0
	for over < len(l.held) && l.held[over].end <= now {
		over++
	}
	l.held = append(l.held[:0], l.held[over:]...)
	sum := 0.0
	for _, each := range l.held {
		sum += each.permits
	}
	return sum
}

func (l *leases) view(share, now, cost float64) View {
	used, capacity, reset := l.roll(now), l.spec.Capacity*share, 0.0
	if last := len(l.held) - 1; last >= 0 {
		reset = l.held[last].end - now
	}
	if cost <= 0 || used+cost <= capacity+epsilon {
		if cost != 0 {
			reset = l.spec.PeriodMS
		}
		return View{true, whole(capacity), whole(capacity - used - cost), 0, reset}
	}
	retry := Never
	if cost <= capacity+epsilon && len(l.held) > 0 {
		retry = l.held[0].end - now
	}
	return View{false, whole(capacity), whole(capacity - used), retry, reset}
}

func (l *leases) charge(_, now, cost float64, _ bool) {
	l.roll(now)
	if cost != 0 {
		l.held = append(l.held, lease{now + l.spec.PeriodMS, cost})
	}
}

func (l *leases) giveBack(_, now, cost float64) {
	l.roll(now)
	for len(l.held) > 0 && cost > epsilon {
		back := min(l.held[0].permits, cost)
		cost -= back
		l.held[0].permits -= back
		if l.held[0].permits <= epsilon {
			l.held = append(l.held[:0], l.held[1:]...)
		}
	}
}

func (l *leases) drain(share, now float64) {
	if missing := l.spec.Capacity*share - l.roll(now); missing > 0 {
		l.charge(share, now, missing, false)
	}
}

func (l *leases) owed(float64, float64) int64 { return 0 }

func (l *leases) told(float64, float64) {}
