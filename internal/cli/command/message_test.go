package command

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// A message says what is wrong, without the names of packages. Names of files stay.
func TestExit_doesNotNamePackages(t *testing.T) {
	for said, want := range map[string]string{
		"engine: no usable seed":                     "no usable seed",
		"admission: no usable seed":                  "no usable seed",
		"engine: seeds: open seeds: no such file":    "seeds: open seeds: no such file",
		"--scope: filter: unknown name domian":       "--scope: unknown name domian",
		"control: engine: this crawl is one process": "this crawl is one process",
		"crawl/filter: not a directory":              "crawl/filter: not a directory",
		"engine: a\nfilter: b":                       "a\n           b",
		"the search engine: is not the crawl's":      "the search engine: is not the crawl's",
	} {
		var out strings.Builder
		inv := &Invocation{Stderr: &out}
		if status := inv.Exit(fmt.Errorf("%w", errors.New(said))); status != ExitFailed ||
			out.String() != "orbweaver: "+want+"\n" {
			t.Errorf("%q: status %d, %q", said, status, out.String())
		}
	}
}

// No message names a package, whatever the exit status.
func TestExit_namesNoPackageWithAnyStatus(t *testing.T) {
	for _, err := range []error{ErrStopped, ErrStalled, ErrUnsent, errors.New("closed")} {
		var out strings.Builder
		inv := &Invocation{Stderr: &out}
		inv.Exit(fmt.Errorf("engine: control: %w", err))
		if want := "orbweaver: " + err.Error() + "\n"; out.String() != want {
			t.Errorf("got %q, want %q", out.String(), want)
		}
	}
}
