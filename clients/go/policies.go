package weir

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// administration may take longer than a decision.
const administration = 5 * time.Second

// Policy is a named policy.
type Policy struct {
	Limits   string // all of them with all options, then SHADOW or PERCENT
	OnChange string
	Version  int64
}

// SetPolicy makes or changes a policy, for users with @ratelimitadmin. The limits may end in SHADOW, PERCENT and ONCHANGE.
// Nothing of this is decided while weir is away: its errors are answered.
func (w *Weir) SetPolicy(ctx context.Context, name, limits string) error {
	words := []any{"SET", name}
	for _, word := range strings.Fields(limits) {
		words = append(words, word)
	}
	_, err := w.policy(ctx, words...)
	return err
}

// Policy is nil if there is none of that name.
func (w *Weir) Policy(ctx context.Context, name string) (*Policy, error) {
	value, err := w.policy(ctx, "GET", name)
	if err != nil || value == nil {
		return nil, err
	}
	fields, err := mapping(value)
	if err != nil {
		return nil, err
	}
	return &Policy{text(fields["limits"]), text(fields["onchange"]), number(fields["version"])}, nil
}

// DeletePolicy answers whether there was one. The keys that used it keep what they hold.
func (w *Weir) DeletePolicy(ctx context.Context, name string) (bool, error) {
	value, err := w.policy(ctx, "DEL", name)
	return number(value) > 0, err
}

// Policies are the names of all.
func (w *Weir) Policies(ctx context.Context) ([]string, error) {
	value, err := w.policy(ctx, "LIST")
	if err != nil {
		return nil, err
	}
	listed, _ := value.([]any)
	names := make([]string, len(listed))
	for index, name := range listed {
		names[index] = text(name)
	}
	return names, nil
}

func (w *Weir) policy(ctx context.Context, words ...any) (any, error) {
	command := append([]any{"RL.POLICY"}, words...)
	answered := w.send(ctx, time.Now().Add(administration), [][]any{command}, false)[0]
	if answered.err != nil {
		return nil, fmt.Errorf("weir: %w", answered.err)
	}
	return answered.value, nil
}
