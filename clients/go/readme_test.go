package weir_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"weir/clients/go/internal/weirtest"
)

var (
	block  = regexp.MustCompile("(?s)```go\n(.*?)```")
	indent = regexp.MustCompile(`(?m)^[ \t]+`)
)

// TestReadme holds each block of the README to be a piece of an example, which is compiled.
func TestReadme(t *testing.T) {
	examples := ""
	for _, name := range []string{"example_test.go", "weirhttp/example_test.go", "weirotel/example_test.go"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		examples += indent.ReplaceAllString(string(text), "")
	}
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := block.FindAllStringSubmatch(string(page), -1)
	if len(blocks) < 5 {
		t.Errorf("the README has %d blocks", len(blocks))
	}
	for _, found := range blocks {
		if !strings.Contains(examples, indent.ReplaceAllString(found[1], "")) {
			t.Errorf("no example has this:\n%s", found[1])
		}
	}
}

// TestExamples runs those that need a weir.
func TestExamples(t *testing.T) {
	server := weirtest.Start(t)
	t.Setenv("WEIR_URL", server.URL())
	for key, example := range map[string]func(){"user:42": Example, "llm:7": ExampleLimiter_Hold, "pool": ExampleLimiter_Lease,
		"events": ExampleLimiter_Lots} {
		weirtest.Until(t, key+" was taken from", func() bool {
			example() // on a busy machine the first may be decided in the process
			return strings.Contains(fmt.Sprint(server.Call("RL.TOP", "TAKEN")), key)
		})
	}
}
