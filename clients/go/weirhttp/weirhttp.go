// Package weirhttp limits requests of net/http, and of routers that take its middleware.
//
//	limit, err := weirhttp.New("redis://127.0.0.1:7000", "100/1m", weirhttp.Options{Processes: 4})
//	http.ListenAndServe(":8080", limit.Handler(mux))
//
// A denial is answered 429 as application/problem+json with Retry-After, and every answer has RateLimit and
// RateLimit-Policy. While weir is away the answer comes within 150 ms for two requests, then at once.
package weirhttp

import (
	"encoding/json"
	"net/http"

	weir "weir/clients/go"
)

const (
	problem = "https://iana.org/assignments/http-problem-types#quota-exceeded"
	title   = "Request cannot be satisfied as assigned quota has been exceeded"
)

// Options of a Limit. All may be left out.
type Options struct {
	// Away, Processes, Fallback and OnChange are those of a weir.Limiter, for New.
	Away      weir.Away
	Processes float64
	Fallback  string
	OnChange  func(weir.Change)

	// Key says whom a request is counted for; ByAddress() where it is nil.
	Key Key
	// Skip is true for requests that are not counted.
	Skip func(*http.Request) bool
	// Cost is how many permits a request takes; 1 where it is nil.
	Cost func(*http.Request) int64
	// Prefix stands before each key in weir; "http:" where it is empty.
	Prefix string
	// Legacy adds X-RateLimit-Limit, -Remaining and -Reset.
	Legacy bool
	// OnError answers a request that could not be decided for a fault of the program, such as NOPERM or a policy that is
	// not there: with 500 where it is nil. A weir that is away is no such fault.
	OnError func(http.ResponseWriter, *http.Request, error)
}

// Limit is a middleware.
type Limit struct {
	limiter *weir.Limiter
	options Options
}

// New makes a Limit with a limiter of its own, as weir.New does.
func New(url, limits string, options Options) (*Limit, error) {
	own := []weir.LimiterOption{weir.Processes(options.Processes), weir.Fallback(options.Fallback)}
	if options.Away != "" {
		own = append(own, weir.WhenAway(options.Away))
	}
	if options.OnChange != nil {
		own = append(own, weir.OnChange(options.OnChange))
	}
	limiter, err := weir.New(url, limits, own...)
	if err != nil {
		return nil, err
	}
	return Over(limiter, options), nil
}

// Over makes a Limit of a limiter that is there.
func Over(limiter *weir.Limiter, options Options) *Limit {
	if options.Key == nil {
		options.Key = ByAddress()
	}
	if options.Prefix == "" {
		options.Prefix = "http:"
	}
	if options.OnError == nil {
		options.OnError = func(writer http.ResponseWriter, _ *http.Request, _ error) {
			http.Error(writer, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		}
	}
	return &Limit{limiter, options}
}

// Limiter is the one that decides.
func (l *Limit) Limiter() *weir.Limiter { return l.limiter }

// Close closes the limiter's connections.
func (l *Limit) Close() error { return l.limiter.Close() }

// Handler passes on to next what is allowed. It is a middleware as chi and others take it.
func (l *Limit) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		if l.Allow(writer, request) {
			next.ServeHTTP(writer, request)
		}
	})
}

// Allow sets the fields, and says whether the request is to go on. If it is not, it has been answered. It is for routers
// with middleware of their own kind, such as gin and echo.
func (l *Limit) Allow(writer http.ResponseWriter, request *http.Request) bool {
	if l.options.Skip != nil && l.options.Skip(request) {
		return true
	}
	cost := int64(1)
	if l.options.Cost != nil {
		cost = l.options.Cost(request)
	}
	verdict, err := l.limiter.Take(request.Context(), l.options.Prefix+l.options.Key(request), weir.Cost(cost))
	if err != nil {
		l.options.OnError(writer, request, err)
		return false
	}
	set(writer.Header(), verdict.Headers())
	if l.options.Legacy {
		set(writer.Header(), verdict.LegacyHeaders())
	}
	if !verdict.Allowed {
		deny(writer, verdict, cost)
	}
	return verdict.Allowed
}

func set(header http.Header, fields map[string]string) {
	for name, value := range fields {
		header.Set(name, value)
	}
}

func deny(writer http.ResponseWriter, verdict weir.Verdict, cost int64) {
	violated := []string{}
	names := verdict.ItemNames()
	for index, limit := range verdict.Limits {
		if limit.Remaining < cost {
			violated = append(violated, names[index])
		}
	}
	body, _ := json.Marshal(map[string]any{"type": problem, "title": title, "status": http.StatusTooManyRequests,
		"violated-policies": violated})
	writer.Header().Set("Content-Type", "application/problem+json")
	writer.WriteHeader(http.StatusTooManyRequests)
	_, _ = writer.Write(body)
}
