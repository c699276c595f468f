// go-zero's periodlimit and tokenlimit. Without its server tokenlimit goes on by itself with a limiter
// of its own process and only logs it, so its log is watched: where it may not do that, it must not.
package main

import (
	"bytes"
	"strings"
	"sync"
	"time"

	"github.com/zeromicro/go-zero/core/limit"
	"github.com/zeromicro/go-zero/core/logx"
	"github.com/zeromicro/go-zero/core/stores/redis"

	"weir/tests/clients/probe"
	. "weir/tests/clients/report"
)

var (
	// Redis 7.0 has no CLIENT SETINFO, and every refusal of it counts for the library's circuit breaker.
	store = redis.MustNewRedis(redis.RedisConf{Host: Address, Type: kind(), Protocol: Protocol(),
		DisableIdentity: !IsWeir})
	log written
)

func kind() string {
	if Owners() > 0 {
		return redis.ClusterType
	}
	return redis.NodeType
}

// written is the library's log.
type written struct {
	lock sync.Mutex
	text bytes.Buffer
}

func (w *written) Write(line []byte) (int, error) {
	w.lock.Lock()
	defer w.lock.Unlock()
	return w.text.Write(line)
}

// rescues counts how often the limiter was replaced by its fallback since this was last asked.
func (w *written) rescues() int {
	w.lock.Lock()
	defer w.lock.Unlock()
	defer w.text.Reset()
	return strings.Count(w.text.String(), "in-process limiter for rescue")
}

func periodFigures() {
	limiter := limit.NewPeriodLimit(3600, 3, store, "period:")
	for _, wanted := range []int{limit.Allowed, limit.Allowed, limit.HitQuota, limit.OverQuota, limit.OverQuota} {
		Equal(Got(limiter.Take("figures")), wanted)
	}
	aligned := limit.NewPeriodLimit(86400, 1, store, "aligned:", limit.Align())
	Equal(Got(aligned.Take("figures")), limit.HitQuota)
	_, offset := time.Now().Zone()
	left := 86400 - float64((time.Now().Unix()+int64(offset))%86400)
	probe.Is("aligned:figures", "string", left-3, left+1)
}

func periodStored() {
	Equal(probe.Keys("*"), []string{"aligned:figures", "period:figures"})
	Equal(probe.Number("period:figures"), 5.0)
	probe.Is("period:figures", "string", 3590, 3600)
}

func periodWindow() {
	limiter := limit.NewPeriodLimit(1, 1, store, "period:")
	Equal(Got(limiter.Take("window")), limit.HitQuota)
	Equal(Got(limiter.Take("window")), limit.OverQuota)
	time.Sleep(1050 * time.Millisecond)
	Equal(Got(limiter.Take("window")), limit.HitQuota)
}

func periodConcurrent() {
	// Its circuit breaker counts NOSCRIPT, which an owner answers to all of a crowd that comes first.
	limiter := limit.NewPeriodLimit(3600, 101, store, "period:")
	Equal(Got(limiter.Take("crowd")), limit.Allowed)
	Equal(probe.Admitted(8, func() (bool, error) {
		state, err := limiter.Take("crowd")
		return state == limit.Allowed || state == limit.HitQuota, err
	}), 100)
}

// The limiter's clock is the caller's, an argument; the figures are exact.
func tokenFigures() {
	start, limiter := time.Now(), limit.NewTokenLimiter(2, 10, store, "figures")
	for _, step := range []struct {
		seconds, count int
		admitted       bool
		left           float64
	}{{0, 7, true, 3}, {0, 4, false, 3}, {0, 3, true, 0}, {0, 1, false, 0}, {1, 3, false, 2}, {1, 2, true, 0},
		{4, 6, true, 0}, {3600, 10, true, 0}} {
		Equal(limiter.AllowN(start.Add(time.Duration(step.seconds)*time.Second), step.count), step.admitted)
		Equal(probe.Number("{figures}.tokens"), step.left)
		Equal(probe.Number("{figures}.ts"), float64(start.Unix())+float64(step.seconds))
	}
}

func tokenStored() {
	Equal(probe.Keys("*figures}*"), []string{"{figures}.tokens", "{figures}.ts"})
	probe.Is("{figures}.tokens", "string", 5, 10)
	probe.Is("{figures}.ts", "string", 5, 10)
}

func tokenConcurrent() {
	now, limiter := time.Now(), limit.NewTokenLimiter(1, 100, store, "crowd")
	Equal(probe.Admitted(8, func() (bool, error) { return limiter.AllowN(now, 1), nil }), 100)
}

func notRescued() { Equal(log.rescues(), 0) }

// shortTTL: with a burst below half the rate the script's time to live is 0, which the server must
// refuse; the library then leaves its server, loudly.
func shortTTL() {
	Equal(limit.NewTokenLimiter(100, 1, store, "short").Allow(), true)
	Equal(log.rescues(), 1)
	Equal(probe.Keys("*short*"), []string{})
}

var token *limit.TokenLimiter

func restart() {
	token = limit.NewTokenLimiter(1, 1000, store, "kept")
	Equal(token.AllowN(time.Unix(1e9, 0), 600), true)
	period := limit.NewPeriodLimit(3600, 5, store, "period:")
	Equal(Got(period.Take("kept")), limit.Allowed)
	probe.Restart(func() error {
		_, err := period.Take("other")
		return err
	})
	log.rescues()
}

func kept() {
	NeedDurable()
	period := limit.NewPeriodLimit(3600, 3, store, "period:")
	Equal([]int{Got(period.Take("kept")), Got(period.Take("kept"))}, []int{limit.Allowed, limit.HitQuota})
	Equal(probe.Number("{kept}.tokens"), 400.0)
	Equal(token.AllowN(time.Unix(1e9, 0), 401), false)
	Equal(token.AllowN(time.Unix(1e9, 0), 400), true)
	Equal(probe.Number("{kept}.tokens"), 0.0)
}

func main() {
	logx.SetWriter(logx.NewWriter(&log))
	Say("version %s", probe.Version("github.com/zeromicro/go-zero"))
	Check("period-figures", periodFigures)
	Check("period-stored", periodStored)
	Check("period-window", periodWindow)
	Check("period-concurrent", periodConcurrent)
	Check("token-figures", tokenFigures)
	Check("token-stored", tokenStored)
	Check("token-concurrent", tokenConcurrent)
	Check("not-rescued", notRescued)
	Check("short-ttl", shortTTL)
	Check("restart", restart)
	Check("scripts-known", probe.ScriptsKnown)
	Check("kept", kept)
	Check("not-rescued-after", notRescued)
	Say("done")
}
