// Package core decides, without I/O and without a clock: instants are milliseconds that callers hand in.
//
// The folder clients/conformance has the tables that this package and its siblings in other languages pass.
package core

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Kinds of limits, by how a process keeps its own state of them.
const (
	KindBucket   = "bucket"
	KindInterval = "interval" // a bucket that takes no bookings
	KindFixed    = "fixed"
	KindSliding  = "sliding"
	KindLeases   = "leases"
)

// Spec is one limit: Count permits come in PeriodMS, and at most Capacity are there at once.
type Spec struct {
	Kind     string
	Name     string
	Count    float64
	PeriodMS float64
	Capacity float64
}

var (
	unitsMS = map[string]float64{"us": 0.001, "ms": 1, "s": 1e3, "m": 60e3, "h": 3600e3, "d": 86400e3, "w": 604800e3}
	// Long units without their plural's s, in lower case.
	longUnits = map[string]string{"sec": "s", "second": "s", "min": "m", "minute": "m", "hour": "h", "day": "d", "week": "w"}
	alignMS   = map[string]float64{"MINUTE": 60e3, "HOUR": 3600e3, "DAY": 86400e3, "WEEK": 604800e3,
		"MONTH": 31 * 86400e3, "QUARTER": 92 * 86400e3, "YEAR": 366 * 86400e3}
	kinds = map[string]string{"GCRA": KindBucket, "TOKENBUCKET": KindBucket, "LEAKY": KindBucket, "BURSTY": KindBucket,
		"WARMUP": KindBucket, "FIXED": KindFixed, "SLIDINGLOG": KindSliding, "SLIDINGWINDOW": KindSliding,
		"SLIDINGCOUNTER": KindSliding, "CONCURRENCY": KindLeases}
	rateWord     = regexp.MustCompile(`^(\d+)/(\d*)([A-Za-z]+)$`)
	durationWord = regexp.MustCompile(`^(\d*)([A-Za-z]+)$`)
	countWord    = regexp.MustCompile(`^\d+$`)
	policyItem   = regexp.MustCompile(`";q=(\d+)`)
)

// IsUnnamed is whether a limit has the name that FULL gives it where AS gives it none: its algorithm and its place.
func IsUnnamed(name string, index int) bool {
	algorithm, found := strings.CutSuffix(name, strconv.Itoa(index))
	_, known := kinds[strings.ToUpper(algorithm)]
	return found && known && algorithm == strings.ToLower(algorithm)
}

// DurationMS is what a duration such as 30s has of milliseconds.
func DurationMS(text string) (float64, error) {
	match := durationWord.FindStringSubmatch(text)
	if match == nil {
		return 0, fmt.Errorf("a duration must be an integer and a unit, got '%s'", text)
	}
	unit, found := unitsMS[match[2]]
	if !found {
		unit, found = unitsMS[longUnits[strings.TrimRight(strings.ToLower(match[2]), "s")]]
	}
	if !found {
		return 0, fmt.Errorf("a duration has the units us ms s m h d w, got '%s'", text)
	}
	if match[1] == "" {
		return unit, nil
	}
	count, err := strconv.ParseFloat(match[1], 64)
	return count * unit, err
}

// Parse makes limits of the words of a request. It answers nil where a policy is among them: weir alone knows its limits.
// What weir would refuse is not refused here, save where nothing can be made of it.
func Parse(words []string) ([]Spec, error) {
	rest := &reader{words: words}
	var specs []Spec
	for !rest.empty() {
		word := strings.ToUpper(rest.peek(0))
		if word == "POLICY" {
			return nil, nil
		}
		algorithm := "GCRA"
		if _, named := kinds[word]; named {
			algorithm = word
			rest.next()
		}
		spec, err := parseLimit(algorithm, rest, len(specs))
		if err != nil {
			return nil, err
		}
		specs = append(specs, spec)
	}
	if len(specs) == 0 {
		return nil, fmt.Errorf("limits are missing")
	}
	return specs, nil
}

type reader struct {
	words []string
	at    int
}

func (r *reader) empty() bool { return r.at >= len(r.words) }

func (r *reader) left() int { return len(r.words) - r.at }

func (r *reader) peek(ahead int) string { return r.words[r.at+ahead] }

