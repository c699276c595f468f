// go-redis as it is when nothing is set: see ../../calls/caller.py for what a caller does.
package main

import (
	"context"
	"os"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"weir/tests/clients/calls"
)

// Longer than any TIMEOUT that is asked for.
const waitMax = time.Minute

func main() {
	options := &redis.Options{Addr: "127.0.0.1:" + os.Getenv("CLIENTS_PORT")}
	options.Username, options.Password = os.Getenv("CLIENTS_USER"), os.Getenv("CLIENTS_PASSWORD")
	if ms, _ := strconv.Atoi(os.Getenv("CLIENTS_READ_MS")); ms > 0 {
		options.ReadTimeout = time.Duration(ms) * time.Millisecond
	}
	shared := redis.NewClient(options)
	waiting := shared.WithTimeout(waitMax)
	calls.Obey("github.com/redis/go-redis/v9", func(isWait bool, words []string) (any, error) {
		arguments := make([]any, len(words))
		for index, word := range words {
			arguments[index] = word
		}
		client := shared
		if isWait {
			client = waiting
		}
		reply, err := client.Do(context.Background(), arguments...).Result()
		if err == redis.Nil {
			return nil, nil
		}
		return reply, err
	})
}
