// go-redis 9, as an application uses it: see ../../README.md for what each check means.
package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"runtime/debug"
	"sort"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	. "weir/tests/clients/report"
)

const callers, writers = 16, 4

var (
	ctx      = context.Background()
	client   = connect("")
	allBytes = func() string {
		all := make([]byte, 256)
		for index := range all {
			all[index] = byte(index)
		}
		return string(all)
	}()

	// What a check before the restart left for those behind it.
	restartedAt  time.Time
	acknowledged int64
)

func connect(password string) *redis.Client {
	options := &redis.Options{Addr: Address, Protocol: Protocol(), Password: password, PoolSize: 32}
	if port := os.Getenv("CLIENTS_TLS_PORT"); port != "" {
		authorities := x509.NewCertPool()
		if !authorities.AppendCertsFromPEM(Got(os.ReadFile(os.Getenv("CLIENTS_TLS_CA")))) {
			panic("the file of the authority has no certificate")
		}
		options.Addr = "127.0.0.1:" + port
		options.TLSConfig = &tls.Config{RootCAs: authorities}
	}
	return redis.NewClient(options)
}

func libraryVersion() string {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == "github.com/redis/go-redis/v9" {
			return strings.TrimPrefix(module.Version, "v")
		}
	}
	return "unknown"
}

func throttle(key string, numbers ...any) ([]int64, error) {
	return client.Do(ctx, append([]any{"CL.THROTTLE", key}, numbers...)...).Int64Slice()
}

func handshake() {
	hello := map[string]any{}
	switch reply := Got(client.Do(ctx, "HELLO").Result()).(type) {
	case map[any]any:
		for name, value := range reply {
			hello[name.(string)] = value
		}
	case []any:
		for index := 0; index < len(reply); index += 2 {
			hello[reply[index].(string)] = reply[index+1]
		}
	}
	Equal(hello["proto"], int64(Protocol()))
	Equal([]any{hello["mode"], hello["role"]}, []any{"standalone", "master"})
	Equal(Got(client.Ping(ctx).Result()), "PONG")
	Equal(Got(client.Echo(ctx, "a b").Result()), "a b")
}

func clientList() {
	if !IsWeir {
		Skip("Redis 7.0 has no CLIENT SETINFO")
	}
	rows := Got(client.ClientList(ctx).Result())
	if !strings.Contains(rows, " lib-name=go-redis(,go") || !strings.Contains(rows, " lib-ver="+libraryVersion()) {
		Fail("no go-redis in %q", rows)
	}
}

func binary() {
	key := "bin:" + allBytes
	for _, value := range []string{"", "\x00", allBytes, "\r\n$5\r\n", strings.Repeat(allBytes, 4096)} {
		Equal(Got(client.Set(ctx, key, value, 0).Result()), "OK")
		if !bytes.Equal(Got(client.Get(ctx, key).Bytes()), []byte(value)) {
			Fail("%d bytes came back changed", len(value))
		}
	}
	Equal(client.Get(ctx, "absent").Err(), redis.Nil)
}

func pipeline() {
	got := Got(client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for index := range 500 {
			pipe.Set(ctx, fmt.Sprint("pipe:", index), index, 0)
			pipe.Get(ctx, fmt.Sprint("pipe:", index))
		}
		return nil
	}))
	Equal(len(got), 1000)
	for index := range 500 {
		Equal(got[2*index].(*redis.StatusCmd).Val(), "OK")
		Equal(got[2*index+1].(*redis.StringCmd).Val(), fmt.Sprint(index))
	}
}

func expiry() {
	Must(client.Set(ctx, "ttl", "x", 0).Err())
	Equal(Got(client.TTL(ctx, "ttl").Result()), time.Duration(-1))
	Equal(Got(client.TTL(ctx, "absent").Result()), time.Duration(-2))
	Equal(Got(client.Expire(ctx, "ttl", 100*time.Second).Result()), true)
	Between(99, Got(client.TTL(ctx, "ttl").Result()).Seconds(), 100, "TTL")
	Between(99, Got(client.PTTL(ctx, "ttl").Result()).Seconds(), 100, "PTTL")
	Equal(Got(client.Persist(ctx, "ttl").Result()), true)
	Must(client.Set(ctx, "soon", "x", 30*time.Millisecond).Err())
	time.Sleep(60 * time.Millisecond)
	Equal(client.Get(ctx, "soon").Err(), redis.Nil)
	Equal(Got(client.Exists(ctx, "soon").Result()), int64(0))
}

func incrConcurrent() {
	replies := Together(callers, func() (all []int64, err error) {
		for range 100 {
			value, err := client.Incr(ctx, "count").Result()
			if all = append(all, value); err != nil {
				return nil, err
			}
		}
		return all, nil
	})
	var all []int64
	for _, some := range replies {
		all = append(all, some...)
	}
	sort.Slice(all, func(a, b int) bool { return all[a] < all[b] })
	for index, value := range all {
		Equal(value, int64(index+1))
	}
	Equal(len(all), callers*100)
}

func scanned() int {
	found := map[string]bool{}
	keys := client.Scan(ctx, 0, "scan:*", 50).Iterator()
	for keys.Next(ctx) {
		found[keys.Val()] = true
	}
	Must(keys.Err())
	return len(found)
}

func scan() {
	pairs := map[string]any{}
	for index := range 1000 {
		pairs[fmt.Sprint("scan:", index)] = "x"
	}
	Must(client.MSet(ctx, pairs).Err())
	Equal(scanned(), 1000)
}

