package weir

import "time"

// State is what a limiter says of itself. Counts are since it was made.
type State struct {
	Away        bool
	Cause       string        // "gone", "no writes" or "late"; "" while weir is there
	For         time.Duration // since the last change
	AwayInAll   time.Duration
	Absences    int64
	Asked       int64 // calls that weir has answered
	DecidedHere int64 // calls that it has not
	Probes      int64
	Share       float64 // of the limit, that this process hands out while weir is away
	Keys        int     // that the process remembers the use of
}

// Change is what hooks are told: weir counts as away from now on, or is back.
type Change struct {
	Away   bool
	Cause  string        // of the absence that begins or has ended
	Lasted time.Duration // the state that ended
}
