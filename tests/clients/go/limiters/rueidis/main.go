// rueidis, as an application uses it: see ../../../README.md for what each check means. It has one
// connection for all callers and pipelines what they ask; with RESP3 it asks for CLIENT TRACKING.
package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"

	"weir/tests/clients/probe"
	. "weir/tests/clients/report"
)

const callers, writers = 16, 4

var (
	ctx      = context.Background()
	client   = Got(connect(""))
	allBytes = func() string {
		all := make([]byte, 256)
		for index := range all {
			all[index] = byte(index)
		}
		return string(all)
	}()
	version = probe.Version("github.com/redis/rueidis")

	// What a check before the restart left for those behind it.
	acknowledged int64
)

func connect(password string) (rueidis.Client, error) {
	return rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{Address}, Password: password,
		AlwaysRESP2: Protocol() == 2, DisableCache: Protocol() == 2})
}

func do(words ...any) rueidis.RedisResult {
	command := client.B().Arbitrary()
	for _, word := range words {
		command = command.Args(fmt.Sprint(word))
	}
	return client.Do(ctx, command.Build())
}

func throttle(key string, numbers ...any) ([]int64, error) {
	return do(append([]any{"CL.THROTTLE", key}, numbers...)...).AsIntSlice()
}

func handshake() {
	hello := Got(do("HELLO").AsMap())
	proto, mode, role := hello["proto"], hello["mode"], hello["role"]
	Equal(Got(proto.AsInt64()), int64(Protocol()))
	Equal([]string{Got(mode.ToString()), Got(role.ToString())}, []string{"standalone", "master"})
	Equal(Got(client.Do(ctx, client.B().Ping().Build()).ToString()), "PONG")
	Equal(Got(client.Do(ctx, client.B().Echo().Message("a b").Build()).ToString()), "a b")
}

func clientList() {
	if !IsWeir {
		Skip("Redis 7.0 has no CLIENT SETINFO")
	}
	rows := Got(do("CLIENT", "LIST").ToString())
	if !strings.Contains(rows, " lib-name=rueidis lib-ver="+version) {
		Fail("no rueidis in %q", rows)
	}
}

func binary() {
	key := "bin:" + allBytes
	for _, value := range []string{"", "\x00", allBytes, "\r\n$5\r\n", strings.Repeat(allBytes, 4096)} {
		Must(client.Do(ctx, client.B().Set().Key(key).Value(value).Build()).Error())
		if Got(client.Do(ctx, client.B().Get().Key(key).Build()).ToString()) != value {
			Fail("%d bytes came back changed", len(value))
		}
	}
	Equal(rueidis.IsRedisNil(do("GET", "absent").Error()), true)
}

func pipeline() {
	var commands rueidis.Commands
	for index := range 500 {
		key := fmt.Sprint("pipe:", index)
		commands = append(commands, client.B().Set().Key(key).Value(fmt.Sprint(index)).Build(), client.B().Get().Key(key).Build())
	}
	replies := client.DoMulti(ctx, commands...)
	Equal(len(replies), 1000)
	for index := range 500 {
		Equal(Got(replies[2*index].ToString()), "OK")
		Equal(Got(replies[2*index+1].ToString()), fmt.Sprint(index))
	}
}

func expiry() {
	number := func(words ...any) float64 { return float64(Got(do(words...).ToInt64())) }
	Must(do("SET", "ttl", "x").Error())
	Equal([]float64{number("TTL", "ttl"), number("TTL", "absent"), number("EXPIRE", "ttl", 100)}, []float64{-1, -2, 1})
	Between(99, number("TTL", "ttl"), 100, "TTL")
	Between(99000, number("PTTL", "ttl"), 100000, "PTTL")
	Equal(number("PERSIST", "ttl"), 1.0)
	Must(do("SET", "soon", "x", "PX", 30).Error())
	time.Sleep(60 * time.Millisecond)
	Equal(rueidis.IsRedisNil(do("GET", "soon").Error()), true)
	Equal(number("EXISTS", "soon"), 0.0)
}

func incrConcurrent() {
	var all []int64
	for _, some := range Together(callers, func() (mine []int64, err error) {
		for range 100 {
			value, err := do("INCR", "count").ToInt64()
			if mine = append(mine, value); err != nil {
				return nil, err
			}
		}
		return mine, nil
	}) {
		all = append(all, some...)
	}
	slices.Sort(all)
	Equal(len(all), callers*100)
	for index, value := range all {
		Equal(value, int64(index+1))
	}
}

func scanned() int {
	found := map[string]bool{}
	for cursor, started := uint64(0), false; cursor != 0 || !started; started = true {
		page := Got(client.Do(ctx, client.B().Scan().Cursor(cursor).Match("scan:*").Count(50).Build()).AsScanEntry())
		for _, key := range page.Elements {
			found[key] = true
		}
		cursor = page.Cursor
	}
	return len(found)
}

