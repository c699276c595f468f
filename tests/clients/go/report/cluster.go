package report

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Owners says of how many owners the cluster is; 0: the server is none.
func Owners() int {
	number, _ := strconv.Atoi(os.Getenv("CLIENTS_OWNERS"))
	return number
}

// MoveSlot has an owner of the cluster give a slot to another; it returns when all of them say so.
func MoveSlot(slot int) {
	Say("move %d", slot)
	Got(input.ReadString('\n'))
}

// ClusterClient is a client of clusters as the checks below need it, each thing in its own way.
type ClusterClient interface {
	Version() string
	// Do sends any command; the key is its first argument. A nil error with "" is no value.
	Do(words ...string) (any, error)
	// Pipeline sends SET and GET of each key, and answers what GET did.
	Pipeline(keys []string) []string
	Script(text string) func(key, argument string) (int64, error)
	Multi(keys []string) []int64
	Again() ClusterClient
	Close()
}

type clusterChecks struct {
	client  ClusterClient
	keys    []string
	written map[string]int64
}

func (c *clusterChecks) do(words ...string) any { return Got(c.client.Do(words...)) }

func (c *clusterChecks) moved() {
	if Owners() == 1 {
		Skip("a single owner has nobody to give a slot to")
	}
	Equal(c.do("EXISTS", c.keys[7]), int64(0))
	MoveSlot(7)
	Equal(c.do("SET", c.keys[7], "moved"), "OK")
	another := c.client.Again()
	defer another.Close()
	Equal(Got(another.Do("GET", c.keys[7])), "moved")
}

func (c *clusterChecks) everySlot() {
	for begin := 0; begin < len(c.keys); begin += 4096 {
		some := c.keys[begin : begin+4096]
		Equal(c.client.Pipeline(some), some)
	}
	for slot := 0; slot < len(c.keys); slot += 100 {
		Equal(c.do("GET", c.keys[slot]), c.keys[slot])
	}
}

func (c *clusterChecks) evalsha() {
	add := c.client.Script("return redis.call('incrby', KEYS[1], ARGV[1])")
	for index := range int64(50) {
		Equal(Got(add(fmt.Sprint("script:", index), fmt.Sprint(index))), index)
	}
}

func (c *clusterChecks) multi() {
	for tag := range 20 {
		key := fmt.Sprintf("{multi%d}", tag)
		Equal(c.client.Multi([]string{key + "a", key + "b"}), []int64{1, 1})
	}
}

func (c *clusterChecks) crossSlot() {
	if _, err := c.client.Do("SINTER", "a", "b"); err == nil || !strings.Contains(strings.ToLower(err.Error()), "slot") {
		Fail("keys of several slots: %v", err)
	}
}

func (c *clusterChecks) limiter() {
	NeedWeir()
	replies := Together(8, func() (admitted int64, err error) {
		for user := range 40 {
			reply, err := c.client.Do("CL.THROTTLE", fmt.Sprint("user:", user), "4", "1", "3600")
			if err != nil {
				return 0, err
			}
			if reply.([]any)[0] == int64(0) {
				admitted++
			}
		}
		return admitted, nil
	})
	total := int64(0)
	for _, admitted := range replies {
		total += admitted
	}
	Equal(total, int64(200))
}

type count struct {
	key                     string
	acknowledged, meanwhile int64
}

// restart: two write to the owner that is killed, two to the last one.
func (c *clusterChecks) restart() {
	c.do("SET", c.keys[5], "kept")
	var away, up atomic.Int64
	roles := make(chan string, 5)
	for _, slot := range []int{0, 16383, 0, 16383} {
		roles <- "{" + c.keys[slot] + "}traffic"
	}
	roles <- ""
	counts := Together(5, func() (done count, err error) {
		if done.key = <-roles; done.key == "" {
			time.Sleep(300 * time.Millisecond)
			away.Store(1)
			RestartServer()
			up.Store(time.Now().UnixNano())
			return done, nil
		}
		mine := c.client.Again()
		defer mine.Close()
		for resumed := 0; resumed < 10; {
			since := up.Load()
			if _, err := mine.Do("INCR", done.key); err != nil {
				if since != 0 && time.Now().UnixNano()-since > 10e9 {
					return done, err
				}
				time.Sleep(10 * time.Millisecond)
				continue
			}
			done.acknowledged++
			if since != 0 {
				resumed++
			} else if away.Load() != 0 {
				done.meanwhile++
			}
		}
		return done, nil
	})
	for _, done := range counts {
		c.written[done.key] += done.acknowledged
		if Owners() > 1 && strings.Contains(done.key, c.keys[16383]) {
			Between(1, float64(done.meanwhile), 1e9, "writes to another owner meanwhile")
		}
	}
}

func (c *clusterChecks) dataKept() {
	NeedDurable()
	Equal(c.do("GET", c.keys[5]), "kept")
	for key, acknowledged := range c.written {
		if key == "" {
			continue
		}
		stored := float64(Got(strconv.ParseInt(c.do("GET", key).(string), 10, 64)))
		Between(float64(acknowledged), stored, float64(acknowledged)+2, "writes of "+key)
	}
}

// RunCluster runs all checks.
func RunCluster(client ClusterClient) {
	checks := clusterChecks{client: client, written: map[string]int64{},
		keys: strings.Fields(string(Got(os.ReadFile(os.Getenv("CLIENTS_KEYS")))))}
	Say("version %s", client.Version())
	Check("moved", checks.moved)
	Check("every-slot", checks.everySlot)
	Check("evalsha", checks.evalsha)
	Check("multi", checks.multi)
	Check("cross-slot", checks.crossSlot)
	Check("limiter", checks.limiter)
	Check("restart", checks.restart)
	Check("data-kept", checks.dataKept)
	Say("done")
}
