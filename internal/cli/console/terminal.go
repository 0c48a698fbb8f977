package console

import (
	"bytes"
	"io"
	"os"

	"golang.org/x/term"
)

// columnsUnknown is taken for the width of a terminal that does not tell it.
const columnsUnknown = 80

// columnsMin is the least width for which a line is fitted.
const columnsMin = 10

// terminalOf returns the terminal behind a writer, if it can go back in a line.
func terminalOf(out io.Writer) (*os.File, bool) {
	f, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return nil, false
	}
	return f, true
}

// widthOf asks a terminal for its width. It is asked each time, so a changed window needs no signal.
func widthOf(f *os.File) int {
	columns, _, err := term.GetSize(int(f.Fd()))
	if err != nil || columns <= 0 {
		columns = columnsUnknown
	}
	return max(columns, columnsMin)
}

// IsTerminal reports whether a writer is a terminal.
func IsTerminal(out io.Writer) bool {
	_, ok := terminalOf(out)
	return ok
}

// Colour is a colour of text, as a parameter of the escape sequence SGR (ECMA-48).
type Colour string

// The colours of what went well, of warnings, and of failures.
const (
	Green  Colour = "32"
	Yellow Colour = "33"
	Red    Colour = "31"
)

// Paint returns text in a colour if out is a terminal with colours, and text as it is elsewhere. NO_COLOR with any
// value turns colours off (https://no-color.org).
func Paint(out io.Writer, c Colour, text string) string {
	if !hasColours(out) {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

func hasColours(out io.Writer) bool {
	if o, ok := out.(*Output); ok {
		return o.hasColours
	}
	return IsTerminal(out) && os.Getenv("NO_COLOR") == ""
}

// paintLevel colours the level of a log line of warnings and errors.
func paintLevel(line []byte) []byte {
	for level, c := range map[string]Colour{"level=WARN": Yellow, "level=ERROR": Red} {
		painted := "\x1b[" + string(c) + "m" + level + "\x1b[0m"
		line = bytes.Replace(line, []byte(" "+level+" "), []byte(" "+painted+" "), 1)
	}
	return line
}

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
