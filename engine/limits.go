package engine

import (
	"sync"
	"time"
)

// limits ends the crawl when it has had enough: pages, time or disk. Pages are counted under the commit lock, so that
// their limit is exact. The limit of the disk is for the archive, the frontier and the logs together. It is passed by what is on its way
// when it is reached, and by what frontier and logs grow between two measurements.
type limits struct {
	pagesMax int64 // stored pages, revisits among them; 0 for no limit
	diskMax  int64
	timeMax  time.Duration
	finish   func(reason string)

	mu    sync.Mutex
	pages int64
	bytes int64 // size of the archive
	other int64 // size of frontier and logs, as last measured
}

// takePage says whether one more page may be stored.
func (l *limits) takePage() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pagesMax > 0 && l.pages >= l.pagesMax {
		return false
	}
	l.pages++
	if l.pages == l.pagesMax {
		l.finish(reasonMaxPages)
	}
	return true
}

// returnPage undoes a takePage whose page could not be written.
func (l *limits) returnPage() {
	l.mu.Lock()
	l.pages--
	l.mu.Unlock()
}

// grown notes that the archive is so many bytes larger.
func (l *limits) grown(bytes int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.setDisk(l.bytes+bytes, l.other)
}

// measured notes how large frontier and logs are.
func (l *limits) measured(bytes int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.setDisk(l.bytes, bytes)
}

func (l *limits) setDisk(archive, other int64) {
	before := l.bytes + l.other
	l.bytes, l.other = archive, other
	if l.diskMax > 0 && before < l.diskMax && archive+other >= l.diskMax {
		l.finish(reasonMaxDisk)
	}
}

// beside is the size of frontier and logs, as last measured.
func (l *limits) beside() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.other
}

// reached says which limit a crawl with these figures has reached, "" for none.
func (l *limits) reached(pages, stored int64, wall time.Duration) string {
	switch {
	case l.pagesMax > 0 && pages >= l.pagesMax:
		return reasonMaxPages
	case l.diskMax > 0 && stored+l.beside() >= l.diskMax:
		return reasonMaxDisk
	case l.timeMax > 0 && wall >= l.timeMax:
		return reasonMaxTime
	default:
		return ""
	}
}

// The reasons in report.json.
const (
	reasonComplete = "complete"
	reasonLate     = "the crawl of the others was over when this agent came: run it again to crawl what is new in its seeds"
	reasonStalled  = "all sites with queued URLs fail or ask to slow down: run the same command again to go on"
	reasonMaxPages = "max-pages reached"
	reasonMaxDisk  = "max-disk reached"
	reasonMaxTime  = "max-time reached"
	reasonSignal   = "stopped"
	reasonLeft     = "left for good: the other agents have everything"
	reasonLost     = "no place among the other agents"
)
