package weirtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Stopwatch measures how long a call has taken of its own accord, on a machine that is busy with other things, too.
type Stopwatch struct {
	begin  time.Time
	kept   map[string]time.Duration
	others []int
}

// Watch starts one, of a call by this process that other processes have a part in.
func Watch(others ...int) Stopwatch {
	return Stopwatch{kept: keptWaiting(others), begin: time.Now(), others: others}
}

// Taken is what has passed since, less what the processes were kept waiting meanwhile.
func (s Stopwatch) Taken() time.Duration {
	taken := time.Since(s.begin)
	for thread, waited := range keptWaiting(s.others) {
		taken -= max(0, waited-s.kept[thread])
	}
	return taken
}

// keptWaiting is for how long each thread of this process and the others has been ready to run, and had no processor.
func keptWaiting(others []int) map[string]time.Duration {
	found := map[string]time.Duration{}
	files, _ := filepath.Glob("/proc/self/task/*/schedstat")
	for _, process := range others {
		more, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", process))
		files = append(files, more...)
	}
	for _, file := range files {
		text, _ := os.ReadFile(file)
		if fields := strings.Fields(string(text)); len(fields) > 1 {
			waited, _ := strconv.ParseInt(fields[1], 10, 64)
			found[file] = time.Duration(waited)
		}
	}
	return found
}
