package weir

import (
	"fmt"
	"slices"
	"strings"

	"weir/clients/go/internal/core"
)

// ItemNames are the names of the limits in the fields of HTTP, as weir gives them: what AS says, else the policy, or "default".
func (v Verdict) ItemNames() []string {
	unnamed := "default"
	if v.Policy != "" {
		unnamed = plain(v.Policy)
	}
	names := make([]string, len(v.Limits))
	for index, limit := range v.Limits {
		if !core.IsUnnamed(limit.Name, index) {
			names[index] = free(limit.Name, names)
		}
	}
	for index, limit := range v.Limits {
		if core.IsUnnamed(limit.Name, index) {
			names[index] = free(unnamed, names)
		}
	}
	return names
}

// free is the name, or the first of name-2, name-3 and so on that is not given yet.
func free(name string, given []string) string {
	found := name
	for number := 2; slices.Contains(given, found); number++ {
		found = fmt.Sprintf("%s-%d", name, number)
	}
	return found
}

// plain is a string of structured fields, whose characters all stand for themselves.
func plain(text string) string {
	var made strings.Builder
	for _, letter := range []byte(text) {
		if letter >= 0x20 && letter < 0x7f && !strings.ContainsRune(`"\%`, rune(letter)) {
			made.WriteByte(letter)
		} else {
			fmt.Fprintf(&made, "%%%02X", letter)
		}
	}
	return made.String()
}
