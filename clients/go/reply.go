package weir

import (
	"fmt"

	"weir/clients/go/internal/core"
)

// answer is a reply with FULL: the verdict, and what the core learns from it.
type answer struct {
	verdict  Verdict
	resetsMS []float64
	blocked  bool
	bannedMS *float64 // nil: not told
	callers  *int64   // nil: not told
}

// mapping of a map of RESP3, or of flat pairs of RESP2, by names.
func mapping(reply any) (map[any]any, error) {
	switch pairs := reply.(type) {
	case map[any]any:
		return pairs, nil
	case []any:
		found := make(map[any]any, len(pairs)/2)
		for at := 0; at+1 < len(pairs); at += 2 {
			found[text(pairs[at])] = pairs[at+1]
		}
		return found, nil
	}
	return nil, fmt.Errorf("weir: a map was expected, got %T", reply)
}

// number is 0 where there is none.
func number(value any) int64 {
	switch found := value.(type) {
	case int64:
		return found
	case float64:
		return int64(found)
	}
	return 0
}

// text is "" where there is none.
func text(value any) string {
	found, _ := value.(string)
	return found
}

// numbers of an array of integers; nil are 0.
func numbers(reply any, count int) ([]int64, error) {
	fields, _ := reply.([]any)
	if len(fields) < count {
		return nil, fmt.Errorf("weir: %d fields were expected, got %v", count, reply)
	}
	found := make([]int64, len(fields))
	for index, field := range fields {
		found[index] = number(field)
	}
	return found, nil
}

// ofReply reads what weir answers with FULL or HEADERS to a request of that cost; known are the limits that were asked, nil if
// they are a policy's.
func ofReply(reply any, known []core.Spec, cost core.Cost) (answer, error) {
	full, err := mapping(reply)
	if err != nil {
		return answer{}, err
	}
	limits, found := full["limits"].([]any)
	if !found {
		return answer{}, fmt.Errorf("weir: an answer without limits: %v", reply)
	}
	made := answer{resetsMS: make([]float64, len(limits))}
	states, told := make([]LimitState, len(limits)), make([]core.Answered, len(limits))
	for index, each := range limits {
		limit, err := mapping(each)
		if err != nil {
			return answer{}, err
		}
		made.resetsMS[index] = float64(number(limit["reset_ms"]))
		window := float64(number(limit["window_ms"]))
		states[index] = LimitState{text(limit["name"]), number(limit["capacity"]), number(limit["remaining"]),
			duration(made.resetsMS[index]), duration(window)}
		told[index] = core.Answered{Name: states[index].Name, Algorithm: text(limit["algorithm"]),
			Capacity: float64(states[index].Limit), WindowMS: window}
	}
	verdict := Verdict{Allowed: number(full["allowed"]) == 1, Limit: -1, Remaining: -1, Policy: text(full["policy"]),
		RetryAfter: duration(float64(number(full["retry_ms"]))), Limits: states, Granted: number(full["granted"]),
		Banned: number(full["banned"]) == 1, Source: BySelf, specs: known, ID: number(full["lease"])}
	if hold := number(full["hold"]); hold != 0 {
		verdict.ID = hold
	}
	if verdict.fields, err = fieldsOf(full["headers"]); err != nil {
		return answer{}, err
	}
	if known == nil {
		verdict.specs = core.FromAnswer(told, verdict.fields["RateLimit-Policy"])
	}
	if chosen := deciding(states, verdict.Allowed); chosen != nil {
		verdict.Limit, verdict.Remaining, verdict.ResetAfter = chosen.Limit, chosen.Remaining, chosen.ResetAfter
	}
	made.verdict, made.blocked = verdict, len(limits) == 0 && !verdict.Allowed
	made.bannedMS = bannedMS(verdict, float64(number(full["retry_ms"])), cost)
	if callers, told := full["callers"]; told {
		count := number(callers)
		made.callers = &count
	}
	return made, nil
}

// bannedMS is for how long the key is banned. A request of nothing meets no ban, and one that is never granted does not tell
// when the ban ends.
func bannedMS(verdict Verdict, retryMS float64, cost core.Cost) *float64 {
	told, found := cost.Asks(), 0.0
	if verdict.Banned && !verdict.Allowed {
		told, found = retryMS >= 0, retryMS
	}
	if !told {
		return nil
	}
	return &found
}

func fieldsOf(reply any) (map[string]string, error) {
	if reply == nil {
		return nil, nil
	}
	pairs, err := mapping(reply)
	if err != nil {
		return nil, err
	}
	fields := make(map[string]string, len(pairs))
	for name, value := range pairs {
		fields[text(name)] = text(value)
	}
	return fields, nil
}

// deciding: FULL does not name the limit. It is the one with the least left, of a denial that which needs longest.
func deciding(states []LimitState, allowed bool) *LimitState {
	var chosen *LimitState
	for index := range states {
		state := &states[index]
		if chosen == nil || comesFirst(state, chosen, allowed) {
			chosen = state
		}
	}
	return chosen
}

func comesFirst(state, chosen *LimitState, allowed bool) bool {
	if allowed {
		return state.Remaining < chosen.Remaining
	}
	if used, before := state.Remaining <= 0, chosen.Remaining <= 0; used != before {
		return used
	}
	if chosen.ResetAfter == Never {
		return false
	}
	return state.ResetAfter == Never || state.ResetAfter > chosen.ResetAfter
}
