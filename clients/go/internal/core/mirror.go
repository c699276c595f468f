package core

import (
	"container/list"
	"math"
	"slices"
)

// Cost is what a call asks of each limit: one number for all, or one for each.
type Cost struct {
	All  int64
	Each []int64
}

// Of is the cost of a limit by its index.
func (c Cost) Of(index int) int64 {
	if index < len(c.Each) {
		return c.Each[index]
	}
	return c.All
}

// Most is the largest of them.
func (c Cost) Most() int64 {
	if len(c.Each) > 0 {
		return slices.Max(c.Each)
	}
	return c.All
}

// Asks is whether it is more than nothing.
func (c Cost) Asks() bool { return c.Most() > 0 }

// HandBack is what was granted here while weir was away, and is charged before the first take after its return.
type HandBack struct {
	Costs []int64
	ID    string
}

// Decision is what all limits of a key say together.
type Decision struct {
	Allowed bool
	Index   int // of the deciding limit; -1 where there is none
	Views   []View
	Specs   []Spec
}

// entry is a key that this process uses, with its own state of every limit.
type entry struct {
	key         string
	specs       []Spec
	states      []local
	grantedHere bool
	unknown     bool      // it was first decided here, and nothing was granted: what weir answers begins it anew
	drainedIn   int64     // the absence in which it was drained, of mode strict
	handBack    *HandBack // fixed, so that it may be sent again
	blocked     bool      // the policy lets nobody through
	bannedUntil float64
}

// mirror holds the entries, at most keysMax of them; the longest unused goes first.
type mirror struct {
	keysMax int
	places  map[string]*list.Element
	order   list.List // the longest unused first
}

// find answers nil for a key that is not known, or with other limits than specs, where those are not nil.
func (m *mirror) find(key string, specs []Spec) *entry {
	place := m.places[key]
	if place == nil {
		return nil
	}
	found := place.Value.(*entry)
	if specs != nil && !slices.Equal(found.specs, specs) {
		return nil
	}
	m.order.MoveToBack(place)
	return found
}

func (m *mirror) add(key string, specs []Spec, share, now float64) *entry {
	if place := m.places[key]; place != nil {
		m.order.Remove(place)
	}
	made := &entry{key: key, specs: specs, states: make([]local, len(specs)), bannedUntil: math.Inf(-1)}
	for index, spec := range specs {
		made.states[index] = newLocal(spec, share, now)
	}
	m.places[key] = m.order.PushBack(made)
	for len(m.places) > m.keysMax {
		oldest := m.order.Remove(m.order.Front()).(*entry)
		delete(m.places, oldest.key)
	}
	return made
}

// decide charges nothing.
func (e *entry) decide(share, now float64, cost Cost) Decision {
	if e.blocked {
		return Decision{Index: -1}
	}
	decision := Decision{Allowed: true, Index: -1, Views: make([]View, len(e.states)), Specs: e.specs}
	for index, state := range e.states {
		view := state.view(share, now, float64(cost.Of(index)))
		decision.Views[index] = view
		decision.Allowed = decision.Allowed && view.Allowed
	}
	decision.Index = deciding(decision.Views)
	if rest := e.bannedUntil - now; rest > 0 && cost.Asks() && decision.Index >= 0 {
		if view := decision.Views[decision.Index]; view.Allowed || (view.RetryMS != Never && view.RetryMS < rest) {
			decision.deny(decision.Index, rest)
		}
	}
	return decision
}

// deny denies by this limit, whatever its state says.
func (d *Decision) deny(index int, retryMS float64) {
	d.Allowed, d.Index = false, index
	d.Views[index].Allowed, d.Views[index].RetryMS = false, retryMS
}

// refusedBooking: weir books of buckets alone, and the first limit that is none denies for ever. Nor does it book of a key that
// is banned. It is nil where all limits take bookings.
func (e *entry) refusedBooking(share, now float64, cost Cost) *Decision {
	if e.blocked {
		return nil
	}
	decision := e.decide(share, now, cost)
	index := slices.IndexFunc(e.specs, func(spec Spec) bool { return spec.Kind != KindBucket })
	switch {
	case index >= 0:
		decision.deny(index, Never)
	case e.bannedUntil <= now || !cost.Asks():
		return nil
	}
	return &decision
}

// deciding is a denial's longest wait, else the least that is left; the first of equals.
func deciding(views []View) int {
	chosen := -1
	for index, view := range views {
		if chosen < 0 || decidesOver(view, views[chosen]) {
			chosen = index
		}
	}
	return chosen
}

func decidesOver(view, before View) bool {
	if view.Allowed != before.Allowed {
		return before.Allowed
	}
	if view.Allowed {
		return view.Remaining < before.Remaining
	}
	return before.RetryMS != Never && (view.RetryMS == Never || view.RetryMS > before.RetryMS)
}

func (e *entry) charge(share, now float64, cost Cost, here bool) {
	for index, state := range e.states {
		state.charge(share, now, float64(cost.Of(index)), here)
	}
	if here {
		e.grantedHere, e.unknown = true, false
	}
}

func (e *entry) owed(share, now float64) []int64 {
	costs := make([]int64, len(e.states))
	for index, state := range e.states {
		costs[index] = state.owed(share, now)
	}
	return costs
}
