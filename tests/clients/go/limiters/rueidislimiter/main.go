// rueidislimiter 1: a counter and its window's end in two keys of one hash tag, by one script; the
// client's clock.
package main

import (
	"context"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislimiter"

	"weir/tests/clients/probe"
	. "weir/tests/clients/report"
)

var (
	ctx    = context.Background()
	hourly rueidislimiter.RateLimiterClient
)

func made(limit int, window time.Duration) rueidislimiter.RateLimiterClient {
	return Got(rueidislimiter.NewRateLimiter(rueidislimiter.RateLimiterOption{
		ClientOption: rueidis.ClientOption{InitAddress: []string{Address},
			AlwaysRESP2: Protocol() == 2, DisableCache: Protocol() == 2},
		Limit: limit, Window: window}))
}

// near wants these figures, and a reset in about an hour.
func near(got rueidislimiter.Result, allowed bool, remaining int64) {
	Equal([]any{got.Allowed, got.Remaining}, []any{allowed, remaining})
	Between(3590, time.Until(time.UnixMilli(got.ResetAtMs)).Seconds(), 3600, "reset in")
}

func figures() {
	near(Got(hourly.Check(ctx, "figures")), true, 5)
	near(Got(hourly.AllowN(ctx, "figures", 3)), true, 2)
	near(Got(hourly.Allow(ctx, "figures")), true, 1)
	near(Got(hourly.Allow(ctx, "figures")), true, 0)
	near(Got(hourly.Check(ctx, "figures")), false, 0)
	near(Got(hourly.Allow(ctx, "figures")), false, 0)
	near(Got(hourly.Check(ctx, "figures", rueidislimiter.WithCustomRateLimit(10, time.Hour))), true, 4)
	Equal(hourly.Limit(), 5)
}

func stored() {
	Equal(probe.Keys("*"), []string{"rueidislimiter:{figures}", "rueidislimiter:{figures}:ex"})
	Equal(probe.Number("rueidislimiter:{figures}"), 6.0)
	probe.Is("rueidislimiter:{figures}", "string", 3590, 3601)
	probe.Is("rueidislimiter:{figures}:ex", "string", 3590, 3601)
	end := probe.Number("rueidislimiter:{figures}:ex")/1e3 - float64(time.Now().UnixMilli())/1e3
	Between(3590, end, 3600, "stored end")
}

func window() {
	fast := rueidislimiter.WithCustomRateLimit(1, 700*time.Millisecond)
	Equal(Got(hourly.Allow(ctx, "window", fast)).Allowed, true)
	denied := Got(hourly.Allow(ctx, "window", fast))
	Equal(denied.Allowed, false)
	time.Sleep(time.Until(time.UnixMilli(denied.ResetAtMs)) + 30*time.Millisecond)
	Equal(Got(hourly.Allow(ctx, "window", fast)).Allowed, true)
}

func concurrent() {
	crowd := made(100, time.Hour)
	Equal(probe.Admitted(8, func() (bool, error) {
		got, err := crowd.Allow(ctx, "crowd")
		return got.Allowed, err
	}), 100)
}

func restart() {
	Got(hourly.AllowN(ctx, "kept", 3))
	probe.Restart(func() error {
		_, err := hourly.Allow(ctx, "other")
		return err
	})
}

func kept() {
	NeedDurable()
	got := Got(hourly.Allow(ctx, "kept"))
	Equal([]any{got.Allowed, got.Remaining}, []any{true, int64(1)})
	Equal(Got(hourly.AllowN(ctx, "kept", 2)).Allowed, false)
}

func main() {
	Say("version %s", probe.Version("github.com/redis/rueidis/rueidislimiter"))
	Check("connect", func() { hourly = made(5, time.Hour) })
	Check("figures", figures)
	Check("stored", stored)
	Check("window", window)
	Check("concurrent", concurrent)
	Check("restart", restart)
	Check("scripts-known", probe.ScriptsKnown)
	Check("kept", kept)
	Say("done")
}
