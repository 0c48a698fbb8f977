package inspect

import (
	"io"

	"orbweaver/cmd/orbweaver/internal/console"
)

// progressLine returns what says on one line of a terminal what is done now, and what takes the line away at the end.
// Elsewhere, and if quiet is set, nothing is said.
func progressLine(out io.Writer, verb string, quiet bool) (progress func(what string), end func()) {
	line := console.New(out)
	if quiet || !line.HasStatusLine() {
		return func(string) {}, func() {}
	}
	line.Start()
	return func(what string) { line.SetStatus(console.Status{Reason: verb + " " + what}) }, line.Close
}
