package console

import (
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
