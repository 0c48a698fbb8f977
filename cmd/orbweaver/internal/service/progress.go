package service

import (
	"time"

	"orbweaver/engine/lifecycle"
	"orbweaver/engine/report"
)

// patienceLeast is how long a crawl may take no checkpoint, beside two of its periods. The checkpoint of a large crawl
// writes for minutes on a slow disk.
const patienceLeast = 10 * time.Minute

// progress judges whether a crawl makes progress, by its reports.
type progress struct {
	patience    time.Duration
	checkpoints int64
	at          time.Time // when the last progress was seen; zero before the first report
}

func newProgress(checkpoint time.Duration) progress {
	return progress{patience: patienceLeast + 2*checkpoint}
}

// isMade looks at a report of the crawl. It returns false when there was no progress for the time of its patience.
func (p *progress) isMade(r report.Report, now time.Time) bool {
	// A pause has its reason: the operator, a full disk. A restart does not make a slow disk faster, either.
	isHeld := r.State != lifecycle.Running || r.SyncSeconds > 0
	if p.at.IsZero() || isHeld || r.Checkpoints != p.checkpoints {
		p.at, p.checkpoints = now, r.Checkpoints
	}
	return now.Sub(p.at) < p.patience
}
