// ulule/limiter 3: a counter of a fixed window, two scripts loaded when the store is made.
package main

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/ulule/limiter/v3"
	store "github.com/ulule/limiter/v3/drivers/store/redis"

	"weir/tests/clients/probe"
	. "weir/tests/clients/report"
)

var (
	ctx    = context.Background()
	hourly = limiter.Rate{Period: time.Hour, Limit: 5}
	made   limiter.Store
)

func build() {
	made = Got(store.NewStore(redis.NewClient(&redis.Options{Addr: Address, Protocol: Protocol(), PoolSize: 32})))
	calls, failed := probe.Calls("script|load")
	Equal([]int{calls, failed}, []int{2, 0})
}

// near wants these figures, and a reset in so many seconds.
func near(got limiter.Context, err error, remaining int64, reached bool, seconds float64) {
	Must(err)
	Equal([]any{got.Remaining, got.Reached}, []any{remaining, reached})
	Between(seconds-5, time.Until(time.Unix(got.Reset, 0)).Seconds(), seconds+1, "reset in")
}

func figures() {
	all := limiter.New(made, hourly)
	peek, err := all.Peek(ctx, "figures")
	near(peek, err, 5, false, 3600)
	for left := int64(4); left >= 0; left-- {
		got, err := all.Get(ctx, "figures")
		near(got, err, left, false, 3600)
	}
	for range 2 {
		got, err := all.Get(ctx, "figures")
		near(got, err, 0, true, 3600)
	}
	peek, err = all.Peek(ctx, "figures")
	near(peek, err, 0, true, 3600)
}

func increment() {
	all := limiter.New(made, hourly)
	got, err := all.Increment(ctx, "many", 3)
	near(got, err, 2, false, 3600)
	got, err = all.Increment(ctx, "many", 3)
	near(got, err, 0, true, 3600)
	got, err = all.Reset(ctx, "many")
	near(got, err, 5, false, 3600)
	Equal(probe.Keys("limiter:many"), []string{})
}

func stored() {
	Equal(probe.Keys("*"), []string{"limiter:figures"})
	Equal(probe.Number("limiter:figures"), 7.0)
	probe.Is("limiter:figures", "string", 3590, 3600)
}

func window() {
	fast := limiter.New(made, limiter.Rate{Period: 700 * time.Millisecond, Limit: 1})
	Equal(Got(fast.Get(ctx, "window")).Reached, false)
	Equal(Got(fast.Get(ctx, "window")).Reached, true)
	probe.Is("limiter:window", "string", 0.2, 0.7)
	time.Sleep(750 * time.Millisecond)
	Equal(Got(fast.Get(ctx, "window")).Reached, false)
}

func concurrent() {
	crowd := limiter.New(made, limiter.Rate{Period: time.Hour, Limit: 100})
	Equal(probe.Admitted(8, func() (bool, error) {
		got, err := crowd.Get(ctx, "crowd")
		return !got.Reached, err
	}), 100)
}

func restart() {
	all := limiter.New(made, hourly)
	Got(all.Increment(ctx, "kept", 3))
	probe.Restart(func() error {
		_, err := all.Get(ctx, "other")
		return err
	})
}

func kept() {
	NeedDurable()
	got, err := limiter.New(made, hourly).Get(ctx, "kept")
	near(got, err, 1, false, 3599)
	got, err = limiter.New(made, hourly).Increment(ctx, "kept", 2)
	near(got, err, 0, true, 3599)
}

func main() {
	Say("version %s", probe.Version("github.com/ulule/limiter/v3"))
	Check("load", build)
	Check("figures", figures)
	Check("increment-reset", increment)
	Check("stored", stored)
	Check("window", window)
	Check("concurrent", concurrent)
	Check("restart", restart)
	Check("scripts-known", probe.ScriptsKnown)
	Check("kept", kept)
	Say("done")
}
