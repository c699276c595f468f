package weirhttp_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"syscall"
	"testing"
	"time"

	weir "weir/clients/go"
	"weir/clients/go/internal/weirtest"
	"weir/clients/go/weirhttp"
)

const (
	inTime = 150 * time.Millisecond
	slack  = 300 * time.Millisecond // a busy machine runs this process late
)

func request(peer, path string, headers ...string) *http.Request {
	asked := httptest.NewRequest(http.MethodGet, path, nil)
	asked.RemoteAddr = peer
	for at := 0; at+1 < len(headers); at += 2 {
		asked.Header.Add(headers[at], headers[at+1])
	}
	return asked
}

func TestByAddress(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	for _, row := range []struct {
		trusted              []netip.Prefix
		peer, forwarded, key string
	}{
		{nil, "192.0.2.1:80", "198.51.100.9", "192.0.2.1"},
		{proxies, "10.1.1.1:80", "198.51.100.9", "198.51.100.9"},
		{proxies, "10.1.1.1:80", "203.0.113.5, 198.51.100.9, 10.2.2.2", "198.51.100.9"},
		{proxies, "10.1.1.1:80", "10.3.3.3, 10.2.2.2", "10.3.3.3"},
		{proxies, "10.1.1.1:80", "", "10.1.1.1"},
		{proxies, "10.1.1.1:80", "198.51.100.9, nonsense", "10.1.1.1"},
		{proxies, "10.1.1.1:80", "198.51.100.9:4711", "198.51.100.9"},
		{proxies, "[::ffff:10.1.1.1]:80", "[2001:db8:1:2:3::4]:80", "2001:db8:1:2::/64"},
		{nil, "[2001:db8:1:2:ffff::1]:80", "", "2001:db8:1:2::/64"},
		{nil, "[fe80::1%eth0]:80", "", "fe80::/64"},
		{nil, "[::ffff:192.0.2.1]:80", "", "192.0.2.1"},
		{nil, "", "", "unknown"},
	} {
		asked := request(row.peer, "/")
		if row.forwarded != "" {
			asked.Header.Set("X-Forwarded-For", row.forwarded)
		}
		if got := weirhttp.ByAddress(row.trusted...)(asked); got != "address:"+row.key {
			t.Errorf("%s, %s: got %s, want %s", row.peer, row.forwarded, got, row.key)
		}
	}
	twice := request("10.1.1.1:80", "/", "X-Forwarded-For", "203.0.113.5", "X-Forwarded-For", "198.51.100.9")
	if got := weirhttp.ByAddress(proxies...)(twice); got != "address:198.51.100.9" {
		t.Errorf("of two headers: got %s", got)
	}
}

