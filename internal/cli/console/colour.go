package console

import (
	"bytes"
	"io"
	"os"
)

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
