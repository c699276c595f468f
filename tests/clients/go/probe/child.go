package probe

import (
	"debug/buildinfo"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"weir/tests/clients/report"
)

// Child is somebody else's program, run beside the server. It ends with this program, whose process
// group it is in.
type Child struct {
	command *exec.Cmd
	log     string
}

// FreeAddress is one on which nobody listens.
func FreeAddress() string {
	listener := report.Got(net.Listen("tcp", "127.0.0.1:0"))
	defer listener.Close()
	return listener.Addr().String()
}

// Start runs the program whose path the harness put into the environment.
func Start(variable, folder string, environment []string, arguments ...string) *Child {
	log := filepath.Join(folder, "log")
	file := report.Got(os.Create(log))
	defer file.Close()
	command := exec.Command(os.Getenv(variable), arguments...)
	command.Env = append(os.Environ(), environment...)
	command.Stdout, command.Stderr = file, file
	report.Must(command.Start())
	return &Child{command, log}
}

// VersionOf the module that the program was built from, without its leading v.
func VersionOf(variable string) string {
	return strings.TrimPrefix(report.Got(buildinfo.ReadFile(os.Getenv(variable))).Main.Version, "v")
}

// Stop ends the program.
func (child *Child) Stop() {
	_ = child.command.Process.Kill()
	_ = child.command.Wait()
}

// Complaints are the lines of its log with one of these words in them.
func (child *Child) Complaints(words ...string) (found []string) {
	for line := range strings.Lines(string(report.Got(os.ReadFile(child.log)))) {
		for _, word := range words {
			if strings.Contains(line, word) {
				found = append(found, strings.TrimSpace(line))
				break
			}
		}
	}
	return found
}

// HTTP asks for a page; an empty body is a GET.
func HTTP(url, body string) (status int, text string, err error) {
	client := http.Client{Timeout: 10 * time.Second}
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	request := report.Got(http.NewRequest(method, url, strings.NewReader(body)))
	request.Header.Set("Content-Type", "application/json")
	answer, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	all, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(all), err
}

// Until repeats a question until it is answered without an error, or fails with its last one.
func Until(limit time.Duration, ask func() error) {
	deadline := time.Now().Add(limit)
	for err := ask(); err != nil; err = ask() {
		if time.Now().After(deadline) {
			report.Must(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
