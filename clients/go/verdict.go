package weir

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"weir/clients/go/internal/core"
)

// Never is a wait that does not end: RetryAfter of what can never be granted, ResetAfter of what is never full again.
const Never time.Duration = -1

// closedRetry is what a caller is told to wait where nothing is known.
const closedRetry = time.Second

// Source is who decided.
type Source string

const (
	// BySelf is weir's own answer.
	BySelf Source = "weir"
	// ByLocal is the process' share, of Local and Strict.
	ByLocal Source = "local"
	// ByOpen is Open while weir is away.
	ByOpen Source = "open"
	// ByClosed is Closed while weir is away.
	ByClosed Source = "closed"
)

// LimitState is one limit of a key.
type LimitState struct {
	Name       string
	Limit      int64         // its capacity
	Remaining  int64         // whole permits that are left; below 0 a debt
	ResetAfter time.Duration // until it is full; Never if that never comes
	Window     time.Duration // its period; of CONCURRENCY the lease
}

// Verdict is an answer. Limit, Remaining and ResetAfter are the deciding limit's, and -1, -1 and 0 where none decides.
type Verdict struct {
	Allowed    bool
	Limit      int64
	Remaining  int64
	RetryAfter time.Duration // until the same request succeeds: 0 when allowed, Never if it never does
	ResetAfter time.Duration
	Policy     string // its name; "" without one
	Limits     []LimitState
	Granted    int64 // permits taken
	ID         int64 // of the lease or the hold; 0 without one
	Banned     bool  // a ban denies
	Source     Source

	specs  []core.Spec
	fields map[string]string
}

// Headers are the fields of HTTP: RateLimit, RateLimit-Policy and, when denied, Retry-After.
func (v Verdict) Headers() map[string]string {
	found := make(map[string]string, 4)
	for name, value := range v.fields {
		found[name] = value
	}
	if len(found) == 0 && len(v.Limits) > 0 {
		found["RateLimit"], found["RateLimit-Policy"] = v.itemFields()
	}
	if _, told := found["Retry-After"]; !told && !v.Allowed && v.RetryAfter != Never {
		found["Retry-After"] = strconv.FormatInt(max(1, seconds(v.RetryAfter)), 10)
	}
	return found
}

// LegacyHeaders are X-RateLimit-Limit, -Remaining and -Reset, for callers that read those.
func (v Verdict) LegacyHeaders() map[string]string {
	if len(v.Limits) == 0 {
		return nil
	}
	return map[string]string{
		"X-RateLimit-Limit":     strconv.FormatInt(v.Limit, 10),
		"X-RateLimit-Remaining": strconv.FormatInt(max(0, v.Remaining), 10),
		"X-RateLimit-Reset":     strconv.FormatInt(max(0, seconds(v.ResetAfter)), 10),
	}
}

func (v Verdict) itemFields() (items, policies string) {
	names := v.ItemNames()
	var item, policy strings.Builder
	for index, limit := range v.Limits {
		if index > 0 {
			item.WriteString(", ")
			policy.WriteString(", ")
		}
		fmt.Fprintf(&item, `"%s";r=%d`, names[index], max(0, limit.Remaining))
		if limit.ResetAfter != Never {
			fmt.Fprintf(&item, ";t=%d", seconds(limit.ResetAfter))
		}
		count := limit.Limit
		if len(v.specs) == len(v.Limits) {
			count = int64(v.specs[index].Count)
		}
		fmt.Fprintf(&policy, `"%s";q=%d`, names[index], count)
		if limit.Window >= time.Second && limit.Window%time.Second == 0 {
			fmt.Fprintf(&policy, ";w=%d", limit.Window/time.Second)
		}
	}
	return item.String(), policy.String()
}

// seconds are whole ones, rounded up.
func seconds(duration time.Duration) int64 {
	return int64(math.Ceil(duration.Seconds()))
}

// duration of milliseconds, of which -1 is Never.
func duration(ms float64) time.Duration {
	switch {
	case ms == core.Never:
		return Never
	case ms >= math.MaxInt64/float64(time.Millisecond):
		return math.MaxInt64
	}
	return time.Duration(math.Round(ms * float64(time.Millisecond)))
}

// DeniedError is why a lease or a hold was not given; the verdict says for how long.
type DeniedError struct{ Verdict Verdict }

func (e *DeniedError) Error() string {
	if e.Verdict.RetryAfter == Never {
		return "weir: denied, and never to be granted"
	}
	return fmt.Sprintf("weir: denied, retry after %s", e.Verdict.RetryAfter)
}

// ofDecision is the verdict of a decision that was made here.
func ofDecision(decision core.Decision, source Source, cost int64, policy string) Verdict {
	verdict := Verdict{Allowed: decision.Allowed, Limit: -1, Remaining: -1, Policy: policy, Source: source,
		specs: decision.Specs, Limits: make([]LimitState, len(decision.Views))}
	if decision.Allowed {
		verdict.Granted = cost
	}
	for index, view := range decision.Views {
		spec := decision.Specs[index]
		verdict.Limits[index] = LimitState{spec.Name, view.Limit, view.Remaining, duration(view.ResetMS),
			duration(spec.PeriodMS)}
	}
	if decision.Index >= 0 {
		view := decision.Views[decision.Index]
		verdict.Limit, verdict.Remaining = view.Limit, view.Remaining
		verdict.RetryAfter, verdict.ResetAfter = duration(view.RetryMS), duration(view.ResetMS)
	} else if !decision.Allowed {
		verdict.RetryAfter = closedRetry
	}
	return verdict
}
