// Package lockstep puts the same requests to several limiters at the same instants, as
// ../../python/lockstep.py does: a round in which a request came later than its margin is played
// again on new limiters.
package lockstep

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"weir/tests/clients/report"
)

// Step is some requests of one cost, so many milliseconds after the start.
type Step struct{ atMs, cost, times int }

// At is a step.
func At(ms, cost, times int) Step { return Step{ms, cost, times} }

// Limiter answers one request; what it answers is compared with what the others do.
type Limiter struct {
	Name string
	Ask  func(cost int) Answer
}

// Answer is what all limiters of a source can tell.
type Answer struct {
	Admitted  bool
	Remaining int
}

const roundsMax = 5

// RedisAddress is that of the redis-server beside.
var RedisAddress = "127.0.0.1:" + os.Getenv("MIGRATE_REDIS_PORT")

// Redis and Weir are clients of the two servers.
var (
	Redis = client(RedisAddress)
	Weir  = client(report.Address)
	keys  = 0
)

func client(address string) *redis.Client {
	return redis.NewClient(&redis.Options{Addr: address, ReadTimeout: 10 * time.Second})
}

// NewKey is a key that nobody has used.
func NewKey(name string) string {
	keys++
	return fmt.Sprintf("%s:%d", name, keys)
}

// Numbers asks weir one line as docs/migrate.md writes it, and answers its integers.
func Numbers(format string, values ...any) []int64 {
	words := []any{}
	for _, word := range strings.Fields(fmt.Sprintf(format, values...)) {
		words = append(words, word)
	}
	return report.Got(Weir.Do(context.Background(), words...).Int64Slice())
}

// Figure tells what is worth telling.
func Figure(format string, values ...any) { report.Say("figure "+format, values...) }

// Play gives the answers of each limiter. start, unless nil, waits for the right moment.
func Play(steps []Step, margin time.Duration, limiters func() []Limiter, start func()) [][]Answer {
	for range roundsMax {
		made := limiters()
		if start != nil {
			start()
		}
		if answers, ok := round(steps, margin, made); ok {
			return answers
		}
	}
	report.Fail("the machine was late by %v in each round", margin)
	return nil
}

func round(steps []Step, margin time.Duration, limiters []Limiter) ([][]Answer, bool) {
	answers := make([][]Answer, len(limiters))
	begin := time.Now()
	for _, step := range steps {
		at := begin.Add(time.Duration(step.atMs) * time.Millisecond)
		time.Sleep(time.Until(at))
		for range step.times {
			for index, limiter := range limiters {
				answers[index] = append(answers[index], limiter.Ask(step.cost))
			}
		}
		if time.Since(at) > margin {
			return nil, false
		}
	}
	return answers, true
}

// CheckSame reports whether all answer the same.
func CheckSame(name string, steps []Step, margin time.Duration, limiters func() []Limiter, start func()) {
	report.Check(name, func() {
		answers := Play(steps, margin, limiters, start)
		for index, other := range answers {
			if !reflect.DeepEqual(other, answers[0]) {
				report.Fail("%s: %v, wanted %v", limiters()[index].Name, other, answers[0])
			}
		}
		Figure("%s: %d of %d admitted, the same by all", name, Admitted(answers[0]), len(answers[0]))
	})
}

// CheckTimes is a check of times alone: a busy machine may spoil it, a fault spoils it each time.
func CheckTimes(name string, body func()) {
	report.Check(name, func() {
		for range roundsMax - 1 {
			if passes(body) {
				return
			}
		}
		body()
	})
}

func passes(body func()) (passed bool) {
	defer func() { passed = recover() == nil }()
	body()
	return
}

// Admitted counts.
func Admitted(answers []Answer) int {
	count := 0
	for _, answer := range answers {
		if answer.Admitted {
			count++
		}
	}
	return count
}

// AtMillisecond waits for the next instant so many milliseconds into `every`.
func AtMillisecond(millisecond int64, every time.Duration) {
	now := time.Now().UnixMilli()
	period := every.Milliseconds()
	time.Sleep(time.Duration(((millisecond-now)%period+period)%period) * time.Millisecond)
}
