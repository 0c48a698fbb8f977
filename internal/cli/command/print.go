package command

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strings"

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
func PlainText(s string) string { return textfile.Plain(s) }

// plainMessage is PlainText for each line of a message, and for each column of a table.
func plainMessage(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		words := strings.Split(line, "\t")
		for k, word := range words {
			words[k] = PlainText(word)
		}
		lines[i] = strings.Join(words, "\t")
	}
	return strings.Join(lines, "\n")
}

// Plain returns a writer of lines for a terminal, which writes them without control characters. Each Write
// has whole characters.
func Plain(out io.Writer) io.Writer { return plain{out} }

type plain struct{ out io.Writer }

// Write implements io.Writer.
func (p plain) Write(b []byte) (int, error) {
	if _, err := io.WriteString(p.out, plainMessage(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Lines reads standard input line by line.
func Lines(inv *Invocation) *textfile.Lines { return textfile.Read(inv.Stdin, 1<<20) }

// NewLog writes log records as lines of text.
func NewLog(out interface{ Write([]byte) (int, error) }) *slog.Logger {
	return slog.New(slog.NewTextHandler(out, nil))
}
