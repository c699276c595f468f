package weir

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	mathrand "math/rand/v2"
	"strings"
	"sync"
	"time"

	"weir/clients/go/internal/core"
)

var began = time.Now()

// sinceMS is the instant of the core.
func sinceMS(at time.Time) float64 { return float64(at.Sub(began)) / float64(time.Millisecond) }

func nowMS() float64 { return sinceMS(time.Now()) }

func newID() string {
	var bytes [12]byte
	_, _ = rand.Read(bytes[:])
	return hex.EncodeToString(bytes[:])
}

// engine is one limiter's limits, its core, and what is counted of it. It sends nothing.
type engine struct {
	words  []any       // the limits as words of a request
	specs  []core.Spec // nil: a policy's
	policy string
	mode   Away
	hooks  []func(Change)

	lock    sync.Mutex
	core    *core.Core
	lastKey string
	changed time.Time
	awayFor time.Duration
	asked   int64
	here    int64
	probes  int64
}

func newEngine(limits string, settings limiterSettings) (*engine, error) {
	words := strings.Fields(limits)
	specs, err := core.Parse(words)
	if err != nil {
		return nil, fmt.Errorf("weir: %w", err)
	}
	made := &engine{specs: specs, mode: settings.away, hooks: settings.hooks, lastKey: "weir:probe", changed: time.Now()}
	for index, word := range words {
		made.words = append(made.words, word)
		if strings.EqualFold(word, "POLICY") && specs == nil && made.policy == "" && index+1 < len(words) {
			made.policy = words[index+1]
		}
	}
	made.core = core.New(specs, core.Mode(settings.away), settings.processes, settings.keysMax, mathrand.Float64)
	if settings.fallback != "" && specs == nil {
		fallback, err := core.Parse(strings.Fields(settings.fallback))
		if err != nil {
			return nil, fmt.Errorf("weir: fallback: %w", err)
		}
		made.core.Assume(fallback)
	}
	return made, nil
}

func (e *engine) state() State {
	e.lock.Lock()
	defer e.lock.Unlock()
	breaker, age := &e.core.Breaker, time.Since(e.changed)
	state := State{Away: breaker.Away(), Cause: string(breaker.Cause), For: age, AwayInAll: e.awayFor,
		Absences: breaker.Absences, Asked: e.asked, DecidedHere: e.here, Probes: e.probes, Share: e.core.Share(),
		Keys: e.core.Keys()}
	if state.Away {
		state.AwayInAll += age
	}
	return state
}

// change is made under the lock; hooks are told after it, so that they may ask for the state.
func (e *engine) change(away bool, cause core.Failure) Change {
	now := time.Now()
	made := Change{away, string(cause), now.Sub(e.changed)}
	e.changed = now
	if !away {
		e.awayFor += made.Lasted
	}
	return made
}

func (e *engine) tell(change Change) {
	for _, hook := range e.hooks {
		hook(change)
	}
}

func (e *engine) replied() {
	e.lock.Lock()
	defer e.lock.Unlock()
	e.core.Replied()
}

func (e *engine) failed(failure core.Failure) {
	e.lock.Lock()
	if !e.core.Failed(nowMS(), failure) {
		e.lock.Unlock()
		return
	}
	change := e.change(true, failure)
	e.lock.Unlock()
	e.tell(change)
}

// plan says whether weir is asked, what is handed back before, and whether a probe begins, of which cause and which key.
func (e *engine) plan(key string, cost core.Cost) (plan, error) {
	e.lock.Lock()
	defer e.lock.Unlock()
	if known := e.core.Known(); known != nil && len(cost.Each) > 0 && len(cost.Each) != len(known) {
		return plan{}, fmt.Errorf("weir: there are %d limits, got %d costs", len(known), len(cost.Each))
	}
	var made plan
	made.asks, made.back = e.core.Plan(key, nowMS(), newID)
	if made.asks {
		e.lastKey = key
	} else if e.core.Breaker.BeginProbe(nowMS()) {
		e.probes++
		made.probes, made.cause, made.probeKey = true, e.core.Breaker.Cause, e.lastKey
	}
	return made, nil
}

type plan struct {
	asks     bool
	back     *core.HandBack
	probes   bool
	cause    core.Failure
	probeKey string
}

func (e *engine) probed(cause core.Failure, answered bool) {
	e.lock.Lock()
	if !e.core.Breaker.Probed(nowMS(), answered) {
		e.lock.Unlock()
		return
	}
	change := e.change(false, cause)
	e.lock.Unlock()
	e.tell(change)
}

// learn is the verdict of a reply with FULL. The mirror is charged with what it grants.
func (e *engine) learn(key string, reply any, cost core.Cost) (Verdict, error) {
	answer, err := ofReply(reply, e.specs, cost)
	if err != nil {
		return Verdict{}, err
	}
	var granted core.Cost
	if answer.verdict.Allowed {
		granted = cost
		if len(cost.Each) == 0 {
			granted.All = answer.verdict.Granted
		}
	}
	e.lock.Lock()
	defer e.lock.Unlock()
	e.asked++
	e.core.Answered(key, nowMS(), core.Answer{Granted: granted, Specs: answer.verdict.specs, ResetsMS: answer.resetsMS,
		Blocked: &answer.blocked, BannedMS: answer.bannedMS, Callers: answer.callers})
	return answer.verdict, nil
}

// decide is a verdict without weir.
func (e *engine) decide(key string, cost core.Cost, upTo, charge bool) Verdict {
	now := nowMS()
	e.lock.Lock()
	defer e.lock.Unlock()
	if charge {
		e.here++
	}
	decision := e.core.Decide(key, cost, now, charge)
	if upTo && !decision.Allowed && decision.Index >= 0 && decision.Views[decision.Index].Remaining > 0 {
		cost = core.Cost{All: min(cost.Of(0), decision.Views[decision.Index].Remaining)}
		decision = e.core.Decide(key, cost, now, charge)
	}
	return e.ofDecision(decision, cost)
}

// book is a booking without weir, of at most such a wait (below 0: not given): whether there is one, and what a take would
// have been told.
func (e *engine) book(key string, cost core.Cost, waitMax time.Duration) (bool, Verdict) {
	waitMaxMS := float64(waitMax) / float64(time.Millisecond)
	e.lock.Lock()
	defer e.lock.Unlock()
	e.here++
	booked, decision := e.core.Book(key, cost, waitMaxMS, nowMS())
	return booked, e.ofDecision(decision, cost)
}

func (e *engine) ofDecision(decision core.Decision, cost core.Cost) Verdict {
	source := Source(e.mode)
	if e.mode == Strict {
		source = ByLocal
	}
	return ofDecision(decision, source, cost.Most(), e.policy)
}

// note is for what weir has granted in an answer without FULL.
func (e *engine) note(key string, cost core.Cost) {
	e.lock.Lock()
	defer e.lock.Unlock()
	e.asked++
	e.core.Answered(key, nowMS(), core.Answer{Granted: cost})
}

func (e *engine) charge(key string, cost core.Cost) {
	e.lock.Lock()
	defer e.lock.Unlock()
	e.core.Charge(key, cost, nowMS())
}

func (e *engine) giveBack(key string, cost int64) {
	e.lock.Lock()
	defer e.lock.Unlock()
	e.core.GiveBack(key, cost, nowMS())
}

func (e *engine) handedBack(key string, back *core.HandBack) {
	e.lock.Lock()
	defer e.lock.Unlock()
	e.core.HandedBack(key, back)
}

func (e *engine) known() []core.Spec {
	e.lock.Lock()
	defer e.lock.Unlock()
	return e.core.Known()
}
