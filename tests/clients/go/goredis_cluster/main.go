// go-redis' ClusterClient, as an application uses it.
package main

import (
	"context"

	"github.com/redis/go-redis/v9"

	"weir/tests/clients/probe"
	. "weir/tests/clients/report"
)

var ctx = context.Background()

type cluster struct{ client *redis.ClusterClient }

func connect() cluster {
	return cluster{redis.NewClusterClient(&redis.ClusterOptions{
		Addrs: []string{Address}, Protocol: Protocol(), PoolSize: 16})}
}

func (c cluster) Version() string      { return probe.Version("github.com/redis/go-redis/v9") }
func (c cluster) Again() ClusterClient { return connect() }
func (c cluster) Close()               { _ = c.client.Close() }

func (c cluster) Do(words ...string) (any, error) {
	var arguments []any
	for _, word := range words {
		arguments = append(arguments, word)
	}
	return c.client.Do(ctx, arguments...).Result()
}

func (c cluster) Pipeline(keys []string) (values []string) {
	replies := Got(c.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for _, key := range keys {
			pipe.Set(ctx, key, key, 0)
			pipe.Get(ctx, key)
		}
		return nil
	}))
	for at := 1; at < len(replies); at += 2 {
		values = append(values, replies[at].(*redis.StringCmd).Val())
	}
	return values
}

func (c cluster) Script(text string) func(key, argument string) (int64, error) {
	script := redis.NewScript(text)
	return func(key, argument string) (int64, error) {
		return script.Run(ctx, c.client, []string{key}, argument).Int64()
	}
}

func (c cluster) Multi(keys []string) (values []int64) {
	replies := Got(c.client.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
		for _, key := range keys {
			pipe.Incr(ctx, key)
		}
		return nil
	}))
	for _, reply := range replies {
		values = append(values, reply.(*redis.IntCmd).Val())
	}
	return values
}

func main() { RunCluster(connect()) }
