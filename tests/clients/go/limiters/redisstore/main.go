// sethvargo/go-limiter's Redis store: a hash per key, whole intervals of the caller's clock, on redigo.
package main

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/sethvargo/go-limiter"
	"github.com/sethvargo/go-redisstore"

	"weir/tests/clients/probe"
	. "weir/tests/clients/report"
)

var ctx = context.Background()

func open(tokens uint64, interval time.Duration) limiter.Store {
	return Got(redisstore.NewWithPool(&redisstore.Config{Tokens: tokens, Interval: interval},
		&redis.Pool{MaxIdle: 32, Dial: func() (redis.Conn, error) { return redis.Dial("tcp", Address) }}))
}

var hourly = open(5, time.Hour)

// take wants an answer, and that the next interval begins in so many seconds.
func take(store limiter.Store, key string, limit, remaining uint64, admitted bool, seconds float64) {
	gotLimit, gotRemaining, next, ok, err := store.Take(ctx, key)
	Must(err)
	Equal([]any{gotLimit, gotRemaining, ok}, []any{limit, remaining, admitted})
	Between(seconds-5, time.Until(time.Unix(0, int64(next))).Seconds(), seconds, "the next interval in")
}

func figures() {
	for left := range uint64(5) {
		take(hourly, "figures", 5, 4-left, true, 3600)
	}
	take(hourly, "figures", 5, 0, false, 3600)
	limit, remaining, err := hourly.Get(ctx, "figures")
	Must(err)
	Equal([]uint64{limit, remaining}, []uint64{5, 0})
}

func set() {
	Must(hourly.Set(ctx, "own", 2, 2*time.Hour))
	probe.Is("own", "hash", 604799-5, 604800)
	take(hourly, "own", 2, 1, true, 7200)
	Must(hourly.Burst(ctx, "own", 3))
	take(hourly, "own", 2, 3, true, 7200)
}

func stored() {
	Equal(probe.Keys("*"), []string{"figures", "own"})
	fields := Got(probe.Client.HGetAll(ctx, "figures").Result())
	started := Got(strconv.ParseFloat(fields["s"], 64))
	Between(-1, time.Since(time.Unix(0, int64(started))).Seconds(), 10, "started")
	delete(fields, "s")
	Equal(fields, map[string]string{"k": "0", "m": "5", "t": "0"})
	probe.Is("figures", "hash", 3*3600-10, 3*3600)
}

func window() {
	fast := open(2, time.Second)
	take(fast, "window", 2, 1, true, 1)
	take(fast, "window", 2, 0, true, 1)
	take(fast, "window", 2, 0, false, 1)
	time.Sleep(1020 * time.Millisecond)
	take(fast, "window", 2, 1, true, 1)
	fields := Got(probe.Client.HKeys(ctx, "window").Result())
	slices.Sort(fields)
	Equal(fields, []string{"i", "k", "m", "s", "t"})
	probe.Is("window", "hash", 2, 3)
}

func concurrent() {
	crowd := open(100, time.Hour)
	Equal(probe.Admitted(8, func() (bool, error) {
		_, _, _, ok, err := crowd.Take(ctx, "crowd")
		return ok, err
	}), 100)
}

func restart() {
	take(hourly, "kept", 5, 4, true, 3600)
	take(hourly, "kept", 5, 3, true, 3600)
	probe.Restart(func() error {
		_, _, _, _, err := hourly.Take(ctx, "other")
		return err
	})
}

func kept() {
	NeedDurable()
	take(hourly, "kept", 5, 2, true, 3599)
}

func main() {
	Say("version %s", probe.Version("github.com/sethvargo/go-redisstore"))
	Check("figures", figures)
	Check("set-burst", set)
	Check("stored", stored)
	Check("window", window)
	Check("concurrent", concurrent)
	Check("restart", restart)
	Check("scripts-known", probe.ScriptsKnown)
	Check("kept", kept)
	Say("done")
}
