// Package probe looks at the server from beside the library under test: what it stored, which
// commands it sent. It has a connection of its own, so nothing here depends on the library.
package probe

import (
	"context"
	"math"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"weir/tests/clients/report"
)

// ReconnectMax is how long a library may take to find the server again.
const ReconnectMax = 20 * time.Second

var (
	ctx    = context.Background()
	Client = open()
)

func open() redis.UniversalClient {
	if report.Owners() == 0 {
		return Database(0)
	}
	return redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{report.Address}, Protocol: 2})
}

// Database is a bare connection to one of the numbered databases, made for looking on.
func Database(number int) *redis.Client {
	return redis.NewClient(&redis.Options{Addr: report.Address, Protocol: 2, DB: number, PoolSize: 1})
}

// Version of a module this program was built with, without its leading v.
func Version(module string) string {
	info, _ := debug.ReadBuildInfo()
	for _, dependency := range info.Deps {
		if dependency.Path == module {
			return strings.TrimPrefix(dependency.Version, "v")
		}
	}
	return "unknown"
}

// Keys that match, sorted.
func Keys(pattern string) []string {
	var keys []string
	var lock sync.Mutex
	if cluster, ok := Client.(*redis.ClusterClient); ok {
		report.Must(cluster.ForEachMaster(ctx, func(ctx context.Context, owner *redis.Client) error {
			some, err := owner.Keys(ctx, pattern).Result()
			lock.Lock()
			defer lock.Unlock()
			keys = append(keys, some...)
			return err
		}))
	} else {
		keys = report.Got(Client.Keys(ctx, pattern).Result())
	}
	if keys == nil {
		keys = []string{}
	}
	slices.Sort(keys)
	return keys
}

// Is wants a key of this type whose time to live lies in these seconds, both ends included.
func Is(key, kind string, low, high float64) {
	report.Equal(report.Got(Client.Type(ctx, key).Result()), kind)
	report.Between(low, report.Got(Client.PTTL(ctx, key).Result()).Seconds(), high, "TTL of "+key)
}

// Number stored at a key.
func Number(key string) float64 {
	text := report.Got(Client.Get(ctx, key).Result())
	number, err := strconv.ParseFloat(text, 64)
	report.Must(err)
	return number
}

// Calls of a command since the server started, and how many of them failed.
func Calls(command string) (calls, failed int) {
	text := report.Got(Client.Info(ctx, "commandstats").Result())
	line := regexp.MustCompile(`(?m)^cmdstat_` + regexp.QuoteMeta(command) + `:calls=(\d+),.*failed_calls=(\d+)`)
	if found := line.FindStringSubmatch(text); found != nil {
		calls, failed = report.Got(strconv.Atoi(found[1])), report.Got(strconv.Atoi(found[2]))
	}
	return calls, failed
}

// ScriptsKnown wants that since the server's last start all scripts were called by their sum, and none
// was unknown. To be asked soon after a restart.
func ScriptsKnown() {
	report.NeedDurable()
	if report.Owners() > 0 {
		report.Skip("an owner is sent a script when it is first asked")
	}
	if !report.IsWeir {
		report.Skip("Redis forgets scripts when it restarts")
	}
	calls, failed := Calls("evalsha")
	report.Between(1, float64(calls), math.Inf(1), "EVALSHA calls")
	report.Equal(failed, 0)
	for _, other := range []string{"eval", "script|load"} {
		calls, _ := Calls(other)
		report.Equal(calls, 0)
	}
}

// Restart has the server killed and started again; it returns when `ask` answers without an error.
func Restart(ask func() error) {
	report.RestartServer()
	Until(ReconnectMax, ask)
	if report.Owners() > 0 { // the pool of each owner tries to connect once a second
		time.Sleep(1500 * time.Millisecond)
	}
}

// Admitted counts what 16 callers, each asking so often, are granted.
func Admitted(each int, ask func() (bool, error)) int {
	total := 0
	for _, count := range report.Together(16, func() (count int, err error) {
		for range each {
			allowed, err := ask()
			if err != nil {
				return 0, err
			}
			if allowed {
				count++
			}
		}
		return count, nil
	}) {
		total += count
	}
	return total
}
