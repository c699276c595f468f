// redis_rate on both servers, beside RL.TAKE of GCRA.
package main

import (
	"context"
	"time"

	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"

	"weir/tests/clients/report"
	"weir/tests/migrate/lockstep"
)

const lateMs = 30

var ctx = context.Background()

// answer: what is left is compared where something was granted; else redis_rate always says 0.
func answer(admitted bool, remaining int) lockstep.Answer {
	if !admitted {
		remaining = 0
	}
	return lockstep.Answer{Admitted: admitted, Remaining: remaining}
}

func library(name string, client *redis.Client, key string, limit redis_rate.Limit) lockstep.Limiter {
	limiter := redis_rate.NewLimiter(client)
	return lockstep.Limiter{Name: name, Ask: func(cost int) lockstep.Answer {
		result := report.Got(limiter.AllowN(ctx, key, limit, cost))
		return answer(result.Allowed > 0, result.Remaining)
	}}
}

// limiters: `line` is the limit as the page writes it.
func limiters(limit redis_rate.Limit, line string) func() []lockstep.Limiter {
	return func() []lockstep.Limiter {
		key := lockstep.NewKey("rate")
		return []lockstep.Limiter{
			library("redis_rate on Redis", lockstep.Redis, key, limit),
			library("redis_rate on weir", lockstep.Weir, key, limit),
			{Name: "RL.TAKE", Ask: func(cost int) lockstep.Answer {
				six := lockstep.Numbers("RL.TAKE %s %s COST %d", key, line, cost)
				return answer(six[0] == 1, int(six[2]))
			}},
		}
	}
}

// times compares RetryAfter and ResetAfter, allowed and denied, and AllowAtMost with UPTO.
func times() {
	limit := redis_rate.Limit{Rate: 5, Burst: 5, Period: time.Second}
	key, largest := lockstep.NewKey("times"), 0.0
	limiter := redis_rate.NewLimiter(lockstep.Redis)
	near := func(what string, got int64, wanted time.Duration) {
		off := float64(got) - float64(wanted)/1e6
		report.Between(-lateMs, off, lateMs, what)
		largest = max(largest, off, -off)
	}
	for range 7 {
		result := report.Got(limiter.Allow(ctx, key, limit))
		six := lockstep.Numbers("RL.TAKE %s GCRA 5/1s BURST 4", key)
		report.Equal(six[0] == 1, result.Allowed == 1)
		near("RetryAfter", six[3], max(0, result.RetryAfter))
		near("ResetAfter", six[4], result.ResetAfter)
	}
	lockstep.Figure("RetryAfter, ResetAfter: at most %.0f ms apart", largest)
}

func atMost() {
	limit := redis_rate.Limit{Rate: 10, Burst: 10, Period: time.Hour}
	key := lockstep.NewKey("most")
	limiter := redis_rate.NewLimiter(lockstep.Redis)
	for _, cost := range []int{7, 7, 7} {
		result := report.Got(limiter.AllowAtMost(ctx, key, limit, cost))
		seven := lockstep.Numbers("RL.TAKE %s GCRA 10/1h BURST 9 COST %d UPTO", key, cost)
		report.Equal(int(seven[6]), result.Allowed)
		report.Equal(int(seven[2]), result.Remaining)
	}
	report.Must(limiter.Reset(ctx, key))
	report.Must(lockstep.Weir.Do(ctx, "RL.RESET", key).Err())
	report.Equal(report.Got(limiter.AllowN(ctx, key, limit, 10)).Allowed, 10)
	report.Equal(lockstep.Numbers("RL.TAKE %s GCRA 10/1h BURST 9 COST 10", key)[0], int64(1))
	lockstep.Figure("AllowAtMost of 7, 7, 7 from 10, Reset: the same")
}

// never: more than the burst can never be had; redis_rate names a wait all the same.
func never() {
	limit := redis_rate.Limit{Rate: 5, Burst: 5, Period: time.Second}
	key := lockstep.NewKey("never")
	result := report.Got(redis_rate.NewLimiter(lockstep.Redis).AllowN(ctx, key, limit, 6))
	report.Equal(result.Allowed, 0)
	report.Between(1, float64(result.RetryAfter), 1e9, "RetryAfter in ns")
	report.Equal(lockstep.Numbers("RL.TAKE %s GCRA 5/1s BURST 4 COST 6", key)[3], int64(-1))
	lockstep.Figure("6 of a burst of 5: redis_rate says again in %v, RL.TAKE says never", result.RetryAfter)
}

func main() {
	report.Say("version redis_rate 10.0.1")
	lockstep.CheckSame("burst of 40", []lockstep.Step{lockstep.At(0, 1, 40)}, 10*time.Second,
		limiters(redis_rate.Limit{Rate: 20, Burst: 20, Period: time.Hour}, "GCRA 20/1h BURST 19"), nil)
	lockstep.CheckSame("paced", []lockstep.Step{lockstep.At(0, 1, 7), lockstep.At(600, 1, 2), lockstep.At(1000, 1, 1), lockstep.At(1800, 3, 1),
		lockstep.At(2200, 1, 1), lockstep.At(3800, 5, 1), lockstep.At(4400, 1, 2)}, 140*time.Millisecond,
		limiters(redis_rate.Limit{Rate: 5, Burst: 5, Period: 2 * time.Second}, "GCRA 5/2s BURST 4"), nil)
	lockstep.CheckTimes("times", times)
	report.Check("AllowAtMost, Reset", atMost)
	report.Check("never", never)
	report.Say("done")
}