func throttleFigures() {
	NeedWeir()
	Equal(Got(throttle("user:42", 15, 30, 60)), []int64{0, 16, 15, -1, 2})
	for left := int64(4); left >= 0; left-- {
		Equal(Got(throttle("five", 4, 1, 10))[2], left)
	}
	denied := Got(throttle("five", 4, 1, 10))
	Equal(denied[:3], []int64{1, 5, 0})
	Between(9, float64(denied[3]), 10, "retry_after")
}

func throttleConcurrent() {
	NeedWeir()
	admitted := atomic.Int64{}
	Together(callers, func() (none int, err error) {
		for range 20 {
			reply, err := throttle("crowd", 99, 1, 3600)
			if err != nil {
				return 0, err
			}
			admitted.Add(1 - reply[0])
		}
		return
	})
	Equal(admitted.Load(), int64(100))
}

func surfacedErrors() {
	Must(client.Set(ctx, "text", "x", 0).Err())
	Refused[redis.Error](client.Incr(ctx, "text").Err(), "not an integer")
	Refused[redis.Error](client.Do(ctx, "NOSUCH").Err(), "unknown command")
	wrong := client.LPush(ctx, "text", "y").Err()
	if IsWeir {
		_, wrong = throttle("text", 1, 1, 1)
	}
	Refused[redis.Error](wrong, "WRONGTYPE")
	Equal(Got(client.Get(ctx, "text").Result()), "x")
}

func password() {
	Must(client.ConfigSet(ctx, "requirepass", "s e c r e t").Err())
	defer client.ConfigSet(ctx, "requirepass", "")
	Must(connect("s e c r e t").Ping(ctx).Err())
	Refused[redis.Error](connect("wrong").Ping(ctx).Err(), "WRONGPASS")
	Refused[redis.Error](connect("").Ping(ctx).Err(), "NOAUTH")
}

// The user that weir's README shows logs in with the client's defaults, and may only ask.
func role() {
	NeedWeir()
	Must(client.Do(ctx, "ACL", "SETUSER", "shop", "on", ">phrase", "+@ratelimit", "+ping", "+select",
		"+client|setinfo", "+client|setname", "~shop:*").Err())
	shop := redis.NewClient(&redis.Options{Addr: Address, Protocol: Protocol(), Username: "shop",
		Password: "phrase"})
	defer shop.Close()
	Must(shop.Ping(ctx).Err())
	Equal(Got(shop.Do(ctx, "CL.THROTTLE", "shop:1", 9, 1, 1000).Int64Slice())[0], int64(0))
	Refused[redis.Error](shop.Do(ctx, "RL.RESET", "shop:1").Err(), "rl.reset")
	Refused[redis.Error](shop.Do(ctx, "RL.TAKE", "shop:1", "GCRA", "1/1s", "FORCE").Err(),
		"@ratelimitadmin")
}

func info() {
	text := Got(client.Info(ctx).Result())
	for _, line := range []string{"redis_version:7.", "redis_mode:standalone\r\n", "role:master\r\n",
		"loading:0\r\n", "tcp_port:" + Port + "\r\n"} {
		if !strings.Contains(text, line) {
			Fail("no %q in INFO", line)
		}
	}
}

// Four callers count and are killed in the middle; they go on by themselves.
func restart() {
	Must(client.Set(ctx, "kept", allBytes, 0).Err())
	Must(client.Set(ctx, "kept:ttl", "x", 1000*time.Second).Err())
	for range 4 {
		if IsWeir {
			Got(throttle("limit", 9, 1, 1000))
		}
	}
	restartedAt = time.Now()
	isUp := atomic.Bool{}
	go func() {
		time.Sleep(300 * time.Millisecond)
		RestartServer()
		isUp.Store(true)
	}()
	counts := Together(writers, func() (count int64, err error) {
		deadline := time.Now().Add(15 * time.Second)
		for resumed := 0; resumed < 10; {
			wasUp := isUp.Load()
			if err := client.Incr(ctx, "traffic").Err(); err == nil {
				count++
				if wasUp {
					resumed++
				}
			} else if time.Now().After(deadline) {
				return 0, err
			}
		}
		return count, nil
	})
	for _, count := range counts {
		acknowledged += count
	}
}

func reconnect() { Equal(Got(client.Ping(ctx).Result()), "PONG") }

func dataKept() {
	NeedDurable()
	Equal(Got(client.Get(ctx, "kept").Result()), allBytes)
	Between(900, Got(client.TTL(ctx, "kept:ttl").Result()).Seconds(), 999, "TTL")
	Equal(scanned(), 1000)
	stored := Got(client.Get(ctx, "traffic").Int64())
	Between(float64(acknowledged), float64(stored), float64(acknowledged+writers), "stored writes")
}

func limiterKept() {
	NeedWeir()
	NeedDurable()
	reply := Got(throttle("limit", 9, 1, 1000, 0))
	Equal(reply[:4], []int64{0, 10, 6, -1})
	passed := time.Since(restartedAt).Seconds()
	Between(4000-passed-1, float64(reply[4]), 4001-passed, "reset_after")
	for _, limited := range []int64{0, 0, 0, 0, 0, 0, 1} {
		Equal(Got(throttle("limit", 9, 1, 1000))[0], limited)
	}
}

func main() {
	Say("version %s", libraryVersion())
	for _, one := range []struct {
		name string
		body func()
	}{{"handshake", handshake}, {"client-list", clientList}, {"binary", binary},
		{"pipeline", pipeline}, {"expiry", expiry}, {"incr-concurrent", incrConcurrent},
		{"scan", scan}, {"throttle-figures", throttleFigures},
		{"throttle-concurrent", throttleConcurrent}, {"errors", surfacedErrors},
		{"password", password}, {"role", role}, {"info", info}, {"restart", restart}, {"reconnect", reconnect},
		{"data-kept", dataKept}, {"limiter-kept", limiterKept}} {
		Check(one.name, one.body)
	}
	Say("done")
}
