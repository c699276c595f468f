// Traefik's RateLimit middleware, asked over HTTP: a token bucket in a hash, the proxy's clock. A request
// may wait for its token up to half the rate's interval; one that would wait longer is refused.
package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"time"

	ptypes "github.com/traefik/paerser/types"
	"github.com/traefik/traefik/v3/pkg/config/dynamic"
	"github.com/traefik/traefik/v3/pkg/middlewares/ratelimiter"

	"weir/tests/clients/probe"
	. "weir/tests/clients/report"
)

var ctx = context.Background()

// limited is a server behind a limiter of this name; each source is a value of a header.
func limited(name string, average, burst int64, period time.Duration) *httptest.Server {
	config := dynamic.RateLimit{Average: average, Burst: burst, Period: ptypes.Duration(period),
		SourceCriterion: &dynamic.SourceCriterion{RequestHeaderName: "X-Source"}, Redis: &dynamic.Redis{}}
	config.Redis.SetDefaults()
	config.Redis.Endpoints = []string{Address}
	next := http.HandlerFunc(func(writer http.ResponseWriter, _ *http.Request) { writer.WriteHeader(http.StatusNoContent) })
	return httptest.NewServer(Got(ratelimiter.New(ctx, next, config, name)))
}

var slow = limited("slow", 10, 5, time.Hour)

func ask(server *httptest.Server, source string) (*http.Response, error) {
	request := Got(http.NewRequest(http.MethodGet, server.URL, nil))
	request.Header.Set("X-Source", source)
	answer, err := server.Client().Do(request)
	if err == nil {
		answer.Body.Close()
	}
	return answer, err
}

// refused wants a 429 with a Retry-After of so many seconds.
func refused(answer *http.Response, low, high float64) {
	Equal(answer.StatusCode, http.StatusTooManyRequests)
	Between(low, Got(strconv.ParseFloat(answer.Header.Get("Retry-After"), 64)), high, "Retry-After")
}

func figures() {
	for range 5 {
		Equal(Got(ask(slow, "ann")).StatusCode, http.StatusNoContent)
	}
	refused(Got(ask(slow, "ann")), 350, 360)
	refused(Got(ask(slow, "ann")), 350, 360)
	Equal(Got(ask(slow, "bob")).StatusCode, http.StatusNoContent)
}

func stored() {
	Equal(probe.Keys("*"), []string{"rate:slow:ann", "rate:slow:bob"})
	fields := Got(probe.Client.HGetAll(ctx, "rate:slow:bob").Result())
	Equal(len(fields), 2)
	Between(3.9999, Got(strconv.ParseFloat(fields["tokens"], 64)), 4, "tokens")
	Between(0, time.Since(time.UnixMicro(int64(Got(strconv.ParseFloat(fields["last"], 64))))).Seconds(), 10, "last")
	// One second, and as long as the bucket takes for one token.
	probe.Is("rate:slow:bob", "hash", 340, 361)
}

// window: at two a second, a request that comes early waits for its token up to a quarter of a second.
func window() {
	quick := limited("quick", 2, 1, time.Second)
	Equal(Got(ask(quick, "x")).StatusCode, http.StatusNoContent)
	refused(Got(ask(quick, "x")), 1, 1)
	time.Sleep(300 * time.Millisecond)
	begin := time.Now()
	Equal(Got(ask(quick, "x")).StatusCode, http.StatusNoContent)
	Between(0.05, time.Since(begin).Seconds(), 0.35, "the wait")
	probe.Is("rate:quick:x", "hash", 1, 2)
	time.Sleep(2100 * time.Millisecond)
	Equal(probe.Keys("rate:quick*"), []string{})
	Equal(Got(ask(quick, "x")).StatusCode, http.StatusNoContent)
}

func concurrent() {
	crowd := limited("crowd", 10, 100, time.Hour)
	Equal(probe.Admitted(8, func() (bool, error) {
		answer, err := ask(crowd, "x")
		return err == nil && answer.StatusCode == http.StatusNoContent, err
	}), 100)
}

// unavailable: it does not let requests pass when its store is wrong.
func unavailable() {
	Must(probe.Client.Set(ctx, "rate:slow:wrong", "text", 0).Err())
	Equal(Got(ask(slow, "wrong")).StatusCode, http.StatusInternalServerError)
}

type statusError int

func (status statusError) Error() string { return "status " + strconv.Itoa(int(status)) }

func restart() {
	for range 3 {
		Equal(Got(ask(slow, "kept")).StatusCode, http.StatusNoContent)
	}
	probe.Restart(func() error {
		answer, err := ask(slow, "other-"+strconv.FormatInt(time.Now().UnixNano(), 36))
		if err == nil && answer.StatusCode != http.StatusNoContent {
			return statusError(answer.StatusCode)
		}
		return err
	})
}

func kept() {
	NeedDurable()
	for _, status := range []int{http.StatusNoContent, http.StatusNoContent, http.StatusTooManyRequests} {
		Equal(Got(ask(slow, "kept")).StatusCode, status)
	}
}

func main() {
	Say("version %s", probe.Version("github.com/traefik/traefik/v3"))
	Check("figures", figures)
	Check("stored", stored)
	Check("window", window)
	Check("concurrent", concurrent)
	Check("unavailable", unavailable)
	Check("restart", restart)
	Check("scripts-known", probe.ScriptsKnown)
	Check("kept", kept)
	Say("done")
}
