package core

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// table reads one that all clients share.
func table(t *testing.T, name string, rows any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../../conformance", name+".json"))
	if err == nil {
		err = json.Unmarshal(text, rows)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// jsonSpec is a list of a Spec's fields.
type jsonSpec struct{ Spec }

func (s *jsonSpec) UnmarshalJSON(text []byte) error {
	fields := []any{&s.Kind, &s.Name, &s.Count, &s.PeriodMS, &s.Capacity}
	return json.Unmarshal(text, &fields)
}

// specsOf keeps nil (not told) and none apart.
func specsOf(rows []jsonSpec) []Spec {
	if rows == nil {
		return nil
	}
	specs := []Spec{}
	for _, row := range rows {
		specs = append(specs, row.Spec)
	}
	return specs
}

func TestLimits(t *testing.T) {
	var rows []struct {
		Limits string
		Specs  []jsonSpec
	}
	table(t, "limits", &rows)
	for _, row := range rows {
		got, err := Parse(strings.Fields(row.Limits))
		if err != nil || !reflect.DeepEqual(got, specsOf(row.Specs)) {
			t.Errorf("%s: got %v %v, want %v", row.Limits, got, err, specsOf(row.Specs))
		}
	}
	for _, wrong := range []string{"", "100", "100/1x", "FIXED", "5/1m BURST", "5/1m BURST x", "hello"} {
		if got, err := Parse(strings.Fields(wrong)); err == nil {
			t.Errorf("'%s' is no limit, got %v", wrong, got)
		}
	}
}

func TestErrors(t *testing.T) {
	var rows []struct{ Error, Means string }
	table(t, "errors", &rows)
	for _, row := range rows {
		want := Failure(row.Means)
		if row.Means == "program" {
			want = ""
		}
		if got := FailureOfWords(row.Error); got != want {
			t.Errorf("%s: got '%s', want '%s'", row.Error, got, want)
		}
	}
}

type keyed struct {
	Key      string
	Cost     int64
	Granted  int64
	ResetsMS []float64 `json:"resets_ms"`
	WaitMax  *float64  `json:"wait_max"`
	Blocked  *bool
	BannedMS *float64 `json:"banned_ms"`
	Callers  *int64
	Specs    []jsonSpec
}

type step struct {
	At         float64
	Answered   *keyed
	Replied    bool
	Failed     *Failure
	Plan       *keyed
	HandedBack *keyed `json:"handed_back"`
	Decide     *keyed
	Book       *keyed
	GiveBack   *keyed `json:"give_back"`
	Probe      *bool
	Probed     *bool

	Away      *bool
	Asks      *bool
	HandBack  []int64 `json:"hand_back"`
	Allowed   *bool
	Remaining *float64
	Retry     *float64
	Reset     *float64
	Begins    *bool
	Booked    *bool
	Wait      *float64
}

// player does the steps of a row of away.json to a core.
type player struct {
	core    *Core
	ids     int
	planned map[string]*HandBack
}

func (p *player) newID() string {
	p.ids++
	return strconv.Itoa(p.ids)
}

func TestAway(t *testing.T) {
	for _, name := range []string{"away", "unknown", "bookings"} {
		t.Run(name, func(t *testing.T) { playTable(t, name) })
	}
}

func playTable(t *testing.T, name string) {
	var rows []struct {
		Name, Limits string
		Away         Mode
		Processes    float64
		KeysMax      int `json:"keys_max"`
		Steps        []step
	}
	table(t, name, &rows)
	for _, row := range rows {
		t.Run(row.Name, func(t *testing.T) {
			specs, err := Parse(strings.Fields(row.Limits))
			if err != nil {
				t.Fatal(err)
			}
			if row.KeysMax == 0 {
				row.KeysMax = 10_000
			}
			made := New(specs, row.Away, row.Processes, row.KeysMax, func() float64 { return 0.5 })
			player := &player{core: made, planned: map[string]*HandBack{}}
			for number, step := range row.Steps {
				if wrong := player.play(t, step); wrong != "" {
					t.Fatalf("step %d at %v: %s", number, step.At, wrong)
				}
			}
		})
	}
}

func (p *player) play(t *testing.T, step step) string {
	t.Helper()
	breaker := &p.core.Breaker
	switch {
	case step.Answered != nil:
		it := step.Answered
		p.core.Replied()
		p.core.Answered(it.Key, step.At, Answer{Cost{All: it.Granted}, specsOf(it.Specs), it.ResetsMS, it.Blocked, it.BannedMS, it.Callers})
	case step.Replied:
		p.core.Replied()
	case step.Failed != nil:
		p.core.Failed(step.At, *step.Failed)
		return differs("away", breaker.Away(), step.Away)
	case step.Plan != nil:
		return p.plan(step)
	case step.HandedBack != nil:
		p.core.HandedBack(step.HandedBack.Key, p.planned[step.HandedBack.Key])
	case step.Decide != nil:
		return p.decide(step)
	case step.Book != nil:
		return p.book(step)
	case step.GiveBack != nil:
		p.core.GiveBack(step.GiveBack.Key, step.GiveBack.Cost, step.At)
	case step.Probe != nil:
		return differs("begins", breaker.BeginProbe(step.At), step.Begins)
	case step.Probed != nil:
		breaker.Probed(step.At, *step.Probed)
		return differs("away", breaker.Away(), step.Away)
	default:
		t.Fatalf("a step of a kind that is not known: %+v", step)
	}
	return ""
}

func differs(what string, got bool, want *bool) string {
	if want == nil || got != *want {
		return what + " is otherwise: " + strconv.FormatBool(got)
	}
	return ""
}

func (p *player) plan(step step) string {
	asks, back := p.core.Plan(step.Plan.Key, step.At, p.newID)
	if wrong := differs("asks", asks, step.Asks); wrong != "" || !asks {
		return wrong
	}
	var costs []int64
	if back != nil {
		costs = back.Costs
	}
	if !reflect.DeepEqual(costs, step.HandBack) {
		return "another hand back"
	}
	before := p.planned[step.Plan.Key]
	if before != nil && back != nil && reflect.DeepEqual(before.Costs, back.Costs) && before.ID != back.ID {
		return "the ID of a hand back is not kept"
	}
	p.planned[step.Plan.Key] = back
	return ""
}

func (p *player) book(step step) string {
	waitMax := -1.0
	if step.Book.WaitMax != nil {
		waitMax = *step.Book.WaitMax
	}
	booked, decision := p.core.Book(step.Book.Key, Cost{All: step.Book.Cost}, waitMax, step.At)
	if wrong := differs("booked", booked, step.Booked); wrong != "" || step.Wait == nil {
		return wrong
	}
	if wait := decision.Views[decision.Index].RetryMS; math.Abs(wait-*step.Wait) > 1e-6 {
		return "wait is otherwise: " + strconv.FormatFloat(wait, 'g', -1, 64)
	}
	return ""
}

func (p *player) decide(step step) string {
	decision := p.core.Decide(step.Decide.Key, Cost{All: step.Decide.Cost}, step.At, true)
	if wrong := differs("allowed", decision.Allowed, step.Allowed); wrong != "" {
		return wrong
	}
	if decision.Index < 0 {
		if step.Remaining != nil || step.Retry != nil || step.Reset != nil {
			return "no limit decides"
		}
		return ""
	}
	view := decision.Views[decision.Index]
	for name, pair := range map[string]struct {
		got  float64
		want *float64
	}{"remaining": {float64(view.Remaining), step.Remaining}, "retry": {view.RetryMS, step.Retry},
		"reset": {view.ResetMS, step.Reset}} {
		if pair.want != nil && math.Abs(pair.got-*pair.want) > 1e-6 {
			return name + " is otherwise: " + strconv.FormatFloat(pair.got, 'g', -1, 64)
		}
	}
	return ""
}