func TestOtherKeys(t *testing.T) {
	named := func(*http.Request) string { return "7" }
	nobody := func(*http.Request) string { return "" }
	byKey := weirhttp.ByHeader("X-Api-Key", nil)
	for want, got := range map[string]string{
		"header:k":          byKey(request("192.0.2.1:80", "/", "X-Api-Key", "k")),
		"address:192.0.2.1": byKey(request("192.0.2.1:80", "/")),
		"user:7":            weirhttp.ByUser(named, nil)(request("192.0.2.1:80", "/")),
		"header:l":          weirhttp.ByUser(nobody, byKey)(request("192.0.2.1:80", "/", "X-Api-Key", "l")),
		"user:7:GET:/a":     weirhttp.PerRoute(weirhttp.ByUser(named, nil))(request("192.0.2.1:80", "/a?b=c")),
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// site is an HTTP server, on a port of its own, with a Limit before it.
func site(t *testing.T, limit *weirhttp.Limit) func(path string, headers ...string) (*http.Response, string) {
	t.Helper()
	hello := http.HandlerFunc(func(writer http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(writer, "hello") })
	server := httptest.NewServer(limit.Handler(hello))
	t.Cleanup(func() {
		server.Close()
		_ = limit.Close()
	})
	return func(path string, headers ...string) (*http.Response, string) {
		t.Helper()
		asked, _ := http.NewRequest(http.MethodGet, server.URL+path, nil)
		for at := 0; at+1 < len(headers); at += 2 {
			asked.Header.Set(headers[at], headers[at+1])
		}
		response, err := server.Client().Do(asked)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		body, _ := io.ReadAll(response.Body)
		return response, string(body)
	}
}

func made(t *testing.T, url, limits string, options weirhttp.Options) *weirhttp.Limit {
	t.Helper()
	limit, err := weirhttp.New(url, limits, options)
	if err != nil {
		t.Fatal(err)
	}
	return limit
}

// patiently has time for an answer: a busy machine is slow.
func patiently(t *testing.T, url, limits string, options weirhttp.Options) *weirhttp.Limit {
	t.Helper()
	on, err := weir.Connect(url, weir.Deadline(30*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	limiter, err := on.Limiter(limits)
	if err != nil {
		t.Fatal(err)
	}
	return weirhttp.Over(limiter, options)
}

func fields(t *testing.T, response *http.Response, status int, wanted ...string) {
	t.Helper()
	if response.StatusCode != status {
		t.Errorf("got %d, want %d", response.StatusCode, status)
	}
	for at := 0; at+1 < len(wanted); at += 2 {
		if got := response.Header.Get(wanted[at]); got != wanted[at+1] {
			t.Errorf("%s: got '%s', want '%s'", wanted[at], got, wanted[at+1])
		}
	}
}

func TestFieldsAnd429(t *testing.T) {
	server := weirtest.Start(t)
	get := site(t, patiently(t, server.URL(), "FIXED 2/1h AS hourly", weirhttp.Options{Legacy: true}))
	response, body := get("/")
	fields(t, response, http.StatusOK, "RateLimit", `"hourly";r=1;t=3600`, "RateLimit-Policy", `"hourly";q=2;w=3600`,
		"X-RateLimit-Remaining", "1")
	if body != "hello" {
		t.Errorf("got %s", body)
	}
	get("/")
	response, body = get("/")
	fields(t, response, http.StatusTooManyRequests, "Content-Type", "application/problem+json")
	if retry, _ := strconv.Atoi(response.Header.Get("Retry-After")); retry < 3540 || retry > 3600 {
		t.Errorf("Retry-After: got %s", response.Header.Get("Retry-After"))
	}
	violates(t, body, "hourly")
}

// violates is of the body of a denial by one limit.
func violates(t *testing.T, body, name string) {
	t.Helper()
	var problem struct {
		Status   int
		Violated []string `json:"violated-policies"`
	}
	if err := json.Unmarshal([]byte(body), &problem); err != nil || problem.Status != 429 || len(problem.Violated) != 1 ||
		problem.Violated[0] != name {
		t.Errorf("got %s, %v", body, err)
	}
}

func TestSkipCostAndKey(t *testing.T) {
	server := weirtest.Start(t)
	get := site(t, patiently(t, server.URL(), "FIXED 10/1h", weirhttp.Options{
		Skip: func(request *http.Request) bool { return request.URL.Path == "/health" },
		Key:  weirhttp.ByHeader("X-Api-Key", nil),
		Cost: func(request *http.Request) int64 {
			cost, _ := strconv.ParseInt(request.Header.Get("X-Cost"), 10, 64)
			return max(1, cost)
		},
	}))
	response, _ := get("/health")
	fields(t, response, http.StatusOK, "RateLimit", "")
	response, _ = get("/", "X-Api-Key", "a", "X-Cost", "7")
	fields(t, response, http.StatusOK, "RateLimit", `"default";r=3;t=3600`)
	response, _ = get("/", "X-Api-Key", "b")
	fields(t, response, http.StatusOK, "RateLimit", `"default";r=9;t=3600`)
	response, body := get("/", "X-Api-Key", "a", "X-Cost", "7")
	fields(t, response, http.StatusTooManyRequests)
	violates(t, body, "default")
}

func TestAFaultIsNoDenial(t *testing.T) {
	server := weirtest.Start(t)
	get := site(t, patiently(t, server.URL(), "POLICY unknown", weirhttp.Options{}))
	response, _ := get("/")
	fields(t, response, http.StatusInternalServerError)
	get = site(t, patiently(t, server.URL(), "POLICY unknown", weirhttp.Options{
		OnError: func(writer http.ResponseWriter, _ *http.Request, _ error) { writer.WriteHeader(http.StatusTeapot) }}))
	response, _ = get("/")
	fields(t, response, http.StatusTeapot)
}

func TestKilledAndHanging(t *testing.T) {
	server := weirtest.Start(t)
	get := site(t, made(t, server.URL(), "FIXED 1000/1h", weirhttp.Options{Processes: 2}))
	weirtest.Until(t, "weir answers", func() bool {
		get("/")
		return server.Call("EXISTS", "http:address:127.0.0.1").(int64) == 1
	})
	for _, begin := range []func(){func() { server.Signal(syscall.SIGSTOP) }, server.Kill} {
		begin()
		for range 10 {
			watch := weirtest.Watch()
			response, _ := get("/")
			if took := watch.Taken(); took > inTime+slack {
				t.Errorf("an answer took %v", took)
			}
			fields(t, response, http.StatusOK, "RateLimit-Policy", `"default";q=1000;w=3600`)
		}
	}
	get = site(t, made(t, server.URL(), "FIXED 1000/1h", weirhttp.Options{Away: weir.Closed}))
	response, _ := get("/")
	fields(t, response, http.StatusTooManyRequests, "Retry-After", "1")
}
