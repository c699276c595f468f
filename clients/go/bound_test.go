package weir_test

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	weir "weir/clients/go"
	"weir/clients/go/internal/weirtest"
)

// How much more than the limit passes over an outage, in all windows and all processes together.
const (
	rate      = 10
	burst     = 10
	processes = 4
	warm      = 2 * time.Second
	after     = 4 * time.Second
	working   = "WEIR_BOUND_WORKER" // the environment of a process that takes
)

var boundTable = flag.Bool("bound.table", false, "measure each mode and fault for 20 s")

func TestMain(m *testing.M) {
	if words := os.Getenv(working); words != "" {
		work(strings.Fields(words))
		return
	}
	os.Exit(m.Run())
}

// work takes until time is over, and prints the instants before and after each grant.
func work(words []string) {
	share, _ := strconv.ParseFloat(words[2], 64)
	pause, _ := time.ParseDuration(words[3])
	lasts, _ := time.ParseDuration(words[4])
	made, err := weir.New(words[0], fmt.Sprintf("TOKENBUCKET %d/1s CAPACITY %d", rate, burst),
		weir.WhenAway(weir.Away(words[1])), weir.Processes(share))
	if err != nil {
		panic(err)
	}
	take := func() weir.Verdict {
		verdict, err := made.Take(ctx, "k")
		if err != nil {
			panic(err)
		}
		return verdict
	}
	for take().Source != weir.BySelf {
		time.Sleep(50 * time.Millisecond)
	}
	fmt.Println("ready")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	for end := time.Now().Add(lasts); time.Now().Before(end); time.Sleep(pause) {
		before := time.Now()
		if take().Allowed {
			fmt.Println(before.UnixNano(), time.Now().UnixNano())
		}
	}
}

type grant struct{ before, after float64 }

// excess is the most that passed in any window beyond the burst and the rate in its length. A grant is two instants, between
// which it was made. Windows are as long as they may have been, so this is what passed for certain.
func excess(grants []grant) float64 {
	slices.SortFunc(grants, func(a, b grant) int { return int(a.after*1e6) - int(b.after*1e6) })
	most := 0.0
	for first := range grants {
		for last := first; last < len(grants); last++ {
			length := max(0, grants[last].after-grants[first].before)
			most = max(most, float64(last-first+1)-burst-rate*length)
		}
	}
	return most
}

// measure answers the permits beyond the limit, and the grants a second while weir was away.
func measure(t *testing.T, away weir.Away, stops bool, outage time.Duration, pauses []time.Duration,
	share float64) (beyond, each float64) {
	server := weirtest.Start(t)
	lasts := warm + outage + after
	var begins []io.Writer
	var reports []*bufio.Reader
	for _, pause := range pauses {
		worker := exec.Command(os.Args[0])
		worker.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %v %v %v", working, server.URL(), away, share, pause, lasts))
		worker.Stderr = os.Stderr
		worker.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		begin, _ := worker.StdinPipe()
		report, _ := worker.StdoutPipe()
		if err := worker.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = worker.Wait() }()
		begins, reports = append(begins, begin), append(reports, bufio.NewReader(report))
	}
	for _, report := range reports {
		_, _ = report.ReadString('\n')
	}
	zero := time.Now()
	for _, begin := range begins {
		_, _ = io.WriteString(begin, "go\n")
	}
	time.Sleep(warm)
	began := time.Since(zero).Seconds()
	if stops {
		server.Signal(syscall.SIGSTOP)
	} else {
		server.Kill()
	}
	time.Sleep(outage)
	if stops {
		server.Signal(syscall.SIGCONT)
	} else {
		server.Start()
	}
	ended := time.Since(zero).Seconds()
	grants := read(t, reports, zero)
	count := 0
	for _, each := range grants {
		if each.after > began && each.after < ended {
			count++
		}
	}
	return excess(grants), float64(count) / (ended - began)
}

func read(t *testing.T, reports []*bufio.Reader, zero time.Time) []grant {
	var grants []grant
	for _, report := range reports {
		for {
			var before, after int64
			if _, err := fmt.Fscan(report, &before, &after); err != nil {
				break
			}
			grants = append(grants, grant{float64(before-zero.UnixNano()) / 1e9, float64(after-zero.UnixNano()) / 1e9})
		}
	}
	if len(grants) == 0 {
		t.Fatal("nobody has told of a grant")
	}
	return grants
}

func even() []time.Duration {
	return slices.Repeat([]time.Duration{20 * time.Millisecond}, processes)
}

// TestExcess is of the measure itself: a bucket's worst case is none, seven more are seven.
func TestExcess(t *testing.T) {
	var exact []grant
	for number := range burst + 50 {
		at := max(0, float64(number-burst+1)/rate)
		exact = append(exact, grant{at, at})
	}
	if got := excess(exact); got > 1e-6 {
		t.Errorf("got %v", got)
	}
	if got := excess(append(exact, slices.Repeat([]grant{{1, 1}}, 7)...)); got < 7-1e-6 || got > 7+1e-6 {
		t.Errorf("got %v", got)
	}
}

func TestBound(t *testing.T) {
	t.Parallel()
	late := 1.0 // permits: clocks of processes are read while others run
	t.Run("local", func(t *testing.T) {
		t.Parallel()
		beyond, each := measure(t, weir.Local, false, 4*time.Second, even(), processes)
		if beyond > burst+late || each < rate*0.25 { // a busy machine lets them sleep
			t.Errorf("%v beyond the limit, %v a second", beyond, each)
		}
	})
	t.Run("strict", func(t *testing.T) {
		t.Parallel()
		// Who is back first may take what the others have not handed back yet.
		beyond, _ := measure(t, weir.Strict, true, 4*time.Second, even(), processes)
		if beyond > burst*(1-1.0/processes)+late {
			t.Errorf("%v beyond the limit", beyond)
		}
	})
}

func TestBoundTable(t *testing.T) {
	if !*boundTable {
		t.Skip("a table of long outages: -bound.table")
	}
	skewed := []time.Duration{10 * time.Millisecond, 200 * time.Millisecond, 200 * time.Millisecond, 200 * time.Millisecond}
	for _, row := range []struct {
		away   weir.Away
		stops  bool
		pauses []time.Duration
		share  float64
	}{{weir.Local, false, even(), 4}, {weir.Local, false, skewed, 4}, {weir.Local, true, even(), 4},
		{weir.Strict, false, even(), 4}, {weir.Strict, true, even(), 4}, {weir.Local, false, even(), 2},
		{weir.Local, false, even(), 8}} {
		beyond, each := measure(t, row.away, row.stops, 20*time.Second, row.pauses, row.share)
		t.Logf("%s, stopped %v, pauses %v, processes %v: %.1f beyond the limit, %.1f a second while away", row.away, row.stops,
			row.pauses, row.share, beyond, each)
	}
}
