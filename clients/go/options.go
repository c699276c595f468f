package weir

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"weir/clients/go/internal/core"
)

// Away is what a limiter decides while weir is away.
type Away string

const (
	// Local hands out the process' share of the limit, less what it has just used. It is the default.
	Local Away = Away(core.Local)
	// Strict is Local, as if all had been used when weir went.
	Strict Away = Away(core.Strict)
	// Open lets everything pass.
	Open Away = Away(core.Open)
	// Closed lets nothing pass.
	Closed Away = Away(core.Closed)
)

// Option is one of Connect and Over.
type Option func(*settings)

type settings struct {
	deadline    time.Duration
	retries     int
	connections int
	batches     bool
	waits       redis.UniversalClient
	adjust      func(*redis.Options)
}

func settingsOf(options []Option) (settings, error) {
	made := settings{deadline: 100 * time.Millisecond, retries: 1, connections: 50}
	for _, option := range options {
		option(&made)
	}
	if made.deadline <= 0 || made.retries < 0 || made.connections < 1 {
		return made, errors.New("weir: the deadline must be above 0, retries not below, and a connection is needed")
	}
	return made, nil
}

// Deadline is after how long a call that does not wait has its verdict, whatever happens: 100 ms where it is left out.
func Deadline(deadline time.Duration) Option { return func(s *settings) { s.deadline = deadline } }

// Retries is how often a call is sent again within its deadline, under the same ID: once where it is left out.
func Retries(count int) Option { return func(s *settings) { s.retries = count } }

// Connections is how many calls may be under way at once: 50 where it is left out. More of them wait, within their
// deadlines. Calls that wait in weir have a connection each, which do not count.
func Connections(count int) Option { return func(s *settings) { s.connections = count } }

// Batches sends what is called while a request is under way in one pipeline after it, which carries more calls where many
// callers ask at once, and makes each of them a little slower.
func Batches() Option { return func(s *settings) { s.batches = true } }

// Waits is, for Over, the client of calls that wait: one without a read time-out, and with a pool as large as there are
// such calls at once.
func Waits(client redis.UniversalClient) Option { return func(s *settings) { s.waits = client } }

// Redis changes what Connect makes its clients of, such as certificates. Time-outs and retries are set after it.
func Redis(adjust func(*redis.Options)) Option { return func(s *settings) { s.adjust = adjust } }

// LimiterOption is one of New and Limiter.
type LimiterOption func(*limiterSettings)

type limiterSettings struct {
	away      Away
	processes float64
	fallback  string
	keysMax   int
	hooks     []func(Change)
	observer  Observer
}

func limiterSettingsOf(options []LimiterOption) (limiterSettings, error) {
	made := limiterSettings{away: Local, keysMax: 10_000}
	for _, option := range options {
		option(&made)
	}
	switch made.away {
	case Local, Strict, Open, Closed:
	default:
		return made, fmt.Errorf("weir: away is local, strict, open or closed, got '%s'", made.away)
	}
	if made.processes < 0 || made.keysMax < 1 {
		return made, errors.New("weir: processes must not be below 0, and a key must have room")
	}
	return made, nil
}

// WhenAway is what the limiter decides while weir is away: Local where it is left out.
func WhenAway(away Away) LimiterOption { return func(s *limiterSettings) { s.away = away } }

// Processes is how many processes use these limits: each hands out so many a part while weir is away. Where it is left out
// or 0, what weir tells counts, else 1.
func Processes(count float64) LimiterOption { return func(s *limiterSettings) { s.processes = count } }

// Fallback has the limits of a policy until weir has told them.
func Fallback(limits string) LimiterOption { return func(s *limiterSettings) { s.fallback = limits } }

// KeysMax is how many keys the process remembers the use of: 10,000 where it is left out. The longest unused goes first.
func KeysMax(count int) LimiterOption { return func(s *limiterSettings) { s.keysMax = count } }

// OnChange tells the function of each change between away and back, from whatever goroutine found it.
func OnChange(hook func(Change)) LimiterOption {
	return func(s *limiterSettings) { s.hooks = append(s.hooks, hook) }
}

// CallOption is one of a call. A call that has no use for an option refuses it.
type CallOption func(*callSettings)

type callSettings struct {
	cost  core.Cost
	upTo  bool
	id    string
	wait  time.Duration // below 0: not given
	lasts time.Duration // 0: not given
	given []string
}

func callSettingsOf(call string, options []CallOption, allowed ...string) (callSettings, error) {
	made := callSettings{cost: core.Cost{All: 1}, wait: -1}
	for _, option := range options {
		option(&made)
	}
	for _, name := range made.given {
		if !contains(allowed, name) {
			return made, fmt.Errorf("weir: %s takes no %s", call, name)
		}
	}
	if made.cost.All < 0 || least(made.cost.Each) < 0 {
		return made, fmt.Errorf("weir: a cost must not be below 0, got %s", costWord(made.cost))
	}
	return made, nil
}

// Cost is how many permits the call takes: 1 where it is left out.
func Cost(permits int64) CallOption {
	return func(s *callSettings) { s.cost, s.given = core.Cost{All: permits}, append(s.given, "Cost") }
}

// Costs has one cost for each limit, in their order.
func Costs(permits ...int64) CallOption {
	return func(s *callSettings) { s.cost, s.given = core.Cost{Each: permits}, append(s.given, "Costs") }
}

// UpTo takes what there is, at most the cost and at least one.
func UpTo() CallOption {
	return func(s *callSettings) { s.upTo, s.given = true, append(s.given, "UpTo") }
}

// ID is for a caller that repeats calls by itself: the same ID with the same arguments is charged once within 60 seconds.
func ID(token string) CallOption {
	return func(s *callSettings) { s.id, s.given = token, append(s.given, "ID") }
}

// MaxWait books only if the wait is no longer.
func MaxWait(wait time.Duration) CallOption {
	return func(s *callSettings) { s.wait, s.given = max(0, wait), append(s.given, "MaxWait") }
}

// Wait has Lease wait for its turn for so long at most.
func Wait(wait time.Duration) CallOption {
	return func(s *callSettings) { s.wait, s.given = max(0, wait), append(s.given, "Wait") }
}

// Lasts is how long a hold lasts unless it is settled before: a minute where it is left out, at most a day. After that it
// stays charged as estimated.
func Lasts(lasts time.Duration) CallOption {
	return func(s *callSettings) { s.lasts, s.given = lasts, append(s.given, "Lasts") }
}

func contains(names []string, name string) bool {
	for _, each := range names {
		if each == name {
			return true
		}
	}
	return false
}

func least(costs []int64) int64 {
	lowest := int64(0)
	for _, cost := range costs {
		lowest = min(lowest, cost)
	}
	return lowest
}

func costWord(cost core.Cost) string {
	if len(cost.Each) == 0 {
		return strconv.FormatInt(cost.All, 10)
	}
	words := make([]string, len(cost.Each))
	for index, each := range cost.Each {
		words[index] = strconv.FormatInt(each, 10)
	}
	return strings.Join(words, ",")
}
