package report

import (
	"log/slog"
	"time"

	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/throttle"
	"orbweaver/internal/vfs"
)

// Refresher replaces report.json while a crawl runs. One goroutine uses it.
type Refresher struct {
	FS  vfs.FS
	Dir string
	Log *slog.Logger

	warnings throttle.Log
}

// Refresh replaces report.json. A full disk is an error. Any other fault is logged and does not end the crawl, which
// has all that it needs elsewhere.
func (w *Refresher) Refresh(r Report) error {
	err := Write(w.FS, w.Dir, r)
	if err == nil || vfs.IsPassing(err) {
		return err
	}
	if n, ok := w.warnings.Allow(time.Now()); ok {
		w.Log.Warn("the report cannot be written; the crawl goes on", "error", err, "times", n)
	}
	return nil
}

// WriteUnlessFinished writes report.json unless it says already that the crawl has finished: a kill may have come
// between the last manifest and the report.
func WriteUnlessFinished(fsys vfs.FS, dir string, current func() Report) error {
	if r, err := Read(fsys, dir); err == nil && r.State == lifecycle.Finished {
		return nil
	}
	return Write(fsys, dir, current())
}
