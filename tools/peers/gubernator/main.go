// A closed loop of decisions against gubernator over gRPC, for tools/bench_peers: prints one line of JSON.
//
//	load ADDRESS CONNECTIONS KEYS SECONDS
//
// Each connection asks for one token of a random key after the other. Each answer is checked: it must be granted.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/gubernator-io/gubernator/v2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

type result struct {
	latencies []time.Duration
	problem   error
}

func number(word string) int {
	value, err := strconv.Atoi(word)
	if err != nil {
		panic(err)
	}
	return value
}

func ask(client gubernator.V1Client, key int) error {
	answers, err := client.GetRateLimits(context.Background(), &gubernator.GetRateLimitsReq{
		Requests: []*gubernator.RateLimitReq{{Name: "bench", UniqueKey: fmt.Sprintf("%012d", key),
			Hits: 1, Limit: 1_000_000, Duration: 3_000_000_000, Algorithm: gubernator.Algorithm_LEAKY_BUCKET}}})
	if err != nil {
		return err
	}
	answer := answers.Responses[0]
	if answer.Error != "" || answer.Status != gubernator.Status_UNDER_LIMIT {
		return fmt.Errorf("key %d: %s %s", key, answer.Status, answer.Error)
	}
	return nil
}

func load(address string, seed int64, keys int, end time.Time) result {
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return result{problem: err}
	}
	defer connection.Close()
	client, random := gubernator.NewV1Client(connection), rand.New(rand.NewSource(seed))
	var made result
	for begin := time.Now(); begin.Before(end); begin = time.Now() {
		if made.problem = ask(client, random.Intn(keys)); made.problem != nil {
			return made
		}
		made.latencies = append(made.latencies, time.Since(begin))
	}
	return made
}

func main() {
	connections, keys, seconds := number(os.Args[2]), number(os.Args[3]), number(os.Args[4])
	results := make([]result, connections)
	begin := time.Now()
	end := begin.Add(time.Duration(seconds) * time.Second)
	var all sync.WaitGroup
	for place := range results {
		all.Go(func() { results[place] = load(os.Args[1], int64(place), keys, end) })
	}
	all.Wait()
	var latencies []time.Duration
	for _, made := range results {
		if made.problem != nil {
			fmt.Fprintln(os.Stderr, made.problem)
			os.Exit(1)
		}
		latencies = append(latencies, made.latencies...)
	}
	slices.Sort(latencies)
	at := func(part float64) float64 {
		return float64(latencies[int(part*float64(len(latencies)-1))]) / float64(time.Microsecond)
	}
	_ = json.NewEncoder(os.Stdout).Encode(map[string]float64{"good": float64(len(latencies)),
		"per_second": float64(len(latencies)) / time.Since(begin).Seconds(), "p50_us": at(0.5), "p99_us": at(0.99)})
}
