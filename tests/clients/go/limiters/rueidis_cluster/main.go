// rueidis, which finds out by itself that the server is a cluster's.
package main

import (
	"context"

	"github.com/redis/rueidis"

	"weir/tests/clients/probe"
	. "weir/tests/clients/report"
)

var ctx = context.Background()

type cluster struct{ client rueidis.Client }

func connect() cluster {
	return cluster{Got(rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{Address},
		ShuffleInit: true, AlwaysRESP2: Protocol() == 2, DisableCache: Protocol() == 2}))}
}

func (c cluster) Version() string      { return probe.Version("github.com/redis/rueidis") }
func (c cluster) Again() ClusterClient { return connect() }
func (c cluster) Close()               { c.client.Close() }

func (c cluster) command(words ...string) rueidis.Completed {
	return c.client.B().Arbitrary(words[0]).Keys(words[1]).Args(words[2:]...).Build()
}

func (c cluster) Do(words ...string) (any, error) {
	if words[0] == "SINTER" { // it asks for a slot of its own accord if all keys are named
		return c.client.Do(ctx, c.client.B().Arbitrary("SINTER").Keys("a").Args("b").Build()).ToAny()
	}
	return c.client.Do(ctx, c.command(words...)).ToAny()
}

func (c cluster) Pipeline(keys []string) (values []string) {
	var commands rueidis.Commands
	for _, key := range keys {
		commands = append(commands, c.command("SET", key, key), c.command("GET", key))
	}
	replies := c.client.DoMulti(ctx, commands...)
	for at := 1; at < len(replies); at += 2 {
		values = append(values, Got(replies[at].ToString()))
	}
	return values
}

func (c cluster) Script(text string) func(key, argument string) (int64, error) {
	script := rueidis.NewLuaScript(text)
	return func(key, argument string) (int64, error) {
		return script.Exec(ctx, c.client, []string{key}, []string{argument}).AsInt64()
	}
}

func (c cluster) Multi(keys []string) (values []int64) {
	Must(c.client.Dedicated(func(one rueidis.DedicatedClient) error {
		commands := rueidis.Commands{one.B().Multi().Build()}
		for _, key := range keys {
			commands = append(commands, one.B().Incr().Key(key).Build())
		}
		replies := one.DoMulti(ctx, append(commands, one.B().Exec().Build())...)
		for _, reply := range Got(replies[len(replies)-1].ToArray()) {
			values = append(values, Got(reply.AsInt64()))
		}
		return nil
	}))
	return values
}

func main() { RunCluster(connect()) }
