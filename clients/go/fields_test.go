package weir

import (
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"testing"
	"time"

	"weir/clients/go/internal/core"
)

type fieldsRow struct {
	Name    string
	Reply   map[string]any
	Verdict struct {
		Allowed   bool
		Limit     int64
		Remaining int64
		RetryMS   int64 `json:"retry_ms"`
		ResetMS   int64 `json:"reset_ms"`
		Policy    string
		Granted   int64
	}
	Cost     any
	BannedMS *float64 `json:"banned_ms"`
	Specs    [][]any
	Headers  map[string]string
}

func milliseconds(duration time.Duration) int64 {
	if duration == Never {
		return -1
	}
	return duration.Milliseconds()
}

// asAnswered makes maps of JSON those that go-redis answers.
func asAnswered(value any) any {
	switch found := value.(type) {
	case map[string]any:
		pairs := map[any]any{}
		for name, each := range found {
			pairs[name] = asAnswered(each)
		}
		return pairs
	case []any:
		for index, each := range found {
			found[index] = asAnswered(each)
		}
	}
	return value
}

// costOf is one number, one for each limit, or left out.
func costOf(value any) core.Cost {
	switch found := value.(type) {
	case float64:
		return core.Cost{All: int64(found)}
	case []any:
		var each []int64
		for _, one := range found {
			each = append(each, int64(one.(float64)))
		}
		return core.Cost{Each: each}
	}
	return core.Cost{All: 1}
}

// TestFields is the table that all clients share.
func TestFields(t *testing.T) {
	text, err := os.ReadFile("../conformance/fields.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []fieldsRow
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		t.Run(row.Name, func(t *testing.T) {
			found, err := ofReply(asAnswered(row.Reply), nil, costOf(row.Cost))
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(found.bannedMS, row.BannedMS) {
				t.Errorf("banned: got %v, want %v", found.bannedMS, row.BannedMS)
			}
			got, want := found.verdict, row.Verdict
			if got.Allowed != want.Allowed || got.Limit != want.Limit || got.Remaining != want.Remaining ||
				milliseconds(got.RetryAfter) != want.RetryMS || milliseconds(got.ResetAfter) != want.ResetMS ||
				got.Policy != want.Policy || got.Granted != want.Granted {
				t.Errorf("got %+v, want %+v", got, want)
			}
			specs := []core.Spec{}
			for _, each := range row.Specs {
				specs = append(specs, core.Spec{Kind: each[0].(string), Name: each[1].(string), Count: each[2].(float64),
					PeriodMS: each[3].(float64), Capacity: each[4].(float64)})
			}
			if !reflect.DeepEqual(got.specs, specs) {
				t.Errorf("got limits %v, want %v", got.specs, specs)
			}
			headers := got.Headers()
			maps.Copy(headers, got.LegacyHeaders())
			if !maps.Equal(headers, row.Headers) {
				t.Errorf("got %v, want %v", headers, row.Headers)
			}
		})
	}
}

func TestFlatPairsAreAMap(t *testing.T) {
	reply := []any{"allowed", int64(1), "retry_ms", int64(0), "granted", int64(1), "lease", nil, "banned", int64(0),
		"policy", nil, "limits", []any{[]any{"name", "x", "algorithm", "FIXED", "capacity", int64(5), "remaining", int64(4),
			"reset_ms", int64(1000), "window_ms", int64(1000)}}}
	found, err := ofReply(reply, nil, core.Cost{All: 1})
	if err != nil || found.verdict.Remaining != 4 || found.verdict.Limits[0].Name != "x" {
		t.Errorf("got %+v, %v", found, err)
	}
	for _, wrong := range []any{nil, int64(1), []any{"allowed", int64(1)}, "OK"} {
		if _, err := ofReply(wrong, nil, core.Cost{All: 1}); err == nil {
			t.Errorf("%v is no verdict", wrong)
		}
	}
}
