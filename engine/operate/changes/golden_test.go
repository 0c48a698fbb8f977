package changes

import (
	"testing"

	"orbweaver/internal/golden"
	"orbweaver/internal/vfs/vfstest"
)

// The log of changes is lines of JSON.
func TestGolden_changes(t *testing.T) {
	fsys := vfstest.WithDir(t, "crawl/logs")
	l := open(t, fsys)
	change(t, l, 0, "host-delay", "scope")
	change(t, l, 1, "host-delay", "scope")
	text := golden.Compare(t, "changes-1",
		"0a39a469ae523f865c51b142f24d5628004c5ec96999031768ce2c6003f4429c",
		vfstest.ReadAll(t, fsys, logFile))
	again := vfstest.WithDir(t, "crawl/logs")
	vfstest.WriteAll(t, again, logFile, text)
	if l = open(t, again); l.Damaged > 0 || len(l.Last(9)) != 4 || l.undoable() != nil {
		t.Errorf("%d damaged, %+v", l.Damaged, l.Last(9))
	}
}
