package weir

import (
	"context"
	"errors"
	"net"

	"github.com/redis/go-redis/v9"
	"weir/clients/go/internal/core"
)

// errNoWaits is for calls that wait, where a client was given without one for them.
var errNoWaits = errors.New("weir: a call that waits needs a client of its own: weir.Over(client, weir.Waits(another))")

// failureOf is what an error of a call means; "" if it is the program's.
func failureOf(err error) core.Failure {
	var said redis.Error
	if errors.As(err, &said) {
		return core.FailureOfWords(said.Error())
	}
	var network net.Error
	switch {
	case errors.Is(err, redis.ErrClosed), errors.Is(err, errNoWaits):
		return ""
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, redis.ErrPoolTimeout):
		return core.Late
	case errors.As(err, &network) && network.Timeout():
		return core.Late
	}
	return core.Gone
}

// isReply says whether weir has said it.
func isReply(err error) bool {
	var said redis.Error
	return errors.As(err, &said)
}
