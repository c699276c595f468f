package core

import (
	"container/list"
	"slices"
)

// Mode is what is decided while weir is away.
type Mode string

// Modes.
const (
	Local  Mode = "local"  // the process' share of the limit, less what it has just used
	Strict Mode = "strict" // the same, as if all had been used when weir went
	Open   Mode = "open"   // everything passes
	Closed Mode = "closed" // nothing passes
)

// Core is one limiter: a state machine of calls, answers and instants. Its users lock.
type Core struct {
	Breaker Breaker

	fixed     []Spec // nil: a policy's
	seen      []Spec // of a policy: the limits that weir answered last
	blocked   bool   // of a policy: weir has let nobody through
	passes    bool   // of a policy: weir has let a key through
	mode      Mode
	processes float64 // 0: not configured
	callers   float64
	mirror    mirror
}

// New makes the core of a limiter. Of specs nil are those of a policy; processes is 0 where it is not configured.
func New(specs []Spec, mode Mode, processes float64, keysMax int, jitter func() float64) *Core {
	made := &Core{fixed: specs, seen: specs, mode: mode, processes: processes, callers: 1, Breaker: Breaker{jitter: jitter}}
	made.mirror.keysMax = keysMax
	made.mirror.places = map[string]*list.Element{}
	return made
}

// Known are the limits, of a policy as weir answered them last; nil if it has not.
func (c *Core) Known() []Spec { return c.seen }

// Assume has the limits of a policy until weir has told them.
func (c *Core) Assume(specs []Spec) { c.seen = specs }

// Keys is how many keys are mirrored.
func (c *Core) Keys() int { return len(c.mirror.places) }

// Share is the part of the limit that this process hands out while weir is away.
func (c *Core) Share() float64 {
	if c.processes > 0 {
		return 1 / max(1, c.processes)
	}
	return 1 / max(1, c.callers)
}

// Plan says how a call begins: whether weir is asked, and with which hand back before, if there is one.
func (c *Core) Plan(key string, now float64, newID func() string) (asks bool, back *HandBack) {
	if c.Breaker.Away() {
		return false, nil
	}
	found := c.mirror.find(key, c.fixed)
	if found == nil || !found.grantedHere {
		return true, nil
	}
	if found.handBack == nil {
		costs := found.owed(c.Share(), now)
		if !slices.ContainsFunc(costs, func(cost int64) bool { return cost != 0 }) {
			found.grantedHere = false
			return true, nil
		}
		found.handBack = &HandBack{costs, newID()}
	}
	return true, found.handBack
}

// HandedBack is called when weir has answered the hand back.
func (c *Core) HandedBack(key string, back *HandBack) {
	if found := c.mirror.find(key, c.fixed); found != nil && found.handBack != nil && found.handBack.ID == back.ID {
		found.handBack, found.grantedHere = nil, false
	}
}

// Answer is what weir has answered to a take.
type Answer struct {
	Granted  Cost
	Specs    []Spec    // the limits, where they are in the answer
	ResetsMS []float64 // when each limit is full again, where it is in the answer
	Blocked  *bool     // whether the policy lets nobody through; nil: not told, as in the answer of a booking
	BannedMS *float64  // for how long the key is banned; nil: not told
	Callers  *int64    // how many processes take from this policy; nil: not told
}

// Replied is called when weir has replied to a request in time, whatever it was asked.
func (c *Core) Replied() { c.Breaker.answered() }

// Answered is called when weir has answered a take.
func (c *Core) Answered(key string, now float64, answer Answer) {
	if answer.Callers != nil {
		c.callers = float64(*answer.Callers)
	}
	blocks := answer.Blocked != nil && *answer.Blocked
	if answer.Blocked != nil { // once a key was let through, it may be the override of another that lets none through
		c.passes = c.passes || !blocks
		c.blocked = !c.passes
	}
	known := c.fixed
	if known == nil && !(blocks && c.seen != nil) { // such an answer tells no limits
		known = answer.Specs
	}
	if len(known) > 0 || c.seen == nil { // where a key has no limits, that says nothing of those of other keys
		c.seen = known
	}
	found := c.mirror.find(key, known)
	if known == nil {
		known = c.seen
	}
	if known == nil {
		return
	}
	if found == nil || found.unknown {
		found = c.add(key, known, now)
	}
	if answer.Blocked != nil {
		found.blocked = *answer.Blocked
	}
	if answer.BannedMS != nil {
		found.bannedUntil = now + *answer.BannedMS
	}
	found.charge(c.Share(), now, answer.Granted, false)
	for index, state := range found.states[:min(len(found.states), len(answer.ResetsMS))] {
		state.told(now, answer.ResetsMS[index])
	}
}

