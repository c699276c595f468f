// Package calls is what the caller programs of Go share: see ../../calls/caller.py.
package calls

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"sync"
)

func text(reply any) string {
	if list, isList := reply.([]any); isList {
		words := make([]string, len(list))
		for index, value := range list {
			words[index] = text(value)
		}
		return strings.Join(words, " ")
	}
	return fmt.Sprint(reply)
}

// shape is the reply as JSON: lists stay lists, and maps maps.
func shape(reply any) string {
	words, err := json.Marshal(plain(reply))
	if err != nil {
		return err.Error()
	}
	return string(words)
}

func plain(reply any) any {
	switch value := reply.(type) {
	case []any:
		list := make([]any, len(value))
		for index, part := range value {
			list[index] = plain(part)
		}
		return list
	case map[any]any:
		object := map[string]any{}
		for key, part := range value {
			object[fmt.Sprint(key)] = plain(part)
		}
		return object
	}
	return reply
}

// version is that of a module this program was built with.
func version(module string) string {
	info, _ := debug.ReadBuildInfo()
	for _, built := range info.Deps {
		if built.Path == module {
			return strings.TrimPrefix(built.Version, "v")
		}
	}
	return "unknown"
}

// Obey reads lines until the input ends and has each one sent by a goroutine of its own.
func Obey(module string, send func(isWait bool, words []string) (any, error)) {
	var lock sync.Mutex
	fmt.Println("version", version(module))
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		go func() {
			reply, err := send(words[1] == "wait", words[2:])
			lock.Lock()
			defer lock.Unlock()
			if err != nil {
				fmt.Printf("%s error %T: %v\n", words[0], err, err)
			} else if words[1] == "shape" {
				fmt.Printf("%s ok %s\n", words[0], shape(reply))
			} else {
				fmt.Printf("%s ok %s\n", words[0], text(reply))
			}
		}()
	}
}
