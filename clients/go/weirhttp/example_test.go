package weirhttp_test

import (
	"io"
	"log"
	"net/http"
	"net/netip"

	"weir/clients/go/weirhttp"
)

func Example() {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(writer http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(writer, "hello") })

	limit, err := weirhttp.New("redis://127.0.0.1:7000", "100/1m", weirhttp.Options{Processes: 4})
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe(":8080", limit.Handler(mux)))
}

func ExampleOptions() {
	limit, err := weirhttp.New("redis://127.0.0.1:7000", "POLICY api", weirhttp.Options{
		Fallback: "100/1m",
		Key:      weirhttp.ByHeader("X-Api-Key", weirhttp.ByAddress(netip.MustParsePrefix("10.0.0.0/8"))),
		Skip:     func(request *http.Request) bool { return request.URL.Path == "/health" },
	})
	if err != nil {
		log.Fatal(err)
	}
	_ = limit
}
