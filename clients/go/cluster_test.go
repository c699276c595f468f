package weir_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	weir "weir/clients/go"
	"weir/clients/go/internal/weirtest"
)

func over(t *testing.T, client redis.UniversalClient, options ...weir.Option) *weir.Weir {
	t.Helper()
	t.Cleanup(func() { _ = client.Close() })
	made, err := weir.Over(client, options...)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// startCluster starts two owners of a keyspace.
func startCluster(t *testing.T) []*weirtest.Server {
	topology := filepath.Join(t.TempDir(), "topology")
	var owners []*weirtest.Server
	words := "epoch 1\n"
	for _, slots := range []string{"0-8191", "8192-16383"} {
		owner := weirtest.New(t, "--cluster-enabled", "yes", "--cluster-topology", topology)
		owners = append(owners, owner)
		words += fmt.Sprintf("n%d 127.0.0.1:%d %s\n", owner.Port, owner.Port, slots)
	}
	if err := os.WriteFile(topology, []byte(words), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, owner := range owners {
		owner.Start()
	}
	weirtest.Until(t, "the cluster serves", func() bool {
		for _, owner := range owners {
			if !strings.Contains(fmt.Sprint(owner.Call("CLUSTER", "INFO")), "cluster_state:ok") {
				return false
			}
		}
		return true
	})
	return owners
}

func TestCluster(t *testing.T) {
	owners := startCluster(t)
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{owners[0].Address()}, ReadTimeout: time.Second})
	on := over(t, client, weir.Deadline(patient))
	two, few := limiter(t, on, "FIXED 2/1h"), limiter(t, on, "FIXED 1/1h")
	verdict, all := must[weir.Verdict](t), must[weir.Verdicts](t)
	for number := range 20 { // of both owners
		equal(t, "left", verdict(two.Take(ctx, fmt.Sprint("k", number))).Remaining, 1)
	}
	part := func(on *weir.Limiter, key string) weir.Part { return weir.Part{Limiter: on, Key: key} }
	equal(t, "all", all(weir.TakeAll(ctx, part(two, "k1"), part(few, "f1"), part(few, "f2"))).Allowed, true)
	denied := all(weir.TakeAll(ctx, part(two, "k2"), part(two, "k3"), part(few, "f2")))
	equal(t, "all", denied.Allowed, false)
	equal(t, "index", denied.Index, 2)
	for key, left := range map[string]int64{"k1": 0, "k2": 1, "k3": 1} {
		equal(t, key, verdict(two.Peek(ctx, key, weir.Cost(0))).Remaining, left)
	}
	equal(t, "one slot", all(weir.TakeAll(ctx, part(two, "{k4}"), part(few, "{k4}few"))).Allowed, true)
	if _, err := two.Acquire(ctx, "k5", time.Second); err == nil || !strings.Contains(err.Error(), "Waits") {
		t.Errorf("a wait without a client for it: %v", err)
	}
	batches := over(t, client, weir.Deadline(patient), weir.Batches())
	together(20, func(number int) {
		taken, err := limiter(t, batches, "FIXED 2/1h").Take(ctx, fmt.Sprint("b", number))
		if err != nil || taken.Remaining != 1 {
			t.Errorf("got %+v, %v", taken, err)
		}
	})
}

func TestAnOwnerDies(t *testing.T) {
	t.Parallel()
	owners := startCluster(t)
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{owners[0].Address()}})
	on := over(t, client, weir.Deadline(time.Second))
	made := limiter(t, on, "FIXED 100/1h", weir.Processes(2))
	sources := func(on *weir.Limiter) map[weir.Source]bool {
		found := map[weir.Source]bool{}
		for number := range 20 {
			watch := weirtest.Watch()
			found[must[weir.Verdict](t)(on.Take(ctx, fmt.Sprint("k", number))).Source] = true
			if took := watch.Taken(); took > time.Second+slack {
				t.Errorf("a call took %v", took)
			}
		}
		return found
	}
	sources(made)
	owners[1].Kill()
	if !sources(made)[weir.ByLocal] {
		t.Error("nobody was decided here")
	}
	owners[0].Kill()
	if sources(limiter(t, on, "FIXED 100/1h"))[weir.BySelf] {
		t.Error("weir has answered, which is dead")
	}
}

const shardName = "main"

// startShard starts three members, which are their own sentinels.
func startShard(t *testing.T) []*weirtest.Server {
	data := filepath.Join(t.TempDir(), "first")
	log := "file:" + filepath.Join(t.TempDir(), "shared-log")
	made := exec.Command(weirtest.Program(t), "--new-shard", log, shardName, "--dir", data)
	if said, err := made.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	var members []*weirtest.Server
	for number := range 3 {
		member := weirtest.New(t, "--log", log, "--shard", shardName)
		if number == 0 {
			member.Data = data
		}
		members = append(members, member)
		member.Start()
	}
	weirtest.Until(t, "one serves", func() bool { return serving(members) != nil })
	return members
}

func serving(members []*weirtest.Server) *weirtest.Server {
	for _, member := range members {
		if !member.Lives() {
			continue
		}
		if role, err := member.TryCall("ROLE"); err == nil && role.([]any)[0] == "master" {
			return member
		}
	}
	return nil
}

func TestTakeoverAndSwitchover(t *testing.T) {
	t.Parallel()
	members := startShard(t)
	options := &redis.FailoverOptions{MasterName: shardName, MaxRetries: -1}
	for _, member := range members {
		options.SentinelAddrs = append(options.SentinelAddrs, member.Address())
	}
	on := over(t, redis.NewFailoverClient(options), weir.Deadline(deadline))
	made := limiter(t, on, "FIXED 100000/1h", weir.Processes(1))
	granted := int64(0)
	take := func() {
		if must[weir.Verdict](t)(made.Take(ctx, "k")).Source == weir.BySelf {
			granted++
		}
		time.Sleep(10 * time.Millisecond)
	}
	weirtest.Until(t, "weir answers", func() bool { take(); return granted > 0 })
	for _, change := range []func(*weirtest.Server){(*weirtest.Server).Kill, func(owner *weirtest.Server) {
		owner.Call("SENTINEL", "FAILOVER", shardName)
	}} {
		before := serving(members)
		change(before)
		weirtest.Until(t, "another serves", func() bool {
			take()
			now := serving(members)
			return now != nil && now != before
		})
		asked := made.State().Asked
		weirtest.Until(t, "weir is back", func() bool { take(); return made.State().Asked > asked+20 })
	}
	left := must[weir.Verdict](t)(made.Peek(ctx, "k", weir.Cost(0)))
	equal(t, "source", left.Source, weir.BySelf)
	if left.Remaining > 100000-granted {
		t.Errorf("%d were granted, %d are left of 100000", granted, left.Remaining)
	}
	if made.State().Absences == 0 {
		t.Error("nothing was noticed")
	}
}
