// go-redis' FailoverClient, as an application uses it, while primaries change.
package main

import (
	"context"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"weir/tests/clients/probe"
	. "weir/tests/clients/report"
)

const (
	callersMax = 4
	resumedMin = 20
	patience   = 20 * time.Second
	settle     = 2 * time.Second // who serves no more may take a while to say so
)

var (
	ctx = context.Background()
	add = redis.NewScript("return redis.call('INCRBY', KEYS[1], ARGV[1])")
)

type caller struct {
	key          string
	mutex        sync.Mutex // of what follows
	acknowledged int64
	successes    int
	longest      time.Duration
	told         error
	ended        bool
	gone         chan struct{}
}

func (c *caller) call(client *redis.Client, number int) (int64, error) {
	switch number % 3 {
	case 0:
		return 1, client.Incr(ctx, c.key).Err()
	case 1:
		return 2, add.Run(ctx, client, []string{c.key}, 2).Err()
	}
	_, err := client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.Incr(ctx, c.key)
		pipe.Incr(ctx, c.key)
		return nil
	})
	return 2, err
}

func (c *caller) note(added int64, err error, since time.Duration) (goesOn bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if err != nil {
		c.told = err
	} else {
		c.acknowledged += added
		c.successes++
		c.longest = max(c.longest, since)
	}
	return !c.ended
}

func (c *caller) run(client *redis.Client) {
	defer close(c.gone)
	last := time.Now()
	for number := 0; ; number++ {
		added, err := c.call(client, number)
		if !c.note(added, err, time.Since(last)) {
			return
		}
		if err == nil {
			last = time.Now()
			time.Sleep(5 * time.Millisecond)
		} else {
			time.Sleep(20 * time.Millisecond)
		}
	}
}

func (c *caller) look() (int, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.successes, c.told
}

// throughAChange: while somebody else becomes the primary, every caller goes on, and by itself.
func throughAChange(callers []*caller, name string, order func()) {
	for _, c := range callers {
		c.mutex.Lock()
		c.longest = 0
		c.mutex.Unlock()
	}
	order()
	time.Sleep(settle)
	begin, longest := time.Now(), time.Duration(0)
	for _, c := range callers {
		before, _ := c.look()
		for {
			successes, told := c.look()
			if successes >= before+resumedMin {
				break
			}
			if time.Since(begin) > patience {
				Fail("a caller did not go on: %v", told)
			}
			time.Sleep(20 * time.Millisecond)
		}
		c.mutex.Lock()
		longest = max(longest, c.longest)
		c.mutex.Unlock()
	}
	Say("figure %s %.2f s", name, longest.Seconds())
}

func kept(client *redis.Client, callers []*caller) {
	total := int64(0)
	for _, c := range callers {
		c.mutex.Lock()
		c.ended = true
		c.mutex.Unlock()
		<-c.gone
		total += c.acknowledged
	}
	Between(400, float64(total), 1e9, "acknowledged")
	NeedDurable()
	for _, c := range callers {
		Between(float64(c.acknowledged), float64(Got(client.Get(ctx, c.key).Int64())), 1e9, c.key)
	}
}

func main() {
	var sentinels []string
	for _, port := range strings.Split(os.Getenv("CLIENTS_SENTINELS"), ",") {
		sentinels = append(sentinels, "127.0.0.1:"+port)
	}
	client := redis.NewFailoverClient(&redis.FailoverOptions{
		MasterName: os.Getenv("CLIENTS_MASTER"), SentinelAddrs: sentinels, Protocol: Protocol()})
	Say("version %s", probe.Version("github.com/redis/go-redis/v9"))
	Check("found", func() { Equal(client.Set(ctx, "k", "v", 0).Val(), "OK") })
	var callers []*caller
	for _, name := range []string{"a", "b", "c", "d"}[:callersMax] {
		c := &caller{key: "counter:" + name, gone: make(chan struct{})}
		callers = append(callers, c)
		go c.run(client)
	}
	time.Sleep(time.Second)
	Check("kill", func() { throughAChange(callers, "kill", RestartServer) })
	Check("switchover", func() { throughAChange(callers, "switchover", func() { MoveSlot(0) }) })
	Check("data-kept", func() { kept(client, callers) })
	Say("done")
}