func scan() {
	command := client.B().Mset().KeyValue()
	for index := range 1000 {
		command = command.KeyValue(fmt.Sprint("scan:", index), "x")
	}
	Must(client.Do(ctx, command.Build()).Error())
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
	Equal(probe.Admitted(20, func() (bool, error) {
		reply, err := throttle("crowd", 99, 1, 3600)
		return err == nil && reply[0] == 0, err
	}), 100)
}

// cache: what was read through the client's cache is read again after it was changed by another.
func cache() {
	if Protocol() == 2 {
		Skip("rueidis caches over RESP3 alone")
	}
	read := func() (string, error) {
		return client.DoCache(ctx, client.B().Get().Key("cached").Cache(), time.Minute).ToString()
	}
	Must(probe.Client.Set(ctx, "cached", "old", 0).Err())
	Equal(Got(read()), "old")
	Must(probe.Client.Set(ctx, "cached", "new", 0).Err())
	time.Sleep(200 * time.Millisecond)
	Equal(Got(read()), "new")
}

var script = rueidis.NewLuaScript("return {KEYS[1], tonumber(ARGV[1]) + 1, false, redis.call('TTL', KEYS[1])}")

func lua() {
	reply := Got(script.Exec(ctx, client, []string{"absent"}, []string{"41"}).ToArray())
	Equal(Got(reply[0].ToString()), "absent")
	Equal([]int64{Got(reply[1].ToInt64()), Got(reply[3].ToInt64())}, []int64{42, -2})
	Equal(reply[2].IsNil(), true)
}

func surfacedErrors() {
	Must(do("SET", "text", "x").Error())
	Refused[*rueidis.RedisError](do("INCR", "text").Error(), "not an integer")
	Refused[*rueidis.RedisError](do("NOSUCH").Error(), "unknown command")
	wrong := do("LPUSH", "text", "y").Error()
	if IsWeir {
		_, wrong = throttle("text", 1, 1, 1)
	}
	Refused[*rueidis.RedisError](wrong, "WRONGTYPE")
	Equal(Got(do("GET", "text").ToString()), "x")
}

func password() {
	Must(do("CONFIG", "SET", "requirepass", "s e c r e t").Error())
	defer func() { Must(do("CONFIG", "SET", "requirepass", "").Error()) }()
	other := Got(connect("s e c r e t"))
	defer other.Close()
	Must(other.Do(ctx, other.B().Ping().Build()).Error())
	_, err := connect("wrong")
	Refused[*rueidis.RedisError](err, "WRONGPASS")
	_, err = connect("")
	Refused[*rueidis.RedisError](err, "NOAUTH")
}

func info() {
	text := Got(client.Do(ctx, client.B().Info().Build()).ToString())
	for _, line := range []string{"redis_version:7.", "redis_mode:standalone\r\n", "role:master\r\n",
		"loading:0\r\n", "tcp_port:" + Port + "\r\n"} {
		if !strings.Contains(text, line) {
			Fail("no %q in INFO", line)
		}
	}
}

// Four callers count and are killed in the middle; they go on by themselves.
func restart() {
	Must(do("SET", "kept", allBytes).Error())
	Must(do("SET", "kept:ttl", "x", "EX", 1000).Error())
	isUp := atomic.Bool{}
	go func() {
		time.Sleep(300 * time.Millisecond)
		RestartServer()
		isUp.Store(true)
	}()
	for _, count := range Together(writers, func() (count int64, err error) {
		deadline := time.Now().Add(probe.ReconnectMax)
		for resumed := 0; resumed < 10; {
			wasUp := isUp.Load()
			if err := do("INCR", "traffic").Error(); err == nil {
				count++
				if wasUp {
					resumed++
				}
			} else if errors.Is(err, rueidis.ErrClosing) || time.Now().After(deadline) {
				return 0, err
			}
		}
		return count, nil
	}) {
		acknowledged += count
	}
	// With RESP2 it has a pool, some of whose connections are still the old ones.
	probe.Until(probe.ReconnectMax, func() error {
		return script.Exec(ctx, client, []string{"absent"}, []string{"1"}).Error()
	})
}

func dataKept() {
	NeedDurable()
	Equal(Got(do("GET", "kept").ToString()), allBytes)
	Between(900, float64(Got(do("TTL", "kept:ttl").ToInt64())), 999, "TTL")
	Equal(scanned(), 1000)
	stored := Got(strconv.ParseInt(Got(do("GET", "traffic").ToString()), 10, 64))
	Between(float64(acknowledged), float64(stored), float64(acknowledged+writers), "stored writes")
}

func main() {
	Say("version %s", version)
	for _, one := range []struct {
		name string
		body func()
	}{{"handshake", handshake}, {"client-list", clientList}, {"binary", binary},
		{"pipeline", pipeline}, {"expiry", expiry}, {"incr-concurrent", incrConcurrent},
		{"scan", scan}, {"throttle-figures", throttleFigures},
		{"throttle-concurrent", throttleConcurrent}, {"cache", cache}, {"script", lua},
		{"errors", surfacedErrors}, {"password", password}, {"info", info}, {"restart", restart},
		{"scripts-known", probe.ScriptsKnown}, {"data-kept", dataKept}} {
		Check(one.name, one.body)
	}
	Say("done")
}
