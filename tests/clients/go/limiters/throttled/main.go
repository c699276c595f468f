// throttled 2: GCRA in the client by compare-and-swap scripts, the server's clock. Its two stores,
// goredisstore on go-redis and redigostore on redigo, are chosen by CLIENTS_STORE.
package main

import (
	"context"
	"os"
	"strconv"
	"time"

	"github.com/gomodule/redigo/redis"
	goredis "github.com/redis/go-redis/v9"
	"github.com/throttled/throttled/v2"
	goredisstore "github.com/throttled/throttled/v2/store/goredisstore.v9"
	"github.com/throttled/throttled/v2/store/redigostore"

	"weir/tests/clients/probe"
	. "weir/tests/clients/report"
)

// Not 0, so that the store's SELECT matters.
const database = 1

var (
	ctx    = context.Background()
	store  = open()
	hourly = throttled.RateQuota{MaxRate: throttled.PerHour(10), MaxBurst: 4}
	stored = probe.Database(database)
)

func open() throttled.GCRAStoreCtx {
	if os.Getenv("CLIENTS_STORE") == "redigo" {
		return Got(redigostore.NewCtx(&redis.Pool{MaxIdle: 32, Dial: func() (redis.Conn, error) {
			return redis.Dial("tcp", Address)
		}}, "throttled:", database))
	}
	return Got(goredisstore.NewCtx(goredis.NewClient(&goredis.Options{
		Addr: Address, Protocol: Protocol(), PoolSize: 32, DB: database}), "throttled:"))
}

func limiter(quota throttled.RateQuota) *throttled.GCRARateLimiterCtx {
	made := Got(throttled.NewGCRARateLimiterCtx(store, quota))
	made.SetMaxCASAttemptsLimit(10000)
	return made
}

func take(key string, quota throttled.RateQuota, count int) (bool, throttled.RateLimitResult) {
	limited, result, err := limiter(quota).RateLimitCtx(ctx, key, count)
	Must(err)
	return limited, result
}

func figures() {
	for left := 4; left >= 0; left-- {
		limited, result := take("figures", hourly, 1)
		Equal([]any{limited, result.Limit, result.Remaining, int(result.RetryAfter)}, []any{false, 5, left, -1})
		Between(float64(5-left)*360-5, result.ResetAfter.Seconds(), float64(5-left)*360, "ResetAfter")
	}
	limited, result := take("figures", hourly, 1)
	Equal([]any{limited, result.Limit, result.Remaining}, []any{true, 5, 0})
	Between(355, result.RetryAfter.Seconds(), 360, "RetryAfter")
	Between(1795, result.ResetAfter.Seconds(), 1800, "ResetAfter")
}

func quantity() {
	limited, result := take("many", hourly, 3)
	Equal([]any{limited, result.Remaining}, []any{false, 2})
	limited, result = take("many", hourly, 0)
	Equal([]any{limited, result.Remaining}, []any{false, 2})
	limited, result = take("many", hourly, 6)
	// More than the burst can never be had; what remains is then not told, but the limit.
	Equal([]any{limited, result.Remaining, int(result.RetryAfter)}, []any{true, 5, -1})
	limited, result = take("many", hourly, 2)
	Equal([]any{limited, result.Remaining}, []any{false, 0})
}

// swap asks the store itself: the script's three answers, one of them an error text of its own.
func swap() {
	Equal(Got(store.SetIfNotExistsWithTTL(ctx, "swap", 7, time.Minute)), true)
	Equal(Got(store.SetIfNotExistsWithTTL(ctx, "swap", 8, time.Minute)), false)
	Equal(Got(store.CompareAndSwapWithTTL(ctx, "swap", 8, 9, time.Minute)), false)
	Equal(Got(store.CompareAndSwapWithTTL(ctx, "swap", 7, 9, 2*time.Minute)), true)
	Equal(Got(store.CompareAndSwapWithTTL(ctx, "absent", 7, 9, time.Minute)), false)
	value, now, err := store.GetWithTime(ctx, "swap")
	Must(err)
	Equal(value, int64(9))
	Between(-5, time.Since(now).Seconds(), 5, "TIME off by")
	value, _, err = store.GetWithTime(ctx, "absent")
	Must(err)
	Equal(value, int64(-1))
}

func inStore() {
	Equal(probe.Keys("*"), []string{})
	Equal(Got(stored.DBSize(ctx).Result()), int64(3))
	Equal(Got(stored.Type(ctx, "throttled:figures").Result()), "string")
	Between(1790, Got(stored.TTL(ctx, "throttled:figures").Result()).Seconds(), 1800, "TTL")
	Between(110, Got(stored.TTL(ctx, "throttled:swap").Result()).Seconds(), 120, "TTL")
	arrival := Got(strconv.ParseInt(Got(stored.Get(ctx, "throttled:figures").Result()), 10, 64))
	Between(1790, time.Until(time.Unix(0, arrival)).Seconds(), 1801, "stored time")
}

func window() {
	fast := throttled.RateQuota{MaxRate: throttled.PerSec(2), MaxBurst: 0}
	limited, _ := take("window", fast, 1)
	Equal(limited, false)
	limited, result := take("window", fast, 1)
	Equal(limited, true)
	Between(0.2, result.RetryAfter.Seconds(), 0.5, "RetryAfter")
	time.Sleep(result.RetryAfter + 20*time.Millisecond)
	limited, _ = take("window", fast, 1)
	Equal(limited, false)
	time.Sleep(1100 * time.Millisecond)
	Equal(stored.Get(ctx, "throttled:window").Err(), goredis.Nil)
}

func concurrent() {
	crowd := limiter(throttled.RateQuota{MaxRate: throttled.PerHour(10), MaxBurst: 39})
	Equal(probe.Admitted(5, func() (bool, error) {
		limited, _, err := crowd.RateLimitCtx(ctx, "crowd", 1)
		return !limited, err
	}), 40)
}

func restart() {
	take("kept", hourly, 3)
	probe.Restart(func() error {
		_, _, err := limiter(hourly).RateLimitCtx(ctx, "other", 1)
		return err
	})
}

func kept() {
	NeedDurable()
	limited, result := take("kept", hourly, 1)
	Equal([]any{limited, result.Remaining}, []any{false, 1})
	limited, _ = take("kept", hourly, 2)
	Equal(limited, true)
}

func main() {
	Say("version %s", probe.Version("github.com/throttled/throttled/v2"))
	Check("figures", figures)
	Check("quantity", quantity)
	Check("compare-and-swap", swap)
	Check("stored", inStore)
	Check("window", window)
	Check("concurrent", concurrent)
	Check("restart", restart)
	Check("kept", kept)
	Say("done")
}
