// go-zero's periodlimit and tokenlimit on both servers, beside RL.TAKE of FIXED and TOKENBUCKET.
package main

import (
	"context"
	"time"

	"github.com/zeromicro/go-zero/core/limit"
	"github.com/zeromicro/go-zero/core/logx"
	"github.com/zeromicro/go-zero/core/stores/redis"

	"weir/tests/clients/report"
	"weir/tests/migrate/lockstep"
)

var (
	onRedis = redis.MustNewRedis(redis.RedisConf{Host: lockstep.RedisAddress, Type: redis.NodeType})
	onWeir  = redis.MustNewRedis(redis.RedisConf{Host: report.Address, Type: redis.NodeType})
)

const (
	unknown = -1
	// The state of the period's last permit, for which periodlimit has a word of its own.
	last = 0
)

func period(name string, store *redis.Redis, key string, options ...limit.PeriodOption) lockstep.Limiter {
	limiter := limit.NewPeriodLimit(2, 5, store, "period:", options...)
	return lockstep.Limiter{Name: name, Ask: func(int) lockstep.Answer {
		state := report.Got(limiter.Take(key))
		if state == limit.HitQuota {
			return lockstep.Answer{Admitted: true, Remaining: last}
		}
		return lockstep.Answer{Admitted: state == limit.Allowed, Remaining: unknown}
	}}
}

func periods(line string, options ...limit.PeriodOption) func() []lockstep.Limiter {
	return func() []lockstep.Limiter {
		key := lockstep.NewKey("user")
		return []lockstep.Limiter{
			period("periodlimit on Redis", onRedis, key, options...),
			period("periodlimit on weir", onWeir, key, options...),
			{Name: "RL.TAKE", Ask: func(int) lockstep.Answer {
				six := lockstep.Numbers("RL.TAKE %s %s", key, line)
				if six[0] == 1 && six[2] == 0 {
					return lockstep.Answer{Admitted: true, Remaining: last}
				}
				return lockstep.Answer{Admitted: six[0] == 1, Remaining: unknown}
			}},
		}
	}
}

func token(name string, store *redis.Redis, key string, rate, burst int) lockstep.Limiter {
	limiter := limit.NewTokenLimiter(rate, burst, store, key)
	return lockstep.Limiter{Name: name, Ask: func(cost int) lockstep.Answer {
		return lockstep.Answer{Admitted: limiter.AllowN(time.Now(), cost), Remaining: unknown}
	}}
}

// made are the keys that tokens() last made, to see that the library asked its store.
var made string

func tokens(rate, burst int) func() []lockstep.Limiter {
	return func() []lockstep.Limiter {
		key := lockstep.NewKey("token")
		made = key
		return []lockstep.Limiter{
			token("tokenlimit on Redis", onRedis, key, rate, burst),
			token("tokenlimit on weir", onWeir, key, rate, burst),
			{Name: "RL.TAKE", Ask: func(cost int) lockstep.Answer {
				six := lockstep.Numbers("RL.TAKE %s:rl TOKENBUCKET %d/1s CAPACITY %d COST %d", key, rate, burst, cost)
				return lockstep.Answer{Admitted: six[0] == 1, Remaining: unknown}
			}},
		}
	}
}

// asked: without its store, tokenlimit silently goes on with a limiter of its own process.
func asked() {
	for name, client := range map[string]interface {
		ExistsCtx(context.Context, string) (bool, error)
	}{"Redis": onRedis, "weir": onWeir} {
		if !report.Got(client.ExistsCtx(context.Background(), "{"+made+"}.tokens")) {
			report.Fail("%s was not asked", name)
		}
	}
}

// alignedLate: the expiry counts whole seconds from the first hit, so the window ends late by as much
// as that hit came after a second's beginning.
func alignedLate() {
	answers := lockstep.Play([]lockstep.Step{lockstep.At(0, 1, 5), lockstep.At(1500, 1, 1), lockstep.At(2150, 1, 1)},
		70*time.Millisecond, periods("FIXED 5/2s ALIGN EPOCH", limit.Align()),
		func() { lockstep.AtMillisecond(700, 2*time.Second) })
	for index, wanted := range []int{6, 6, 7} {
		report.Equal(lockstep.Admitted(answers[index]), wanted)
	}
	lockstep.Figure("periodlimit aligned, 5 in 2 s, used up at 0.7 s: RL.TAKE admits at 2.2 s, periodlimit at 2.85 s")
}

// boundary: tokenlimit counts in whole seconds of the caller's clock.
func boundary() {
	answers := lockstep.Play([]lockstep.Step{lockstep.At(0, 5, 1), lockstep.At(120, 5, 1)}, 80*time.Millisecond, tokens(5, 5),
		func() { lockstep.AtMillisecond(910, time.Second) })
	report.Equal([]int{lockstep.Admitted(answers[0]), lockstep.Admitted(answers[1]),
		lockstep.Admitted(answers[2])}, []int{2, 2, 1})
	lockstep.Figure("boundary: 5 a second, 5 at the end of a second and 5 more 120 ms later: " +
		"tokenlimit admits 10, RL.TAKE 5")
}

func main() {
	logx.Disable()
	report.Say("version go-zero 1.10.3")
	steps := []lockstep.Step{lockstep.At(0, 1, 7), lockstep.At(1000, 1, 1), lockstep.At(1850, 1, 1), lockstep.At(2150, 1, 6)}
	lockstep.CheckSame("periodlimit", steps, 70*time.Millisecond, periods("FIXED 5/2s"), nil)
	lockstep.CheckSame("periodlimit aligned", steps, 50*time.Millisecond,
		periods("FIXED 5/2s ALIGN EPOCH", limit.Align()),
		func() { lockstep.AtMillisecond(30, 2*time.Second) })
	lockstep.CheckSame("tokenlimit, burst of 40", []lockstep.Step{lockstep.At(0, 1, 40)}, 450*time.Millisecond,
		tokens(1, 20), func() { lockstep.AtMillisecond(300, time.Second) })
	report.Check("tokenlimit asks its store", asked)
	lockstep.CheckSame("tokenlimit by the second", []lockstep.Step{lockstep.At(0, 1, 12), lockstep.At(1040, 1, 7),
		lockstep.At(2080, 3, 2), lockstep.At(4120, 10, 1), lockstep.At(4125, 1, 1)}, 120*time.Millisecond, tokens(5, 10),
		func() { lockstep.AtMillisecond(400, time.Second) })
	report.Check("periodlimit aligned, late", alignedLate)
	report.Check("boundary", boundary)
	report.Say("done")
}
