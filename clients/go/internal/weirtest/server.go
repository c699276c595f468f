// Package weirtest has what tests of this module run against: a weir-server, a proxy that disturbs, and a server that
// answers what it is told.
package weirtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// Patience is how long a test waits for what has to come.
const Patience = 60 * time.Second

// Program is the weir-server of WEIR_SERVER, else that of the release build. Where there is none the test is skipped.
func Program(t testing.TB) string {
	if named := os.Getenv("WEIR_SERVER"); named != "" {
		return named
	}
	_, here, _, _ := runtime.Caller(0)
	built := filepath.Join(filepath.Dir(here), "../../../../build/release/weir-server")
	if _, err := os.Stat(built); err != nil {
		t.Skip("there is no weir-server: WEIR_SERVER names one")
	}
	return built
}

// Server is a weir-server on a free port, with a directory of its own.
type Server struct {
	Port    int
	Data    string
	Options []string

	t       testing.TB
	process *exec.Cmd
}

// New makes a server that has not started.
func New(t testing.TB, options ...string) *Server {
	return &Server{Port: freePort(), Data: filepath.Join(t.TempDir(), "data"), Options: options, t: t}
}

// Start starts a server, which ends with the test.
func Start(t testing.TB, options ...string) *Server {
	server := New(t, options...)
	server.Start()
	return server
}

// freePort is none of those that Linux gives to connections on their way out.
func freePort() int {
	for {
		port := 10000 + rand.IntN(22000)
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			_ = listener.Close()
			return port
		}
	}
}

// Address is host and port.
func (s *Server) Address() string { return fmt.Sprintf("127.0.0.1:%d", s.Port) }

// URL is that of the server.
func (s *Server) URL() string { return "redis://" + s.Address() }

// Start starts the server, for the first time or again, and waits until it answers.
func (s *Server) Start() {
	s.t.Helper()
	words := append([]string{"--port", fmt.Sprint(s.Port), "--dir", s.Data}, s.Options...)
	s.process = exec.Command(Program(s.t), words...)
	s.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	log, err := os.OpenFile(s.Data+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	s.process.Stdout, s.process.Stderr = log, log
	if err := s.process.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(s.Kill)
	Until(s.t, "weir-server answers", func() bool {
		_, err := s.TryCall("PING")
		return err == nil
	})
}

// Kill is kill -9; nothing if the server has ended.
func (s *Server) Kill() {
	if s.process != nil && s.process.ProcessState == nil {
		_ = s.process.Process.Kill()
		_ = s.process.Wait()
	}
}

// Lives says whether it has started and was not killed.
func (s *Server) Lives() bool { return s.process != nil && s.process.ProcessState == nil }

// Signal sends a signal.
func (s *Server) Signal(signal syscall.Signal) { _ = s.process.Process.Signal(signal) }

// TryCall sends a command on a connection of its own.
func (s *Server) TryCall(words ...any) (any, error) { return s.tryCallAs("", words) }

func (s *Server) tryCallAs(name string, words []any) (any, error) {
	client := redis.NewClient(&redis.Options{Addr: s.Address(), ClientName: name, MaxRetries: -1, DialerRetries: 1, ReadTimeout: Patience})
	defer func() { _ = client.Close() }()
	return client.Do(context.Background(), words...).Result()
}

// Call sends a command, and fails the test on an error.
func (s *Server) Call(words ...any) any {
	s.t.Helper()
	value, err := s.TryCall(words...)
	if err != nil {
		s.t.Fatalf("%v: %v", words, err)
	}
	return value
}

// CallAs is Call of a process with this name.
func (s *Server) CallAs(name string, words ...any) {
	s.t.Helper()
	if _, err := s.tryCallAs(name, words); err != nil {
		s.t.Fatalf("%v: %v", words, err)
	}
}

// Until waits for a condition.
func Until(t testing.TB, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(Patience); !condition(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %s: %s", Patience, what)
		}
	}
}
