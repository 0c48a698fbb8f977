package changes

import (
	"strings"
	"testing"
	"time"

	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/vfstest"
)

const logFile = "crawl/logs/" + FileName

func open(t *testing.T, fsys vfs.FS) *Log {
	t.Helper()
	l, err := OpenLog(fsys, "crawl")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// change appends a change of settings, each from a to b.
func change(t *testing.T, l *Log, undoes int, names ...string) int {
	t.Helper()
	var entries []Entry
	for _, name := range names {
		entries = append(entries, Entry{
			Time: time.Unix(1e9, 0).UTC(), By: "uid 7", Setting: name, From: "a", To: "b", Undoes: undoes,
		})
	}
	n, err := l.append(entries)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Each undo takes the change before back, and none twice, also after a restart between them.
func TestLog_undoGoesBackChangeByChange(t *testing.T) {
	fsys := vfstest.WithDir(t, "crawl/logs")
	l := open(t, fsys)
	change(t, l, 0, "scope")
	change(t, l, 0, "host-delay", "ip-delay")
	change(t, l, 0, "tries")
	for _, want := range []string{"tries", "ip-delay host-delay", "scope", ""} {
		l = open(t, fsys)
		var names []string
		entries := l.undoable()
		for _, e := range entries {
			names = append(names, e.Setting)
		}
		if got := strings.Join(names, " "); got != want {
			t.Fatalf("%q is to be undone, want %q", got, want)
		}
		if len(entries) > 0 {
			change(t, l, entries[0].Change, names...)
		}
	}
	if change(t, l, 0, "fetch"); l.undoable()[0].Setting != "fetch" {
		t.Errorf("after another change: %+v", l.undoable())
	}
	if l = open(t, fsys); !l.IsChanged("colour", "scope") || l.IsChanged("store") || len(l.Last(3)) != 3 {
		t.Errorf("%+v", l)
	}
}

// A kill in the middle of a line costs that line alone.
func TestLog_aTornLineIsLeftOut(t *testing.T) {
	fsys := vfstest.WithDir(t, "crawl/logs")
	change(t, open(t, fsys), 0, "scope")
	whole := string(vfstest.ReadAll(t, fsys, logFile))
	f, err := fsys.OpenRW(logFile)
	if err == nil {
		_, err = f.WriteAt([]byte(whole[:30]), int64(len(whole)))
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	l := open(t, fsys)
	if n := change(t, l, 0, "fetch"); n != 2 || l.Damaged != 1 {
		t.Errorf("change %d, %d damaged lines", n, l.Damaged)
	}
	if l = open(t, fsys); len(l.Last(9)) != 2 || l.undoable()[0].Setting != "fetch" {
		t.Errorf("%+v", l.Last(9))
	}
}

// What is written can be read again, also a value of a mebibyte whose bytes grow when they are written. A longer one is
// refused before anything is written.
func TestLog_linesHaveOneLimit(t *testing.T) {
	fsys := vfstest.WithDir(t, "crawl/logs")
	long := strings.Repeat("<", 1<<20)
	entry := func(from, to string) []Entry { return []Entry{{By: "uid 7", Setting: "scope", From: from, To: to}} }
	if _, err := open(t, fsys).append(entry(long, long+"<")); err != nil {
		t.Fatal(err)
	}
	l := open(t, fsys)
	if l.Damaged != 0 || len(l.undoable()) != 1 || l.undoable()[0].From != long {
		t.Fatalf("%d damaged lines, %d entries to undo", l.Damaged, len(l.undoable()))
	}
	before := vfstest.ReadAll(t, fsys, logFile)
	_, err := l.append(entry(long, strings.Repeat("<", 2<<20)))
	if err == nil || !strings.Contains(err.Error(), "the line of scope would have 18 MiB, at most 16 MiB") {
		t.Errorf("a value that is too long: %v", err)
	}
	if len(vfstest.ReadAll(t, fsys, logFile)) != len(before) {
		t.Error("something was written")
	}
	if n := change(t, l, 0, "tries"); n != 2 {
		t.Errorf("the next change is %d", n)
	}
}

// A line that is too long, from a damaged file, is left out like any other that cannot be read.
func TestLog_aLineThatIsTooLongIsLeftOut(t *testing.T) {
	fsys := vfstest.WithDir(t, "crawl/logs")
	change(t, open(t, fsys), 0, "scope")
	text := vfstest.ReadAll(t, fsys, logFile)
	text = append(text, strings.Repeat("x", lineMost+1)+"\n"+strings.Repeat("y", 3*lineMost)+"\n"...)
	vfstest.WriteAll(t, fsys, logFile, text)
	change(t, open(t, fsys), 0, "tries")
	if l := open(t, fsys); l.Damaged != 2 || l.number != 2 {
		t.Errorf("%d damaged lines, the last change is %d", l.Damaged, l.number)
	}
}

// However long the values are, what is in memory is bounded. The last change can be taken back.
func TestLog_keepsABoundedPartInMemory(t *testing.T) {
	l := &Log{undone: map[int]bool{}, changed: map[string]bool{}}
	value := strings.Repeat("x", 1<<20)
	for i := range 500 {
		if l.note(Entry{Change: i + 1, Setting: "scope", From: value, To: "b"}); l.bytes > 2*keptBytes {
			t.Fatalf("%d bytes", l.bytes)
		}
	}
	if e := l.undoable(); len(e) != 1 || e[0].Change != 500 {
		t.Errorf("%d entries to undo", len(e))
	}
}
