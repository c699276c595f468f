package weir

import (
	"context"
	"errors"
	"sync"

	"github.com/redis/go-redis/v9"
)

// reply is what weir answered to a command, or why it did not. A null is no value and no error.
type reply struct {
	value any
	err   error
}

// sender sends commands together, within the deadline of the context. There is a reply for each.
type sender interface {
	send(ctx context.Context, commands [][]any) []reply
	close() error
}

func failed(commands [][]any, err error) []reply {
	replies := make([]reply, len(commands))
	for index := range replies {
		replies[index].err = err
	}
	return replies
}

func exchange(ctx context.Context, client redis.UniversalClient, commands [][]any) []reply {
	if len(commands) == 1 {
		command := redis.NewCmd(ctx, commands[0]...)
		_ = client.Process(ctx, command)
		return []reply{replyOf(command)}
	}
	sent := make([]*redis.Cmd, len(commands))
	pipeline := client.Pipeline()
	for index, command := range commands {
		sent[index] = redis.NewCmd(ctx, command...)
		_ = pipeline.Process(ctx, sent[index])
	}
	_, _ = pipeline.Exec(ctx) // each command has its own error
	replies := make([]reply, len(commands))
	for index, command := range sent {
		replies[index] = replyOf(command)
	}
	return replies
}

func replyOf(command *redis.Cmd) reply {
	value, err := command.Result()
	if errors.Is(err, redis.Nil) {
		return reply{}
	}
	return reply{value, err}
}

// pooled is a client that keeps to the context by itself.
type pooled struct{ client *redis.Client }

func (p pooled) send(ctx context.Context, commands [][]any) []reply {
	return exchange(ctx, p.client, commands)
}

func (p pooled) close() error { return p.client.Close() }

// given is a client of another make: what it does beyond the context's end is not waited for.
type given struct{ client redis.UniversalClient }

func (g given) send(ctx context.Context, commands [][]any) []reply {
	if g.client == nil {
		return failed(commands, errNoWaits)
	}
	done := make(chan []reply, 1)
	go func() { done <- exchange(ctx, g.client, commands) }()
	select {
	case replies := <-done:
		return replies
	case <-ctx.Done():
		return failed(commands, ctx.Err())
	}
}

func (g given) close() error { return nil }

// waiting has a client, with one connection, for each call that waits. A call whose context ends closes it, so weir passes
// its place over.
type waiting struct {
	make   func() *redis.Client
	lock   sync.Mutex
	idle   []*redis.Client
	closed bool
}

func (w *waiting) send(ctx context.Context, commands [][]any) []reply {
	client, err := w.take()
	if err != nil {
		return failed(commands, err)
	}
	done := make(chan []reply, 1)
	go func() { done <- exchange(ctx, client, commands) }()
	select {
	case replies := <-done:
		if isConnected(replies) {
			w.give(client)
		} else {
			_ = client.Close()
		}
		return replies
	case <-ctx.Done():
		_ = client.Close()
		return failed(commands, ctx.Err())
	}
}

func isConnected(replies []reply) bool {
	var said redis.Error
	err := replies[len(replies)-1].err
	return err == nil || errors.As(err, &said)
}

func (w *waiting) take() (*redis.Client, error) {
	w.lock.Lock()
	defer w.lock.Unlock()
	if w.closed {
		return nil, redis.ErrClosed
	}
	if last := len(w.idle) - 1; last >= 0 {
		client := w.idle[last]
		w.idle = w.idle[:last]
		return client, nil
	}
	return w.make(), nil
}

func (w *waiting) give(client *redis.Client) {
	w.lock.Lock()
	defer w.lock.Unlock()
	if w.closed || len(w.idle) >= idleMax {
		_ = client.Close()
		return
	}
	w.idle = append(w.idle, client)
}

// idleMax is how many connections of calls that waited are kept for the next ones.
const idleMax = 50

func (w *waiting) close() error {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.closed = true
	var errs []error
	for _, client := range w.idle {
		errs = append(errs, client.Close())
	}
	w.idle = nil
	return errors.Join(errs...)
}
