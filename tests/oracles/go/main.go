// Asks golang.org/x/time/rate at instants of our own, and prints what it answers. The seed is
// fixed: the same version prints the same bytes.
package main

import (
	"fmt"
	"math/rand"
	"time"

	"golang.org/x/time/rate"
)

type sequence struct {
	random  *rand.Rand
	limiter *rate.Limiter
	start   time.Time
	atNs    int64
	stepNs  int64
	burst   int64
}

func (s *sequence) between(low, high int64) int64 { return low + s.random.Int63n(high-low+1) }

func (s *sequence) begin() {
	periods := []int64{1_000, 1_000_000, 7_777_777, 1_000_000_000, 60_000_000_000}
	periodNs := periods[s.random.Intn(len(periods))]
	count := s.between(1, 500)
	s.burst = s.between(1, 100)
	s.atNs = 0
	s.stepNs = max(1, periodNs/count)
	perSecond := float64(count) / (float64(periodNs) / 1e9)
	s.limiter = rate.NewLimiter(rate.Limit(perSecond), int(s.burst))
	fmt.Printf("limit %d %d %d\n", s.burst, count, periodNs)
}

func (s *sequence) step() {
	s.atNs += s.between(0, 2*s.stepNs)
	if s.between(0, 7) == 0 {
		s.atNs += s.between(0, 20*s.stepNs)
	}
	now := s.start.Add(time.Duration(s.atNs))
	permits := s.between(1, max(1, s.burst/4))
	if s.between(0, 2) > 0 {
		allowed := s.limiter.AllowN(now, int(permits))
		fmt.Printf("allow %d %d %t %.6f\n", s.atNs, permits, allowed, s.limiter.TokensAt(now))
		return
	}
	booking := s.limiter.ReserveN(now, int(permits))
	delay := booking.DelayFrom(now)
	cancelled := delay > 0 && s.between(0, 3) > 0
	if cancelled {
		booking.CancelAt(now)
	}
	fmt.Printf("reserve %d %d %d %t\n", s.atNs, permits, delay.Nanoseconds(), cancelled)
}

func main() {
	s := &sequence{random: rand.New(rand.NewSource(20_240_603)), start: time.Unix(1_700_000_000, 0)}
	for range 150 {
		s.begin()
		for range 50 {
			s.step()
		}
	}
}
