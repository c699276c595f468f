package weir

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Weir is a weir-server, a shard, or a cluster, as a program sees it. Limiters share it, and goroutines do.
type Weir struct {
	deadline time.Duration
	attempts int
	calls    sender
	waits    sender
}

// Connect makes a Weir of an URL as go-redis takes it: redis://, rediss:// or unix://. It sends nothing yet: a weir that is
// away is no error, and counts as away for the first call.
func Connect(url string, options ...Option) (*Weir, error) {
	settings, err := settingsOf(options)
	if err != nil {
		return nil, err
	}
	parsed, err := redis.ParseURL(url)
	if err != nil {
		return nil, fmt.Errorf("weir: %w", err)
	}
	client := func(connections int) *redis.Client {
		return redis.NewClient(clientOptions(*parsed, settings, connections))
	}
	made := settings.weir()
	made.calls = settings.batching(pooled{client(settings.connections)})
	made.waits = &waiting{make: func() *redis.Client { return client(1) }}
	return made, nil
}

// Over makes a Weir over a client of go-redis as it is, so a shard is followed by its sentinels (redis.NewFailoverClient)
// and a cluster by its slots (redis.NewClusterClient). The deadline ends a call, whatever the client's own time-outs and
// retries are. Calls that wait need the option Waits. Close leaves the clients open.
func Over(client redis.UniversalClient, options ...Option) (*Weir, error) {
	settings, err := settingsOf(options)
	if err != nil {
		return nil, err
	}
	if client == nil {
		return nil, errors.New("weir: Over needs a client")
	}
	made := settings.weir()
	made.calls = settings.batching(given{client})
	made.waits = given{settings.waits}
	return made, nil
}

// Close closes the connections, of Connect.
func (w *Weir) Close() error { return errors.Join(w.calls.close(), w.waits.close()) }

func (s settings) weir() *Weir { return &Weir{deadline: s.deadline, attempts: s.retries + 1} }

func (s settings) batching(to sender) sender {
	if s.batches {
		return &batcher{to: to}
	}
	return to
}

// clientOptions make a client that sends once, and keeps to the deadline of the context of a call alone.
func clientOptions(options redis.Options, settings settings, connections int) *redis.Options {
	options.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	if settings.adjust != nil {
		settings.adjust(&options)
	}
	options.OnConnect = naming(options.OnConnect)
	options.MaxRetries = -1
	options.DialerRetries = 1
	options.DialTimeout = settings.deadline
	options.ReadTimeout, options.WriteTimeout = -1, -1
	options.PoolTimeout = time.Hour
	options.ContextTimeoutEnabled = true
	options.PoolSize = connections
	return &options
}

// naming tells the name of the process. A user who may not is counted by no name.
func naming(then func(context.Context, *redis.Conn) error) func(context.Context, *redis.Conn) error {
	return func(ctx context.Context, connection *redis.Conn) error {
		err := connection.ClientSetName(ctx, ProcessName()).Err()
		var said redis.Error
		if err != nil && !errors.As(err, &said) {
			return err
		}
		if then != nil {
			return then(ctx, connection)
		}
		return nil
	}
}

// ProcessName is by what weir counts the callers of a policy: one a process. A client that is given to Over has it by its
// option ClientName.
func ProcessName() string {
	host, _ := os.Hostname()
	host = strings.Map(func(char rune) rune {
		switch {
		case char >= 'a' && char <= 'z', char >= 'A' && char <= 'Z', char >= '0' && char <= '9', strings.ContainsRune("-_.", char):
			return char
		}
		return '-'
	}, host)
	return fmt.Sprintf("weir-%.48s-%d", host, os.Getpid())
}

// send sends commands together, in one attempt until an instant. There is a reply or an error for each.
func (w *Weir) send(ctx context.Context, until time.Time, commands [][]any, waits bool) []reply {
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	if waits {
		return w.waits.send(ctx, commands)
	}
	return w.calls.send(ctx, commands)
}
