// rueidis as it is when nothing is set: see ../../../calls/caller.py for what a caller does.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/redis/rueidis"

	"weir/tests/clients/calls"
)

func main() {
	option := rueidis.ClientOption{InitAddress: []string{"127.0.0.1:" + os.Getenv("CLIENTS_PORT")}}
	if ms, _ := strconv.Atoi(os.Getenv("CLIENTS_READ_MS")); ms > 0 {
		option.ConnWriteTimeout = time.Duration(ms) * time.Millisecond
	}
	client, err := rueidis.NewClient(option)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	calls.Obey("github.com/redis/rueidis", func(isWait bool, words []string) (any, error) {
		command := client.B().Arbitrary(words[0]).Args(words[1:]...)
		if isWait {
			return client.Do(context.Background(), command.Blocking()).ToAny()
		}
		return client.Do(context.Background(), command.Build()).ToAny()
	})
}
