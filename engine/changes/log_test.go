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
