// Package report is what every Go program of tests/clients shares: its orders, its report, its
// callers. The lines it writes are described in ../../harness/session.py.
package report

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// The orders, from the environment.
var (
	Address   = "127.0.0.1:" + os.Getenv("CLIENTS_PORT")
	Port      = os.Getenv("CLIENTS_PORT")
	IsWeir    = os.Getenv("CLIENTS_SERVER") == "weir"
	IsDurable = os.Getenv("CLIENTS_DURABLE") == "1"
)

// Protocol is the RESP version to use.
func Protocol() int {
	number, err := strconv.Atoi(os.Getenv("CLIENTS_PROTOCOL"))
	Must(err)
	return number
}

// failure is what the checks below throw, so that they can be called in any depth.
type failure struct{ why string }
type skip struct{ why string }

// Say writes one line of the report.
func Say(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// Check runs one named check and reports how it went.
func Check(name string, body func()) {
	defer func() {
		switch got := recover().(type) {
		case nil:
			Say("ok %s", name)
		case skip:
			Say("skip %s: %s", name, got.why)
		case failure:
			Say("not ok %s: %.600s", name, strings.Join(strings.Fields(got.why), " "))
		default:
			panic(got)
		}
	}()
	body()
}

// Fail ends the check.
func Fail(format string, args ...any) { panic(failure{fmt.Sprintf(format, args...)}) }

// Skip ends the check: this server or library cannot be asked.
func Skip(why string) { panic(skip{why}) }

// Must ends the check when the library answered with an error.
func Must(err error) {
	if err != nil {
		Fail("%T: %v", err, err)
	}
}

// Got is Must for a call that answers a value as well.
func Got[T any](value T, err error) T {
	Must(err)
	return value
}

// Equal compares deeply.
func Equal(got, wanted any) {
	if !reflect.DeepEqual(got, wanted) {
		Fail("got %.300v, wanted %.300v", fmt.Sprint(got), fmt.Sprint(wanted))
	}
}

// Between includes both ends.
func Between(low, got, high float64, what string) {
	if got < low || got > high {
		Fail("%s %v, wanted %v to %v", what, got, low, high)
	}
}

// Refused wants an error of the library's type E with the server's words in it.
func Refused[E error](err error, text string) {
	var kind E
	if err == nil || !errors.As(err, &kind) {
		Fail("%T %v is not the library's error", err, err)
	}
	if !strings.Contains(err.Error(), text) {
		Fail("the error says %q, wanted %q", err, text)
	}
}

// NeedWeir skips on Redis.
func NeedWeir() {
	if !IsWeir {
		Skip("Redis has no CL.THROTTLE")
	}
}

// NeedDurable skips on a server that forgets.
func NeedDurable() {
	if !IsDurable {
		Skip("the server keeps nothing over a restart")
	}
}

// Together calls body from so many goroutines that start at once, and answers all they answered.
func Together[T any](callers int, body func() (T, error)) []T {
	results, failed := make([]T, callers), make([]error, callers)
	gate, all := make(chan struct{}), sync.WaitGroup{}
	for index := range callers {
		all.Add(1)
		go func() {
			defer all.Done()
			<-gate
			results[index], failed[index] = body()
		}()
	}
	close(gate)
	all.Wait()
	Must(errors.Join(failed...))
	return results
}

var input = bufio.NewReader(os.Stdin)

// RestartServer has the server killed and started again; it returns when the server answers.
func RestartServer() {
	Say("restart")
	Got(input.ReadString('\n'))
}
