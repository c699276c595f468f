package weir

import (
	"context"
	"sync"
	"time"
)

// batchMax is how many commands a pipeline has at most, save where one call has more.
const batchMax = 1000

// batcher sends what is called while a pipeline is under way in one pipeline after it.
type batcher struct {
	to      sender
	lock    sync.Mutex
	waiting []*batched
	busy    bool
}

type batched struct {
	ctx      context.Context
	commands [][]any
	done     chan []reply
}

func (b *batcher) send(ctx context.Context, commands [][]any) []reply {
	call := &batched{ctx, commands, make(chan []reply, 1)}
	b.lock.Lock()
	b.waiting = append(b.waiting, call)
	begins := !b.busy
	b.busy = true
	b.lock.Unlock()
	if begins {
		go b.run()
	}
	select {
	case replies := <-call.done:
		return replies
	case <-ctx.Done():
		return failed(commands, ctx.Err())
	}
}

func (b *batcher) close() error { return b.to.close() }

func (b *batcher) run() {
	for {
		calls := b.next()
		if len(calls) == 0 {
			return
		}
		send(b.to, calls)
	}
}

// next are the calls of a pipeline. Whoever has given up is left out, and never sent.
func (b *batcher) next() []*batched {
	b.lock.Lock()
	defer b.lock.Unlock()
	var calls []*batched
	count, at := 0, 0
	for ; at < len(b.waiting) && count < batchMax; at++ {
		if call := b.waiting[at]; call.ctx.Err() == nil {
			calls = append(calls, call)
			count += len(call.commands)
		}
	}
	b.waiting = append([]*batched(nil), b.waiting[at:]...)
	b.busy = len(calls) > 0
	return calls
}

func send(to sender, calls []*batched) {
	var commands [][]any
	var end time.Time
	for _, call := range calls {
		commands = append(commands, call.commands...)
		if deadline, _ := call.ctx.Deadline(); deadline.After(end) {
			end = deadline
		}
	}
	ctx, cancel := context.WithDeadline(context.Background(), end)
	defer cancel()
	replies := to.send(ctx, commands)
	for _, call := range calls {
		call.done <- replies[:len(call.commands)]
		replies = replies[len(call.commands):]
	}
}
