package console

import "io"

// StartStatus returns an Output that shows a status line, if out is a terminal and quiet is not set. Elsewhere
// SetStatus does nothing.
func StartStatus(out io.Writer, quiet bool) *Output {
	o := New(out)
	if !quiet && o.HasStatusLine() {
		o.Start()
	}
	return o
}

// Progress returns what says in a status line what is done now, and what takes the line away at the end.
func Progress(out io.Writer, verb string, quiet bool) (progress func(what string), end func()) {
	line := StartStatus(out, quiet)
	return func(what string) { line.SetStatus(Status{Reason: verb + " " + what}) }, line.Close
}
