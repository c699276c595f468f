// Package weir limits rates by a weir-server, with what a caller needs around that: time-outs, IDs and one retry, and a
// decision when weir is away.
//
//	limiter, err := weir.New("redis://127.0.0.1:7000", "100/1m BURST 20", weir.Processes(4))
//	verdict, err := limiter.Take(ctx, "user:42")
//
// A call has its verdict within a tenth of a second, whatever happens to weir. It has an ID, so it is charged once however
// often it is sent. Where weir is refused, cut, says that it does not serve, or lets two calls in a row or five of the
// last ten time out, the limiter decides by itself (see Away), asks once a second beside the calls whether weir is back,
// and then charges weir with what it has granted meanwhile. Errors are faults of the program, such as WRONGTYPE, NOPERM or
// a policy that is not there, and the caller's own end of its context.
//
// The package weirhttp beside this one has middleware for net/http, the module weirotel spans and metrics of OpenTelemetry.
package weir
