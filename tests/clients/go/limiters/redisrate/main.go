// redis_rate 10: GCRA in a script, the state a float in one key, the server's clock.
package main

import (
	"context"
	"time"

	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"

	"weir/tests/clients/probe"
	. "weir/tests/clients/report"
)

var (
	ctx     = context.Background()
	limiter = redis_rate.NewLimiter(connect())
	// Its intervals are whole seconds, which floats hold exactly: the figures depend on no rounding.
	hourly = redis_rate.PerHour(10)
)

func connect() redis.UniversalClient {
	return redis.NewUniversalClient(&redis.UniversalOptions{Addrs: []string{Address},
		IsClusterMode: Owners() > 0, Protocol: Protocol(), PoolSize: 32})
}

func take(key string, limit redis_rate.Limit, count int) *redis_rate.Result {
	return Got(limiter.AllowN(ctx, key, limit, count))
}

func figures() {
	first := take("figures", hourly, 1)
	Equal([]int{first.Allowed, first.Remaining, int(first.RetryAfter)}, []int{1, 9, -1})
	Between(359.9, first.ResetAfter.Seconds(), 360, "ResetAfter")
	rest := take("figures", hourly, 9)
	Equal([]int{rest.Allowed, rest.Remaining, int(rest.RetryAfter)}, []int{9, 0, -1})
	denied := take("figures", hourly, 2)
	Equal([]int{denied.Allowed, denied.Remaining}, []int{0, 0})
	Between(710, denied.RetryAfter.Seconds(), 720, "RetryAfter")
	Between(3590, denied.ResetAfter.Seconds(), 3600, "ResetAfter")
}

func atMost() {
	for _, wanted := range [][]int{{7, 3}, {3, 0}, {0, 0}} {
		result := Got(limiter.AllowAtMost(ctx, "most", hourly, 7))
		Equal([]int{result.Allowed, result.Remaining}, wanted)
	}
	Must(limiter.Reset(ctx, "most"))
	Equal(probe.Keys("rate:most"), []string{})
	Equal(take("most", hourly, 10).Remaining, 0)
}

func stored() {
	Equal(probe.Keys("*"), []string{"rate:figures", "rate:most"})
	probe.Is("rate:figures", "string", 3580, 3600)
	// The theoretical arrival time, in seconds since 2017 with a fraction.
	Between(3580, probe.Number("rate:figures")+1483228800-float64(time.Now().UnixMicro())/1e6, 3601, "stored time")
}

func window() {
	fast := redis_rate.Limit{Rate: 2, Burst: 2, Period: time.Second}
	Equal(take("window", fast, 2).Allowed, 2)
	denied := take("window", fast, 1)
	Equal(denied.Allowed, 0)
	Between(0.3, denied.RetryAfter.Seconds(), 0.5, "RetryAfter")
	time.Sleep(denied.RetryAfter + 20*time.Millisecond)
	Equal(take("window", fast, 1).Allowed, 1)
	time.Sleep(1100 * time.Millisecond)
	Equal(probe.Keys("rate:window"), []string{})
	Equal(take("window", fast, 2).Remaining, 0)
}

func concurrent() {
	Equal(probe.Admitted(8, func() (bool, error) {
		result, err := limiter.Allow(ctx, "crowd", redis_rate.PerHour(100))
		return err == nil && result.Allowed == 1, err
	}), 100)
}

func restart() {
	take("kept", hourly, 6)
	probe.Restart(func() error {
		_, err := limiter.AllowN(ctx, "other", hourly, 1)
		return err
	})
}

func kept() {
	NeedDurable()
	Equal(take("kept", hourly, 1).Remaining, 3)
	Equal(take("kept", hourly, 4).Allowed, 0)
	Equal(take("kept", hourly, 3).Allowed, 3)
}

func main() {
	Say("version %s", probe.Version("github.com/go-redis/redis_rate/v10"))
	Check("figures", figures)
	Check("at-most-reset", atMost)
	Check("stored", stored)
	Check("window", window)
	Check("concurrent", concurrent)
	Check("restart", restart)
	Check("scripts-known", probe.ScriptsKnown)
	Check("kept", kept)
	Say("done")
}
