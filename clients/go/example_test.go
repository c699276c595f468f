package weir_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/redis/go-redis/v9"
	weir "weir/clients/go"
)

// url is WEIR_URL, else that of the quick start.
func url() string {
	if named := os.Getenv("WEIR_URL"); named != "" {
		return named
	}
	return "redis://127.0.0.1:7000"
}

func Example() {
	limiter, err := weir.New(url(), "100/1m BURST 20", weir.Processes(4))
	if err != nil {
		panic(err)
	}
	defer limiter.Close()
	verdict, err := limiter.Take(context.Background(), "user:42")
	if err != nil {
		panic(err) // a fault of the program, such as NOPERM; a weir that is away is none
	}
	if !verdict.Allowed {
		fmt.Println("try again in", verdict.RetryAfter)
	}
}

func ExampleConnect() {
	shared, err := weir.Connect(url(), weir.Deadline(100*time.Millisecond), weir.Retries(1), weir.Connections(50))
	if err != nil {
		panic(err)
	}
	users, err := shared.Limiter("POLICY users", weir.Fallback("100/1m"))
	if err != nil {
		panic(err)
	}
	jobs, err := shared.Limiter("5/1s", weir.WhenAway(weir.Closed))
	if err != nil {
		panic(err)
	}
	fmt.Println(users.State().Away, jobs.State().Away)
	// Output: false false
}

func ExampleOver() {
	shard := redis.NewFailoverClient(&redis.FailoverOptions{MasterName: "main", SentinelAddrs: []string{"127.0.0.1:7000"}})
	followed, err := weir.Over(shard)
	if err != nil {
		panic(err)
	}
	_, _ = followed.Limiter("100/1m")
}

func ExampleVerdict_Headers() {
	// While weir is away Closed denies, and says how long to wait.
	limiter, _ := weir.New("redis://127.0.0.1:1", "100/1m", weir.WhenAway(weir.Closed))
	defer limiter.Close()
	verdict, _ := limiter.Take(context.Background(), "user:42")
	fmt.Println(verdict.Source, verdict.Allowed, verdict.Headers())
	// Output: closed false map[Retry-After:1]
}

func ExampleLimiter_Hold() {
	limiter, _ := weir.New(url(), "100000/1m")
	defer limiter.Close()
	ctx := context.Background()
	hold, err := limiter.Hold(ctx, "llm:7", 4000)
	var denied *weir.DeniedError
	if errors.As(err, &denied) {
		fmt.Println("try again in", denied.Verdict.RetryAfter)
	}
	if err != nil {
		return
	}
	defer hold.Cancel(ctx) // after Settle it does nothing
	tokens := 3127         // of the model's answer
	_, _ = hold.Settle(ctx, int64(tokens))
}

func ExampleLimiter_Lease() {
	limiter, _ := weir.New(url(), "CONCURRENCY 10 LEASE 30s")
	defer limiter.Close()
	lease, err := limiter.Lease(context.Background(), "pool", weir.Wait(time.Second))
	if err != nil {
		return
	}
	defer lease.Release()
	work := func(context.Context) {}
	work(lease.Context()) // ends when the lease is lost
}

func ExampleLimiter_Lots() {
	limiter, _ := weir.New(url(), "1000000/1s")
	defer limiter.Close()
	lots, err := limiter.Lots(0)
	if err != nil {
		return
	}
	defer lots.Close()
	_, _ = lots.Take(context.Background(), "events")
}

func ExampleOnChange() {
	limiter, _ := weir.New("redis://127.0.0.1:1", "100/1m", weir.OnChange(func(change weir.Change) {
		fmt.Println("away:", change.Away, change.Cause)
	}))
	defer limiter.Close()
	_, _ = limiter.Take(context.Background(), "user:42")
	fmt.Println("away:", limiter.State().Away)
	// Output:
	// away: true gone
	// away: true
}
