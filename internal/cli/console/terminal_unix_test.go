//go:build unix

package console

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/creack/pty"
)

// window is a terminal as its user sees it: an emulator at the other end of a pseudo-terminal.
type window struct {
	t           *testing.T
	master, tty *os.File
	columns     int
	stream      string   // that is not drawn yet
	rows        []string // of cells; a wide character is followed by an empty cell's mark
	row, column int
}

const wideMark = '\x00' // the second cell of a wide character

func openWindow(t *testing.T, columns int) *window {
	t.Helper()
	t.Setenv("NO_COLOR", "1") // the emulator has none
	master, tty, err := pty.Open()
	if err != nil {
		t.Skip("this system has no pseudo-terminals: ", err)
	}
	w := &window{t: t, master: master, tty: tty, rows: []string{""}}
	w.resize(columns)
	t.Cleanup(func() {
		for _, f := range []*os.File{master, tty} {
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return w
}

// resize changes the width. As in most terminals, lines that are too long now continue in the next row.
func (w *window) resize(columns int) {
	w.t.Helper()
	if err := pty.Setsize(w.master, &pty.Winsize{Rows: 24, Cols: uint16(columns)}); err != nil {
		w.t.Fatal(err)
	}
	w.columns = columns
	var rows []string
	for _, line := range w.rows {
		cells := []rune(line)
		for len(cells) > columns {
			rows, cells = append(rows, string(cells[:columns])), cells[columns:]
		}
		rows = append(rows, string(cells))
	}
	w.rows = rows
	w.row, w.column = len(rows)-1, len([]rune(rows[len(rows)-1]))
}

// await reads what the program writes until it has written a text, and draws it.
func (w *window) await(text string) {
	w.t.Helper()
	buf := make([]byte, 4096)
	for {
		if before, after, found := strings.Cut(w.stream, text); found {
			w.draw(before + text)
			w.stream = after
			return
		}
		n, err := w.master.Read(buf)
		if err != nil {
			w.t.Fatal(err)
		}
		w.stream += string(buf[:n])
	}
}

var control = regexp.MustCompile(`^\x1b\[(\d*)([A-Z])`)

func (w *window) draw(text string) {
	w.t.Helper()
	for len(text) > 0 {
		if m := control.FindStringSubmatch(text); m != nil {
			text = text[len(m[0]):]
			switch m[2] {
			case "A":
				n, _ := strconv.Atoi(m[1])
				w.row = max(0, w.row-n)
			case "J":
				w.rows = w.rows[:w.row+1]
				w.rows[w.row] = string([]rune(w.rows[w.row])[:w.column])
			default:
				w.t.Fatalf("unknown control sequence %q", m[0])
			}
			continue
		}
		r := []rune(text)[0]
		text = text[len(string(r)):]
		switch r {
		case '\r':
			w.column = 0
		case '\n':
			w.row++
			if w.row == len(w.rows) {
				w.rows = append(w.rows, "")
			}
		default:
			w.put(r)
		}
	}
}

// put writes a character at the cursor.
func (w *window) put(r rune) {
	if w.column+runeColumns(r) > w.columns {
		w.rows, w.row, w.column = append(w.rows, ""), w.row+1, 0
	}
	line := []rune(w.rows[w.row])
	line = append(line[:w.column], r)
	if runeColumns(r) == 2 {
		line = append(line, wideMark)
	}
	w.rows[w.row], w.column = string(line), len(line)
}

// lines is what stands on the screen.
func (w *window) lines() (lines []string) {
	for _, row := range w.rows {
		lines = append(lines, strings.ReplaceAll(row, string(wideMark), ""))
	}
	return lines
}

// crawlStatus is a status line as a crawl has it, and which is too long for a narrow terminal.
func crawlStatus(second int, reason string) Status {
	return Status{Reason: reason, Numbers: []Number{
		{fmt.Sprintf("%ds", second), 3}, {"12345 pages", 6}, {"11 pages/s", 5}, {"0.1 MB/s", 1}, {"138 hosts", 0},
		{"98765 queued", 4}, {"1024 fetching", 2},
	}}
}

// On a terminal of any width the status line takes one row, keeps its reason, and stands below all log lines.
func TestOutput_theStatusLineFitsTheTerminal(t *testing.T) {
	for _, c := range []struct {
		columns int
		reason  string
		want    string
	}{
		{
			160, "politeness: next a.example in 1s", "9s  12345 pages  11 pages/s  0.1 MB/s  138 hosts  98765 queued  " +
				"1024 fetching | politeness: next a.example in 1s",
		},
		{
			80, "politeness: next a.example in 1s",
			"9s  12345 pages  11 pages/s  98765 queued | politeness: next a.example in 1s",
		},
		{40, "next a.example in 1s", "12345 pages | next a.example in 1s"},
		{40, "politeness: next a.example in 1s", "12345 pages | politeness: next a.exa..."},
		{40, "例え.テスト for 12s", "12345 pages | 例え.テスト for 12s"},
		{40, "例え.テスト.例え.テスト.例え.テスト.例え", "12345 pages | 例え.テスト.例え.テス..."},
	} {
		w := openWindow(t, c.columns)
		o := New(w.tty)
		o.Start()
		var want []string
		for i := range 10 {
			line := fmt.Sprintf("line %d of the log", i)
			fmt.Fprintln(o, line)
			w.await(line)
			want = append(want, line)
			end := c.want[len(c.want)-4:]
			if i > 0 {
				w.await(end) // the status line of the second before, below the log line
			}
			o.SetStatus(crawlStatus(i, c.reason))
			w.await(end)
		}
		lines := w.lines()
		if got := strings.Join(lines, "\n"); got != strings.Join(append(want, c.want), "\n") {
			t.Errorf("%d columns:\n%s", c.columns, got)
		}
		o.Close()
		fmt.Fprintln(o, "the end") // nothing is left of the status line
		w.await("the end")
		if got := w.lines(); got[len(got)-1] != "the end" || got[len(got)-2] != want[9] {
			t.Errorf("%d columns, at the end: %q", c.columns, got)
		}
	}
}

// A window that becomes narrower wraps the status line. Nothing of it is left after the next one.
func TestOutput_aNarrowerWindowKeepsNothing(t *testing.T) {
	w := openWindow(t, 160)
	o := New(w.tty)
	o.Start()
	defer o.Close()
	fmt.Fprintln(o, "a log line")
	o.SetStatus(crawlStatus(1, "the first reason"))
	w.await("the first reason")
	w.resize(40)
	o.SetStatus(crawlStatus(2, "the next reason"))
	w.await("the next reason")
	if got := strings.Join(w.lines(), "\n"); got != "a log line\n12345 pages | the next reason" {
		t.Errorf("the screen is\n%s", got)
	}
}

// A log line does not end the status line: it stands above, and the status line is drawn again.
func TestOutput_aLogLineStandsAboveTheStatusLine(t *testing.T) {
	w := openWindow(t, 80)
	o := New(w.tty)
	o.Start()
	defer o.Close()
	o.SetStatus(crawlStatus(1, "a reason"))
	w.await("a reason")
	fmt.Fprintln(o, "time=now level=WARN msg=here")
	w.await("a reason")
	if got := strings.Join(w.lines(), "\n"); !strings.HasPrefix(got, "time=now level=WARN msg=here\n") ||
		strings.Count(got, "a reason") != 1 {
		t.Errorf("the screen is\n%s", got)
	}
}
