package crawllog

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/state/queued"
	"orbweaver/internal/outcome"
	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/vfstest"
)

// add adds the lines of some URLs and writes them.
func add(l *Log, from, to int) {
	for i := from; i < to; i++ {
		l.Refusal(fmt.Appendf(nil, "http://a.test/%02d", i), &queued.URL{}, outcome.Filtered, 0)
		l.Flush()
	}
}

// urls are the last two digits of the URLs in the log.
func urls(t *testing.T, fsys vfs.FS) string {
	t.Helper()
	var list []string
	_, err := Read(t.Context(), fsys, "logs", Position{}, func(l *Line) error {
		list = append(list, string(l.URL[len(l.URL)-2:]))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(list, " ")
}

// After a kill the log keeps what was before the position of the checkpoint, and of the rest what the caller wants,
// whether the file was rotated since or not. Torn lines are removed. A log in which nothing is removed stays as it is.
func TestRepair_removesLinesBehindAPosition(t *testing.T) {
	for name, rotateSize := range map[string]int64{"one file": 1 << 20, "rotated since": 1200} {
		t.Run(name, func(t *testing.T) {
			fsys := vfs.NewMem(1)
			open := func() *Log {
				l, err := Open(fsys, "logs", func(msg string, _ ...any) { t.Error(msg) })
				if err != nil {
					t.Fatal(err)
				}
				l.rotateSize, l.rotateAt = rotateSize, rotateSize
				return l
			}
			l := open()
			add(l, 0, 8)
			mark := l.Mark()
			add(l, 8, 16)
			at := l.PositionOf(mark)
			if rotated := rotateSize < 1<<20; !(&Checkpoint{End: at}).IsKnown() || (l.nextNumber > at.File) != rotated {
				t.Fatalf("position %v, current file %d", at, l.nextNumber)
			}
			l.AddLines([]byte("2026-11-21T04:05:06.257Z   200 "))
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			l = open()
			removed, err := l.Repair(at, func(l *Line) bool { return (l.URL[len(l.URL)-1]-'0')%2 == 0 })
			if err != nil || removed != 4 {
				t.Errorf("%d lines removed, %v", removed, err)
			}
			add(l, 20, 21)
			if got := urls(t, fsys); got != "00 01 02 03 04 05 06 07 08 10 12 14 20" {
				t.Error(got)
			}
			before := vfstest.ReadAll(t, fsys, "logs/crawl.log")
			if removed, err := l.Repair(at, func(*Line) bool { return true }); err != nil || removed != 0 {
				t.Errorf("again: %d lines removed, %v", removed, err)
			}
			if after := vfstest.ReadAll(t, fsys, "logs/crawl.log"); string(after) != string(before) {
				t.Errorf("%q, was %q", after, before)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A checkpoint that comes while lines are written waits for the write, since without the position a kill would cost
// lines. It does not wait for long for a disk that hangs.
func TestPositionOf_waitsForAWriteButNotForLong(t *testing.T) {
	for took, isKnown := range map[time.Duration]bool{50 * time.Millisecond: true, time.Minute: false} {
		t.Run(took.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, err := Open(vfs.NewMem(1), "logs", func(msg string, _ ...any) { t.Error(msg) })
				if err != nil {
					t.Fatal(err)
				}
				add(l, 0, 3)
				l.writer.take()
				time.AfterFunc(took, l.writer.giveBack)
				began := time.Now()
				at := l.PositionOf(l.Mark())
				if known := (&Checkpoint{End: at}).IsKnown(); known != isKnown || time.Since(began) > positionWait {
					t.Errorf("after %v: position %v", time.Since(began), at)
				}
				if err := l.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
