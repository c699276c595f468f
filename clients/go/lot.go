package weir

import (
	"sync"
	"time"
)

// lot is what was taken ahead for one key. One call fills it at a time.
type lot struct {
	lock    sync.Mutex
	left    int64
	taken   int64 // by the filling
	until   time.Time
	verdict Verdict       // of the filling
	filling chan struct{} // closed when it ends; nil where none is under way
	fills   int64
	size    int64 // that was asked for last

	denial      Verdict
	deniedFor   int64 // the least cost that was denied; 0: none is
	deniedSince time.Time
	deniedUntil time.Time
}

// rest of a lot, to be given back.
type rest struct {
	left, taken int64
	verdict     Verdict
}

// take is done where the lot decides. Else somebody fills it: this call if it is mine.
func (l *lot) take(cost int64, now time.Time) (verdict Verdict, done bool, filling chan struct{}, mine bool) {
	l.lock.Lock()
	defer l.lock.Unlock()
	if verdict, done = l.decide(cost, now); done {
		return verdict, true, nil, false
	}
	if l.filling != nil {
		return verdict, false, l.filling, false
	}
	l.filling = make(chan struct{})
	return verdict, false, nil, true
}

// handOut is done where the lot decides; else nobody fills it.
func (l *lot) handOut(cost int64, now time.Time) (Verdict, bool) {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.decide(cost, now)
}

// decide is done where what was taken ahead, or a denial that lasts, decides.
func (l *lot) decide(cost int64, now time.Time) (verdict Verdict, done bool) {
	if l.left >= cost && now.Before(l.until) {
		l.left -= cost
		verdict = l.verdict
		verdict.Granted = cost
		return verdict, true
	}
	if l.deniedFor > 0 && cost >= l.deniedFor && now.Before(l.deniedUntil) {
		verdict = l.denial
		if verdict.RetryAfter != Never {
			verdict.RetryAfter = max(time.Millisecond, verdict.RetryAfter-now.Sub(l.deniedSince))
		}
		return verdict, true
	}
	return Verdict{}, false
}

// begin says what to ask for: twice as much as a lot that was used up in time, and what was used of one that was not. What
// is left is taken out.
func (l *lot) begin(most, cost int64) (rest, int64) {
	l.lock.Lock()
	defer l.lock.Unlock()
	if used := l.taken - l.left; time.Now().Before(l.until) {
		l.size *= 2
	} else if used < l.size {
		l.size = used
	}
	l.size = max(1, min(l.size, most))
	return l.takeOut(), max(l.size, cost)
}

func (l *lot) takeOut() rest {
	out := rest{l.left, l.taken, l.verdict}
	l.left, l.taken = 0, 0
	return out
}

func (l *lot) put(verdict Verdict, until time.Time, used int64) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.verdict, l.taken, l.left, l.until, l.deniedFor = verdict, verdict.Granted, verdict.Granted-used, until, 0
	l.fills++
}

func (l *lot) deny(verdict Verdict, cost int64, lasts time.Duration) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.denial, l.deniedFor, l.deniedSince = verdict, max(1, cost), time.Now()
	l.deniedUntil = l.deniedSince.Add(lasts)
	l.fills++
}

func (l *lot) filled() {
	l.lock.Lock()
	defer l.lock.Unlock()
	close(l.filling)
	l.filling = nil
}

func (l *lot) number() int64 {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.fills
}

// empty takes out what is left; of a filling, if it is still that one.
func (l *lot) empty(filling *int64) rest {
	l.lock.Lock()
	defer l.lock.Unlock()
	if filling != nil && (l.fills != *filling || l.filling != nil) {
		return rest{}
	}
	return l.takeOut()
}
