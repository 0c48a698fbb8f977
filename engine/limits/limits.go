package limits

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"orbweaver/engine/lifecycle"
	"orbweaver/internal/notify"
)

// Limits ends the crawl when it has had enough: pages, time or disk. Pages are counted under the commit lock, so that
// their limit is exact. The limit of the disk is for the archive, the frontier and the logs together. It is passed by
// what is on its way when it is reached, and by what frontier and logs grow between two measurements.
type Limits struct {
	PagesMax int64 // stored pages, revisits among them; 0 for no limit
	DiskMax  int64
	TimeMax  time.Duration
	Finish   func(reason string)
	// WithRequisites: when the limit of pages is reached, the requisites of the stored pages are still fetched.
	WithRequisites bool

	closing atomic.Bool

	mu    sync.Mutex
	Pages int64
	bytes int64 // size of the archive
	other int64 // size of frontier and logs, as last measured
}

// FinishAtMaxTime ends the crawl at its limit of time, unless ctx ends before. wall is the time that it has run. The
// error is always nil.
func (l *Limits) FinishAtMaxTime(ctx context.Context, wall time.Duration) error {
	if l.TimeMax <= 0 {
		return nil
	}
	if notify.Sleep(ctx, l.TimeMax-wall); ctx.Err() == nil {
		l.Finish(lifecycle.ReasonMaxTime)
	}
	return nil
}

// TakePage says whether one more page may be stored. A requisite may go beyond the limit, with WithRequisites.
func (l *Limits) TakePage(isRequisite bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.PagesMax > 0 && l.Pages >= l.PagesMax && !(isRequisite && l.WithRequisites) {
		return false
	}
	l.Pages++
	if l.Pages == l.PagesMax {
		l.End(lifecycle.ReasonMaxPages)
	}
	return true
}

// End ends the crawl because of a limit. With WithRequisites, the limit of pages ends it when the requisites are
// fetched: see IsClosing.
func (l *Limits) End(reason string) {
	if reason == lifecycle.ReasonMaxPages && l.WithRequisites {
		l.closing.Store(true)
		return
	}
	l.Finish(reason)
}

// IsClosing reports whether only page requisites are still fetched: the limit of pages is reached.
func (l *Limits) IsClosing() bool { return l.closing.Load() }

// ReturnPage undoes a TakePage whose page could not be written.
func (l *Limits) ReturnPage() {
	l.mu.Lock()
	l.Pages--
	l.mu.Unlock()
}

// Grown notes that the archive is so many bytes larger.
func (l *Limits) Grown(bytes int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.setDisk(l.bytes+bytes, l.other)
}

// measured notes how large frontier and logs are.
func (l *Limits) measured(bytes int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.setDisk(l.bytes, bytes)
}

func (l *Limits) setDisk(archive, other int64) {
	before := l.bytes + l.other
	l.bytes, l.other = archive, other
	if l.DiskMax > 0 && before < l.DiskMax && archive+other >= l.DiskMax {
		l.Finish(lifecycle.ReasonMaxDisk)
	}
}

// beside is the size of frontier and logs, as last measured.
func (l *Limits) beside() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.other
}

// Reached says which limit a crawl with these figures has reached, "" for none.
func (l *Limits) Reached(pages, stored int64, wall time.Duration) string {
	switch {
	case l.PagesMax > 0 && pages >= l.PagesMax:
		return lifecycle.ReasonMaxPages
	case l.DiskMax > 0 && stored+l.beside() >= l.DiskMax:
		return lifecycle.ReasonMaxDisk
	case l.TimeMax > 0 && wall >= l.TimeMax:
		return lifecycle.ReasonMaxTime
	default:
		return ""
	}
}
