package core

import "strings"

const (
	lateInARow   = 2
	lateOfLast   = 5
	last         = 10
	probeMS      = 1000.0
	probeLastsMS = 2000.0 // a probe of which nothing is heard for so long is no longer waited for
)

// Failure is how weir failed to answer a call; "" is that it has not failed.
type Failure string

// Failures.
const (
	Gone     Failure = "gone"      // refused, cut, or answered that it does not serve
	NoWrites Failure = "no writes" // it serves what reads: MISCONF, OOM
	Late     Failure = "late"      // nothing came in time
)

// First words of errors by which a server says that it does not serve. All others are the program's.
var failureWords = map[string]Failure{"READONLY": Gone, "MASTERDOWN": Gone, "LOADING": Gone, "CLUSTERDOWN": Gone,
	"TRYAGAIN": Gone, "BUSY": Gone, "MISCONF": NoWrites, "OOM": NoWrites}

const maxClients = "ERR max number of clients"

// FailureOfWords is what an error reply means; "" if it is a fault of the program.
func FailureOfWords(text string) Failure {
	if strings.HasPrefix(text, maxClients) {
		return Gone
	}
	word, _, _ := strings.Cut(text, " ")
	return failureWords[word]
}

// Breaker knows whether weir is there, or away since an instant for a cause.
type Breaker struct {
	Cause    Failure // "": weir is there
	SinceMS  float64
	Absences int64

	jitter    func() float64 // numbers from 0 to 1
	recent    []bool         // whether each of the last calls was late
	inARow    int
	nextProbe float64
	probing   bool
	probeAt   float64
}

// Away says whether weir counts as away.
func (b *Breaker) Away() bool { return b.Cause != "" }

func (b *Breaker) remember(late bool) {
	if len(b.recent) == last {
		b.recent = append(b.recent[:0], b.recent[1:]...)
	}
	b.recent = append(b.recent, late)
}

func (b *Breaker) answered() {
	b.remember(false)
	b.inARow = 0
}

func (b *Breaker) failed(now float64, failure Failure) bool {
	if b.Away() {
		return false
	}
	if failure == Late {
		b.remember(true)
		b.inARow++
		if b.inARow < lateInARow && b.lateOfLast() < lateOfLast {
			return false
		}
	}
	b.Cause, b.SinceMS, b.probing = failure, now, false
	b.Absences++
	b.schedule(now)
	return true
}

func (b *Breaker) lateOfLast() int {
	count := 0
	for _, late := range b.recent {
		if late {
			count++
		}
	}
	return count
}

func (b *Breaker) schedule(now float64) { b.nextProbe = now + probeMS*(0.8+0.4*b.jitter()) }

// BeginProbe says whether the caller is to probe now: one at a time, about one a second.
func (b *Breaker) BeginProbe(now float64) bool {
	lost := b.probing && now-b.probeAt >= probeLastsMS
	if !b.Away() || now < b.nextProbe || (b.probing && !lost) {
		return false
	}
	b.probing, b.probeAt = true, now
	return true
}

// Probed takes the outcome of a probe. It answers whether weir is back.
func (b *Breaker) Probed(now float64, answered bool) bool {
	if !b.Away() {
		return false
	}
	b.probing = false
	b.schedule(now)
	if answered {
		b.Cause, b.SinceMS = "", now
		b.recent, b.inARow = b.recent[:0], 0
	}
	return answered
}
