package crawl

import (
	"strings"
	"testing"
)

// What becomes part of a file's name leads nowhere, whatever the machine is called.
func TestHostile_A06_theMachinesNameIsNoPath(t *testing.T) {
	for name, want := range map[string]string{
		"crawler-1.example.org": "crawler-1.example.org", "../../etc": "etc", "..": "localhost", "": "localhost",
		"/": "localhost", "a/b\\c": "a-b-c",
		"-rf": "rf", ".hidden": "hidden", "a\x00\r\nb": "a-b", strings.Repeat("x", 300): strings.Repeat("x", 100),
		"n\u00e4me": "n-me",
	} {
		if got := fileName(name); got != want {
			t.Errorf("%q became %q", name, got)
		}
	}
}
