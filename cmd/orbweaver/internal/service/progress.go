package service

import (
	"time"

	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/lifecycle"
)

// patienceLeast is how long a crawl may take no checkpoint, beside two of its periods. The checkpoint of a large crawl
// writes for minutes on a slow disk.
const patienceLeast = 10 * time.Minute

// progress judges whether a crawl makes progress, by its reports.
type progress struct {
	patience     time.Duration
	checkpoints  int64
	checkpointAt time.Time // when the last one was seen; zero before the first report
	done         work
	workAt       time.Time // when work was last done, or there was none to do
}

// work is what changes when any URL is found, tried, parsed or stored.
type work struct{ attempts, found, received, stored, queued, inFlight int64 }

func newProgress(checkpoint time.Duration) progress {
	return progress{patience: patienceLeast + 2*checkpoint}
}

// isMade looks at a report of the crawl. It returns false when there was no progress for the time of its patience.
func (p *progress) isMade(r report.Report, now time.Time) bool {
	// A pause has its reason: the operator, a full disk. A restart does not make a slow disk faster, either.
	isHeld := r.State != lifecycle.Running || r.SyncSeconds > 0
	if p.checkpointAt.IsZero() || isHeld || r.Checkpoints != p.checkpoints {
		p.checkpointAt, p.checkpoints = now, r.Checkpoints
	}
	done := work{r.Attempts, r.URLsFound, r.BytesReceived, r.BytesStored, r.URLsQueued, r.URLsInFlight}
	if isHeld || done != p.done || !isWorkWaiting(r) {
		p.workAt, p.done = now, done
	}
	return now.Sub(p.checkpointAt) < p.patience && now.Sub(p.workAt) < p.patience
}

// isWorkWaiting says that the crawl itself has something to do: a site is due, or a page is fetched and not yet stored.
// While an exchange is under way the crawl may wait for it; exchanges have time limits of their own. With other agents
// it may wait for them.
func isWorkWaiting(r report.Report) bool {
	return r.Cluster == nil && r.ActiveFetches == 0 && (r.Front > 0 || r.URLsInFlight > 0)
}
