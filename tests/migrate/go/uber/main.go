// The leaky bucket as a queue: go.uber.org/ratelimit in this process, without its slack, beside
// RL.ACQUIRE and RL.RESERVE of LEAKY.
package main

import (
	"time"

	"go.uber.org/ratelimit"

	"weir/tests/clients/report"
	"weir/tests/migrate/lockstep"
)

const (
	callers = 8
	lateMs  = 40
)

// departures are the instants at which so many callers leave the queue, in ms after the first.
func departures(take func()) []float64 {
	begin := time.Now()
	after := report.Together(callers, func() (float64, error) {
		take()
		return float64(time.Since(begin)) / 1e6, nil
	})
	low := after[0]
	for _, each := range after {
		low = min(low, each)
	}
	for index := range after {
		after[index] -= low
	}
	return after
}

// paced wants one departure each 100 ms.
func paced(name string, after []float64) {
	seen := make([]bool, callers)
	for _, each := range after {
		place := int(each/100 + 0.5)
		report.Between(-lateMs, each-100*float64(place), lateMs, name)
		if place >= callers || seen[place] {
			report.Fail("%s: %v is no queue", name, after)
		}
		seen[place] = true
	}
}

func pace() {
	limiter := ratelimit.New(10, ratelimit.WithoutSlack)
	paced("uber", departures(func() { limiter.Take() }))
	key := lockstep.NewKey("queue")
	paced("RL.ACQUIRE", departures(func() {
		report.Equal(lockstep.Numbers("RL.ACQUIRE %s LEAKY 10/1s CAPACITY 100 TIMEOUT 0", key)[0], int64(1))
	}))
	lockstep.Figure("pace: %d callers at once, one departure each 100 ms by both", callers)
}

// full: a queue has an end; who would stand behind it is told at once.
func full() {
	key := lockstep.NewKey("full")
	for index := range 4 {
		reply := lockstep.Numbers("RL.RESERVE %s LEAKY 10/1m CAPACITY 4", key)
		report.Equal(reply[0], int64(1))
		report.Between(-lateMs, float64(reply[1])-6000*float64(index+1), lateMs, "wait")
	}
	denied := lockstep.Numbers("RL.ACQUIRE %s LEAKY 10/1m CAPACITY 4 TIMEOUT 100", key)
	report.Equal(denied[0], int64(0))
	lockstep.Figure("full: RL.RESERVE books 6, 12, 18, 24 s; the fifth is refused")
}

func main() {
	report.Say("version go.uber.org/ratelimit 0.3.1")
	lockstep.CheckTimes("pace", pace)
	lockstep.CheckTimes("full", full)
	report.Say("done")
}
