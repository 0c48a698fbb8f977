package crawl

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/cli/process"
	"orbweaver/internal/plural"
)

// servedCrawl is the crawl that is reported.
type servedCrawl interface{ Report() report.Report }

// serviceOptions are what a Reporter needs.
type serviceOptions struct {
	Supervisor *process.Supervisor
	Crawl      servedCrawl
	Checkpoint time.Duration // between two checkpoints
	Log        *slog.Logger
}

// serviceReporter reports a crawl to the service manager.
type serviceReporter struct {
	o        serviceOptions
	progress progress
	done     chan struct{} // closed when run has ended
	end      chan struct{} // closed by Close
}

// statusPeriod is the time between two reports, at most.
const statusPeriod = 10 * time.Second

// startReporter says that the crawl is ready, and reports it until Close. When ctx ends it says that the crawl stops.
// Without a service manager it does nothing.
func startReporter(ctx context.Context, o serviceOptions) *serviceReporter {
	r := &serviceReporter{o: o, progress: newProgress(o.Checkpoint), done: make(chan struct{}), end: make(chan struct{})}
	if !o.Supervisor.Listens() {
		close(r.done)
		return r
	}
	o.Supervisor.Notify("READY=1", "STATUS="+statusOf(o.Crawl.Report()))
	go r.run(ctx)
	return r
}

// Close ends the reports.
func (r *serviceReporter) Close() {
	close(r.end)
	<-r.done
}

func (r *serviceReporter) run(ctx context.Context) {
	defer close(r.done)
	period := statusPeriod
	if w := r.o.Supervisor.Watchdog(); w > 0 {
		period = min(period, w/3)
	}
	tick := time.NewTicker(period)
	defer tick.Stop()
	stopping := ctx.Done()
	for {
		select {
		case <-tick.C:
			r.report(time.Now())
		case <-stopping:
			r.o.Supervisor.Notify("STOPPING=1", "STATUS="+statusOf(r.o.Crawl.Report()))
			stopping = nil
		case <-r.end:
			return
		}
	}
}

// report sends the state of the crawl, and a sign of life if there is one.
func (r *serviceReporter) report(now time.Time) {
	crawl := r.o.Crawl.Report()
	status := "STATUS=" + statusOf(crawl)
	if r.progress.isMade(crawl, now) {
		r.o.Supervisor.Notify("WATCHDOG=1", status)
		return
	}
	r.o.Log.Error("the crawl makes no progress: the service manager is told nothing more and will restart it",
		"last_checkpoint", r.progress.checkpointAt.UTC().Format(time.RFC3339),
		"last_work", r.progress.workAt.UTC().Format(time.RFC3339), "waiting", crawl.Waiting)
	r.o.Supervisor.Notify(status)
}

// statusOf is the sentence that systemctl status shows.
func statusOf(r report.Report) string {
	return fmt.Sprintf("%s: %s stored, %s queued, %s; %s", r.State,
		plural.Count(r.PagesStored+r.RevisitsStored, "page"), plural.Count(r.URLsQueued, "URL"),
		plural.Count(r.HostsKnown, "host"), r.Waiting)
}

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
