package crawllog

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"orbweaver/internal/vfs"
)

// The position is before the first line of the time, in compressed files and in the current one, although lines are out
// of order. In the current file it is near.
func TestNear_isBeforeTheFirstLineOfATime(t *testing.T) {
	fsys := vfs.NewMem(1)
	l, err := Open(fsys, "logs", func(msg string, _ ...any) { t.Error(msg) })
	if err != nil {
		t.Fatal(err)
	}
	l.rotateSize, l.rotateAt = 1<<20, 1<<20
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	random := rand.New(rand.NewPCG(1, 2))
	const lines, step = 30_000, 5 * time.Second
	for i := range lines {
		at := began.Add(time.Duration(i)*step - time.Duration(random.Int64N(int64(disorder/2))))
		l.AddLines(fmt.Appendf(nil, "%s   200          1 http://a.test/%-80d L - text/html #001 - - - ok\n",
			at.Format(timeForm), i))
		l.Flush()
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	current, err := Numbers(fsys, "logs")
	if err != nil || len(current) < 3 {
		t.Fatalf("files %v, %v", current, err)
	}
	read := func(from Position, at time.Time) (first string, older int) {
		t.Helper()
		_, err := Read(t.Context(), fsys, "logs", from, func(l *Line) error {
			if string(l.Time) < at.Format(timeForm) {
				older++
				return nil
			}
			first = string(l.URL)
			return ErrRotated // enough
		})
		if err != nil && first == "" {
			t.Fatal(err)
		}
		return first, older
	}
	for _, part := range []int{0, 1, 200, 499, 500, 800, 900, 980, 999, 1000, 1100} {
		at := began.Add(step * time.Duration(part*lines) / 1000)
		near, err := Near(fsys, "logs", at)
		if err != nil {
			t.Fatal(err)
		}
		want, all := read(Position{}, at)
		got, some := read(near, at)
		if got != want {
			t.Errorf("%d: %s is first behind %v, want %s", part, got, near, want)
		}
		if near.File == currentNumber(current) && some > 10_000 || some > all {
			t.Errorf("%d: %d lines are read in vain, %d from the beginning", part, some, all)
		}
	}
	if p, err := Near(fsys, "none", began); err != nil || p != (Position{}) {
		t.Errorf("without a log: %v, %v", p, err)
	}
}
