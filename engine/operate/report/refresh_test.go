package report

import (
	"errors"
	"log/slog"
	"strings"
	"syscall"
	"testing"

	"orbweaver/engine/state/layout"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/vfstest"
)

// noFile is a disk on which no file can be made, for a reason.
type noFile struct {
	vfs.FS
	why error
}

func (d noFile) Create(string) (vfs.File, error) { return nil, d.why }

// A report that cannot be written is logged, and the crawl goes on; only a full disk is an error, so that the crawl
// waits.
func TestRefresher_onlyAFullDiskIsAnError(t *testing.T) {
	disk := vfstest.WithDir(t, "d")
	var said strings.Builder
	w := Refresher{FS: noFile{disk, errors.New("broken")}, Dir: "d", Log: slog.New(slog.NewTextHandler(&said, nil))}
	if err := w.Refresh(Report{}); err != nil || strings.Count(said.String(), "cannot be written") != 1 {
		t.Errorf("a broken disk: %v, log %q", err, said.String())
	}
	if err := w.Refresh(Report{}); err != nil || strings.Count(said.String(), "cannot be written") != 1 {
		t.Errorf("a moment later: %v, log %q", err, said.String())
	}
	w.FS = noFile{disk, syscall.ENOSPC}
	if err := w.Refresh(Report{}); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a full disk: %v", err)
	}
}

// After a kill between the last manifest and the report, the report is written again; a finished one stays.
func TestWriteUnlessFinished(t *testing.T) {
	disk := vfstest.WithDir(t, "d")
	for _, c := range []struct {
		there lifecycle.State
		calls int
	}{{lifecycle.Running, 1}, {lifecycle.Finished, 0}} {
		if err := Write(disk, "d", Report{State: c.there}); err != nil {
			t.Fatal(err)
		}
		calls := 0
		err := WriteUnlessFinished(disk, "d", func() Report { calls++; return Report{State: lifecycle.Finished} })
		if err != nil || calls != c.calls {
			t.Errorf("%s: %v, %d calls", c.there, err, calls)
		}
		if r, err := Read(disk, "d"); err != nil || r.State != lifecycle.Finished {
			t.Errorf("%s: %+v, %v in %s", c.there, r.State, err, layout.ReportFile)
		}
	}
}
