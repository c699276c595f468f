package weir

import (
	"context"
	"testing"
	"time"
)

// What calls make of replies to their requests; nothing is sent.

type replying func(command []any) reply

func (r replying) send(_ context.Context, commands [][]any) []reply {
	replies := make([]reply, len(commands))
	for index, command := range commands {
		replies[index] = r(command)
	}
	return replies
}

func (r replying) close() error { return nil }

type wrongType struct{}

func (wrongType) Error() string { return "WRONGTYPE no limiter" }
func (wrongType) RedisError()   {}

func TestAnyReplyIsBetweenTwoTimeOuts(t *testing.T) {
	ctx := context.Background()
	fault := false
	rows := map[string]func(on *Limiter) error{
		"to a peek":          func(on *Limiter) error { return of(on.Peek(ctx, "k")) },
		"to what gives back": func(on *Limiter) error { return of(on.Cancel(ctx, "k", Reservation{ID: 7})) },
		"to a renewal": func(on *Limiter) error {
			_, _, err := on.renew(ctx, "k", 7)
			return err
		},
		"that is a fault of the program": func(on *Limiter) error {
			fault = true
			if _, err := on.Take(ctx, "k"); err == nil {
				t.Error("the fault is not told")
			}
			fault = false
			return nil
		},
	}
	var second *Limiter
	rows["to a take of several keys, of another limiter"] = func(on *Limiter) error {
		return of(TakeAll(ctx, second.Part("a", 1), on.Part("b", 1)))
	}
	for name, call := range rows {
		isLate := false
		to := replying(func(command []any) reply {
			switch {
			case isLate:
				return reply{err: context.DeadlineExceeded}
			case fault:
				return reply{err: wrongType{}}
			}
			return reply{value: answerTo(command)}
		})
		on, err := (&Weir{deadline: time.Minute, attempts: 1, calls: to, waits: to}).Limiter("5/1s")
		if err != nil {
			t.Fatal(err)
		}
		if second, err = on.Weir().Limiter("6/1s"); err != nil {
			t.Fatal(err)
		}
		late := func() {
			isLate = true
			if verdict, err := on.Take(ctx, "k"); err != nil || verdict.Source != ByLocal {
				t.Errorf("%s: %+v, %v", name, verdict, err)
			}
			isLate = false
		}
		for range 3 {
			late()
			if err := call(on); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if on.State().Away {
			t.Errorf("%s: weir counts as away", name)
		}
		late()
		late()
		if !on.State().Away {
			t.Errorf("%s: weir does not count as away", name)
		}
	}
}
