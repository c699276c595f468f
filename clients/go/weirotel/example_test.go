package weirotel_test

import (
	"context"
	"os"

	weir "weir/clients/go"
	"weir/clients/go/weirotel"
)

// url is WEIR_URL, else that of the quick start.
func url() string {
	if named := os.Getenv("WEIR_URL"); named != "" {
		return named
	}
	return "redis://127.0.0.1:7000"
}

func Example() {
	telemetry, err := weirotel.New("api")
	if err != nil {
		panic(err)
	}
	observed, err := weir.New(url(), "100/1m", weir.Observed(telemetry))
	if err != nil {
		panic(err)
	}
	defer observed.Close()
	_, _ = observed.Take(context.Background(), "user:42")
}
