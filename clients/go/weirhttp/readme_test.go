package weirhttp_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"weir/clients/go/internal/weirtest"
)

var (
	lines = regexp.MustCompile("(?s)```go\n(.*?ListenAndServe.*?)```")
	left  = regexp.MustCompile(`r=(\d+)`)
)

const program = `package main

import (
	"io"
	"log"
	"net/http"

	"weir/clients/go/weirhttp"
)

func main() {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(writer http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(writer, "hello") })
%s}
`

// TestTheLinesOfTheReadme runs them as they stand, but for addresses and the limit: a right 429, and answers in time while
// weir hangs and when it is killed.
func TestTheLinesOfTheReadme(t *testing.T) {
	page, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	found := lines.FindSubmatch(page)
	if found == nil {
		t.Fatal("the README has no lines for net/http")
	}
	for _, row := range []struct {
		name, limit string
		check       func(t *testing.T, server *weirtest.Server, on *exec.Cmd, url string)
	}{
		{"429", "FIXED 2/1h", denies},
		{"hanging and killed", "FIXED 1000/1h", func(t *testing.T, server *weirtest.Server, on *exec.Cmd, url string) {
			answersInTime(t, on, url, func() { server.Signal(syscall.SIGSTOP) })
			server.Signal(syscall.SIGCONT)
			answersInTime(t, on, url, server.Kill)
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			server := weirtest.Start(t)
			address := freeAddress(t)
			words := strings.NewReplacer("127.0.0.1:7000", server.Address(), ":8080", address, "100/1m", row.limit)
			on := runs(t, fmt.Sprintf(program, words.Replace(string(found[1]))))
			url := "http://" + address + "/"
			weirtest.Until(t, "it serves", func() bool {
				response, err := http.Get(url)
				return err == nil && response.Body.Close() == nil
			})
			row.check(t, server, on, url)
		})
	}
}

// runs compiles a program and runs it until the test ends.
func runs(t *testing.T, text string) *exec.Cmd {
	t.Helper()
	folder := t.TempDir()
	source, made := filepath.Join(folder, "main.go"), filepath.Join(folder, "site")
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-mod=readonly", "-buildvcs=false", "-o", made, source)
	build.Env = append(os.Environ(), "GOTOOLCHAIN=local", "CGO_ENABLED=0")
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	on := exec.Command(made)
	on.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	on.Stderr = os.Stderr
	if err := on.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = on.Process.Kill()
		_ = on.Wait()
	})
	return on
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

// asked is the status of a page, and what is left by its field RateLimit.
func asked(t *testing.T, url string) (status, remaining int) {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if field := left.FindStringSubmatch(response.Header.Get("RateLimit")); field != nil {
		remaining, _ = strconv.Atoi(field[1])
	}
	return response.StatusCode, remaining
}

// denies: on a busy machine weir is away for a while by the deadline of the lines.
func denies(t *testing.T, server *weirtest.Server, _ *exec.Cmd, url string) {
	weirtest.Until(t, "two pass, the third does not", func() bool {
		server.Call("FLUSHALL")
		found := ""
		for range 3 {
			status, _ := asked(t, url)
			found += fmt.Sprint(status, " ")
		}
		return found == "200 200 429 "
	})
}

func answersInTime(t *testing.T, on *exec.Cmd, url string, begin func()) {
	weirtest.Until(t, "weir answers, of which a quarter is the share", func() bool {
		_, remaining := asked(t, url)
		return remaining > 250
	})
	begin()
	for range 10 {
		watch := weirtest.Watch(on.Process.Pid)
		status, _ := asked(t, url)
		if took := watch.Taken(); took > inTime+slack {
			t.Errorf("an answer took %v", took)
		}
		if status != http.StatusOK {
			t.Errorf("got %d", status)
		}
	}
}