func (r *reader) next() string {
	r.at++
	return r.words[r.at-1]
}

func (r *reader) beginsLimit() bool {
	word := strings.ToUpper(r.peek(0))
	_, named := kinds[word]
	return named || word == "POLICY" || rateWord.MatchString(word) ||
		(r.left() > 2 && strings.EqualFold(r.peek(1), "PER"))
}

func parseLimit(algorithm string, rest *reader, index int) (Spec, error) {
	count, period, err := parseRate(rest)
	if err != nil {
		return Spec{}, err
	}
	options := map[string]string{}
	for !rest.empty() && !rest.beginsLimit() {
		option := strings.ToUpper(rest.next())
		if rest.empty() {
			return Spec{}, fmt.Errorf("%s needs a value", option)
		}
		options[option] = rest.next()
	}
	if period == 0 {
		period = alignMS[strings.ToUpper(options["ALIGN"])]
	}
	if lease, found := options["LEASE"]; found && algorithm == "CONCURRENCY" {
		if period, err = DurationMS(lease); err != nil {
			return Spec{}, err
		}
	}
	if period == 0 {
		return Spec{}, fmt.Errorf("limit %d (%s) needs a period", index, algorithm)
	}
	name, found := options["AS"]
	if !found {
		name = fmt.Sprintf("%s%d", strings.ToLower(algorithm), index)
	}
	kind := kinds[algorithm]
	if strings.EqualFold(options["REFILL"], "INTERVAL") {
		kind = KindInterval
	}
	capacity, err := parseCapacity(algorithm, count, period, options)
	return Spec{kind, name, count, period, capacity}, err
}

// parseRate answers a period of 0 where none is given.
func parseRate(rest *reader) (count, period float64, err error) {
	if rest.empty() {
		return 0, 0, fmt.Errorf("a rate is missing")
	}
	word := rest.next()
	if match := rateWord.FindStringSubmatch(word); match != nil {
		count, _ = strconv.ParseFloat(match[1], 64)
		period, err = DurationMS(match[2] + match[3])
		return count, period, err
	}
	if !countWord.MatchString(word) {
		return 0, 0, fmt.Errorf("a limit must come here: a rate such as 100/1m, an algorithm or POLICY, got '%s'", word)
	}
	count, _ = strconv.ParseFloat(word, 64)
	if rest.left() > 1 && strings.EqualFold(rest.peek(0), "PER") {
		rest.next()
		text := rest.next()
		if countWord.MatchString(text) && !rest.empty() {
			text += rest.next()
		}
		period, err = DurationMS(text)
	}
	return count, period, err
}

func parseCapacity(algorithm string, count, period float64, options map[string]string) (float64, error) {
	if text, found := options["BURST"]; found && algorithm == "GCRA" {
		burst, err := strconv.ParseFloat(text, 64)
		return burst + 1, err
	}
	switch algorithm {
	case "BURSTY":
		stored := 1e3
		if text, found := options["MAXBURST"]; found {
			var err error
			if stored, err = DurationMS(text); err != nil {
				return 0, err
			}
		}
		return max(1, count*stored/period), nil
	case "WARMUP":
		return 1, nil
	}
	if text, found := options["CAPACITY"]; found {
		return strconv.ParseFloat(text, 64)
	}
	return count, nil
}

// Answered is one limit as weir answers it with FULL.
type Answered struct {
	Name, Algorithm    string
	Capacity, WindowMS float64
}

// FromAnswer makes limits of an answer with HEADERS. The field RateLimit-Policy has their counts: an item for each, in
// their order, under names of its own.
func FromAnswer(limits []Answered, policyField string) []Spec {
	counts := policyItem.FindAllStringSubmatch(policyField, -1)
	specs := make([]Spec, len(limits))
	for index, limit := range limits {
		kind, found := kinds[limit.Algorithm]
		if !found {
			kind = KindBucket
		}
		count := limit.Capacity
		if len(counts) == len(limits) {
			count, _ = strconv.ParseFloat(counts[index][1], 64)
		}
		period := limit.WindowMS
		if period == 0 {
			period = 1
		}
		specs[index] = Spec{kind, limit.Name, count, period, limit.Capacity}
	}
	return specs
}
