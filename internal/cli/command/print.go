package command

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strconv"

	"orbweaver/internal/textfile"
)

// Verdict is what a crawl of a simulated web, or a row of them, came to.
type Verdict interface {
	Print(out io.Writer)
	Sound() bool
}

// ErrUnsound ends a benchmark whose result is wrong. The result has been printed.
var ErrUnsound = errors.New("something is wrong, see above")

// ShowResult ends a benchmark, with an error if something is wrong.
func ShowResult(inv *Invocation, r Verdict, asJSON bool) error {
	if asJSON {
		if err := PrintJSON(inv.Stdout, r); err != nil {
			return err
		}
	} else {
		r.Print(inv.Stdout)
	}
	if !r.Sound() {
		return ErrUnsound
	}
	return nil
}

// PrintJSON prints a value with indentation.
func PrintJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// PlainText makes text from the web safe for a terminal: one line, no control characters.
func PlainText(s string) string {
	for _, r := range s {
		if !strconv.IsPrint(r) {
			q := strconv.Quote(s)
			return q[1 : len(q)-1]
		}
	}
	return s
}

// Lines reads standard input line by line.
func Lines(inv *Invocation) *textfile.Lines { return textfile.Read(inv.Stdin, 1<<20) }

// NewLog writes log records as lines of text.
func NewLog(out interface{ Write([]byte) (int, error) }) *slog.Logger {
	return slog.New(slog.NewTextHandler(out, nil))
}