// Failed is called when weir did not answer a call. It answers whether weir counts as away from now on.
func (c *Core) Failed(now float64, failure Failure) bool { return c.Breaker.failed(now, failure) }

// Decide decides a call here, after Plan said so or weir failed to answer it.
func (c *Core) Decide(key string, cost Cost, now float64, charge bool) Decision {
	switch c.mode {
	case Open:
		return Decision{Allowed: true, Index: -1}
	case Closed:
		return Decision{Index: -1}
	}
	found := c.entryAway(key, now)
	if found == nil {
		return Decision{Index: -1}
	}
	decision := found.decide(c.Share(), now, cost)
	if charge && decision.Allowed {
		c.Charge(key, cost, now)
	}
	return decision
}

// Book books here what may be used later, and answers whether it is booked. It books only where a limit says how long that
// is, and for no longer than waitMaxMS (below 0: not given): nothing where the limits are not known, nor where nothing passes,
// nor of limits of which weir books nothing.
func (c *Core) Book(key string, cost Cost, waitMaxMS, now float64) (bool, Decision) {
	if refused := c.refusedBooking(key, cost, now); refused != nil {
		return false, *refused
	}
	decision := c.Decide(key, cost, now, true)
	if decision.Allowed || decision.Index < 0 {
		return decision.Allowed, decision
	}
	wait := decision.Views[decision.Index].RetryMS
	if wait == Never || (waitMaxMS >= 0 && wait > waitMaxMS) {
		return false, decision
	}
	c.Charge(key, cost, now)
	return true, decision
}

func (c *Core) refusedBooking(key string, cost Cost, now float64) *Decision {
	if c.mode == Open || c.mode == Closed {
		return nil
	}
	found := c.entryAway(key, now)
	if found == nil {
		return nil
	}
	return found.refusedBooking(c.Share(), now, cost)
}

// Charge takes here without asking, into debt if need be.
func (c *Core) Charge(key string, cost Cost, now float64) {
	if found := c.entryAway(key, now); found != nil {
		found.charge(c.Share(), now, cost, true)
		found.handBack = nil
	}
}

// GiveBack is for what was charged and not used.
func (c *Core) GiveBack(key string, cost int64, now float64) {
	if found := c.mirror.find(key, c.fixed); found != nil {
		for _, state := range found.states {
			state.giveBack(c.Share(), now, float64(cost))
		}
	}
}

// entryAway: a key that is not in the mirror starts empty; nil if its limits are not known.
func (c *Core) entryAway(key string, now float64) *entry {
	found := c.mirror.find(key, c.fixed)
	isNew := found == nil || (found.unknown && found.blocked && !c.blocked)
	switch {
	case isNew && c.seen == nil:
		return nil
	case isNew:
		found = c.add(key, c.seen, now)
		found.unknown, found.drainedIn = true, c.Breaker.Absences
		c.drain(found, now)
	case c.mode == Strict && !c.Breaker.Away(): // one time-out, which is no absence yet
		c.drain(found, now)
	case c.mode == Strict && found.drainedIn != c.Breaker.Absences:
		found.drainedIn = c.Breaker.Absences
		c.drain(found, c.Breaker.SinceMS)
	}
	return found
}

// add: a key of a policy that lets nobody through is let through no more than those that weir has answered.
func (c *Core) add(key string, specs []Spec, now float64) *entry {
	made := c.mirror.add(key, specs, c.Share(), now)
	made.blocked = c.blocked
	return made
}

func (c *Core) drain(found *entry, now float64) {
	for _, state := range found.states {
		state.drain(c.Share(), now)
	}
}
