//go:build unix

package console

import (
	"strings"
	"testing"
)

// Colours appear on a terminal, and not with NO_COLOR or in a file.
func TestPaint_onlyOnTerminalsWithColours(t *testing.T) {
	const painted, plain = "\x1b[31mfailed\x1b[0m", "failed"
	t.Setenv("TERM", "xterm")
	w := openWindow(t, 80)
	paint := func() string { return Paint(w.tty, Red, "failed") }
	t.Setenv("NO_COLOR", "")
	if got := paint(); got != painted {
		t.Errorf("on a terminal: %q", got)
	}
	out := New(w.tty)
	if got := Paint(out, Red, "failed"); got != painted {
		t.Errorf("on the terminal of a crawl: %q", got)
	}
	t.Setenv("NO_COLOR", "1")
	if got := paint(); got != plain {
		t.Errorf("with NO_COLOR: %q", got)
	}
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "dumb")
	if got := paint(); got != plain {
		t.Errorf("on a terminal that knows no colours: %q", got)
	}
	if got := Paint(new(strings.Builder), Red, "failed"); got != plain {
		t.Errorf("in a file: %q", got)
	}
}

// The level of a warning is coloured, and nothing else of the line.
func TestPaintLevel(t *testing.T) {
	for line, want := range map[string]string{
		"time=x level=WARN msg=\"level=ERROR of it\"\n": "time=x \x1b[33mlevel=WARN\x1b[0m msg=\"level=ERROR of it\"\n",
		"time=x level=ERROR msg=y\n":                    "time=x \x1b[31mlevel=ERROR\x1b[0m msg=y\n",
		"time=x level=INFO msg=y\n":                     "time=x level=INFO msg=y\n",
	} {
		if got := string(paintLevel([]byte(line))); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
