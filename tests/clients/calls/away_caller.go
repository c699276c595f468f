// As away_caller.py, for the Go limiter, which is a package of its own.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"weir/tests/clients/snippet/limiter"
)

func newLimiter() *limiter.Limiter {
	return limiter.NewLimiter("127.0.0.1:"+os.Args[1], 10, 10, 2)
}

func number(allowed bool) int {
	if allowed {
		return 1
	}
	return 0
}

func takeEach(keys []string) {
	for _, key := range keys {
		if allowed, err := newLimiter().Take(context.Background(), key); err != nil {
			fmt.Println(key, "raised")
		} else {
			fmt.Println(key, number(allowed))
		}
	}
}

func takeOn(key string) {
	weir := newLimiter()
	for {
		at := time.Now()
		allowed, err := weir.Take(context.Background(), key)
		took := time.Since(at)
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(at.UnixMilli(), number(allowed), took.Milliseconds())
		time.Sleep(20*time.Millisecond - took)
	}
}

func main() {
	if os.Args[2] == "each" {
		takeEach(os.Args[3:])
	} else {
		takeOn(os.Args[2])
	}
}
