// The load of tools/bench_rls: calls of ShouldRateLimit at a steady rate in an open loop. A call is
// sent when its time has come, whatever became of those before it, and its latency counts from that
// time on: a service that stops for a moment pays for all that waited.
//
//	load ADDRESS RATE SECONDS CONNECTIONS DESCRIPTORS
//
// It prints a line of JSON. What comes in the first second is warm-up, and not counted.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	common "github.com/envoyproxy/go-control-plane/envoy/extensions/common/ratelimit/v3"
	service "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	. "weir/tests/clients/report"
)

const (
	users      = 10_000
	tenants    = 100
	warmUp     = time.Second
	startsMax  = 20 * time.Second
	answersMax = 5 * time.Second
)

// A result is of one call that was counted.
type result struct {
	late, latency time.Duration
	isOK          bool
	err           error
}

type figures struct {
	Calls    int     `json:"calls"`
	Wrong    int     `json:"wrong"`
	FirstBad string  `json:"first_bad"`
	P50      float64 `json:"p50_us"`
	P99      float64 `json:"p99_us"`
	P999     float64 `json:"p999_us"`
	Max      float64 `json:"max_us"`
	LateP99  float64 `json:"late_p99_us"` // of the load itself
}

func number(place int) int { return Got(strconv.Atoi(os.Args[place])) }

func descriptor(name string, value int) *common.RateLimitDescriptor {
	return &common.RateLimitDescriptor{Entries: []*common.RateLimitDescriptor_Entry{
		{Key: name, Value: fmt.Sprint(value)}}}
}

// request is the one of a number; numbers go round all users.
func request(place, descriptors int) *service.RateLimitRequest {
	all := []*common.RateLimitDescriptor{descriptor("user", place*7919%users), descriptor("tenant", place%tenants)}
	return &service.RateLimitRequest{Domain: "site", Descriptors: all[:descriptors]}
}

func connect(address string, count, descriptors int) (all []service.RateLimitServiceClient) {
	for range count {
		connection := Got(grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials())))
		client := service.NewRateLimitServiceClient(connection)
		soon, cancel := context.WithTimeout(context.Background(), startsMax)
		_ = Got(client.ShouldRateLimit(soon, request(0, descriptors), grpc.WaitForReady(true)))
		cancel()
		all = append(all, client)
	}
	return all
}

// sleep until then is by the system's clock, since that of Go is late by up to a millisecond.
func sleep(until time.Time) {
	for left := time.Until(until); left > 0; left = time.Until(until) {
		pause := syscall.NsecToTimespec(int64(left))
		_ = syscall.Nanosleep(&pause, nil)
	}
}

func percentile(sorted []time.Duration, part float64) float64 {
	return float64(sorted[min(int(part*float64(len(sorted))), len(sorted)-1)].Nanoseconds()) / 1000
}

func summary(results []result) figures {
	told := figures{Calls: len(results)}
	var latencies, lates []time.Duration
	for _, one := range results {
		latencies, lates = append(latencies, one.latency), append(lates, one.late)
		if one.isOK {
			continue
		}
		if told.Wrong++; told.Wrong == 1 {
			told.FirstBad = fmt.Sprint("over limit, or an error: ", one.err)
		}
	}
	slices.Sort(latencies)
	slices.Sort(lates)
	told.P50, told.P99, told.P999 = percentile(latencies, .5), percentile(latencies, .99), percentile(latencies, .999)
	told.Max, told.LateP99 = percentile(latencies, 1), percentile(lates, .99)
	return told
}

func main() {
	rate, seconds, connections, descriptors := number(2), number(3), number(4), number(5)
	clients := connect(os.Args[1], connections, descriptors)
	runtime.LockOSThread()
	uncounted := int(warmUp.Seconds()) * rate
	results := make([]result, uncounted+seconds*rate)
	var all sync.WaitGroup
	begin := time.Now()
	for i := range results {
		due := begin.Add(time.Duration(i) * time.Second / time.Duration(rate))
		sleep(due)
		all.Go(func() {
			one := &results[i]
			one.late = time.Since(due)
			soon, cancel := context.WithTimeout(context.Background(), answersMax)
			defer cancel()
			answer, err := clients[i%connections].ShouldRateLimit(soon, request(i, descriptors))
			one.latency, one.err = time.Since(due), err
			one.isOK = answer.GetOverallCode() == service.RateLimitResponse_OK && len(answer.GetStatuses()) == descriptors
		})
	}
	all.Wait()
	told := summary(results[uncounted:])
	Must(json.NewEncoder(os.Stdout).Encode(told))
}
