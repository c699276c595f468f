package weir_test

import (
	"testing"

	weir "weir/clients/go"
	"weir/clients/go/internal/weirtest"
)

func TestWhatIsHandedBackBansNobody(t *testing.T) {
	const bans = "FIXED 4/1h BAN 1h AFTER 1 WITHIN 1h"
	for name, row := range map[string]struct {
		limits string
		taken  int64
		left   []int64
	}{
		"nothing is there":                {bans, 4, []int64{0}},
		"of several limits, one has less": {bans + " FIXED 100/1d", 3, []int64{0, 96}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := weirtest.Start(t)
			calls := newCaller(t, server.URL(), row.limits, patient)
			verdict := must[weir.Verdict](t)
			verdict(calls.Take(ctx, "h", weir.Cost(0)))
			server.Kill()
			equal(t, "source", verdict(calls.Take(ctx, "h", weir.Cost(2))).Source, weir.ByLocal)
			server.Start()
			calls.back()
			other := limiter(t, connect(t, server.URL(), weir.Deadline(patient)), row.limits)
			equal(t, "taken", verdict(other.Take(ctx, "h", weir.Cost(row.taken))).Allowed, true)
			verdict(calls.Take(ctx, "h", weir.Cost(0)))
			found := verdict(calls.Peek(ctx, "h"))
			equal(t, "banned", found.Banned, false)
			for index, left := range row.left {
				equal(t, "left", found.Limits[index].Remaining, left)
			}
		})
	}
}
