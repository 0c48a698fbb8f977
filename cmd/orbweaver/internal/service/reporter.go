package service

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"orbweaver/engine/operate/report"
	"orbweaver/internal/cli/process"
	"orbweaver/internal/plural"
)

// Crawl is the crawl that is reported.
type Crawl interface{ Report() report.Report }

// Options are what a Reporter needs.
type Options struct {
	Supervisor *process.Supervisor
	Crawl      Crawl
	Checkpoint time.Duration // between two checkpoints
	Log        *slog.Logger
}

// Reporter reports a crawl to the service manager.
type Reporter struct {
	o        Options
	progress progress
	done     chan struct{} // closed when run has ended
	end      chan struct{} // closed by Close
}

// statusPeriod is the time between two reports, at most.
const statusPeriod = 10 * time.Second

// Start says that the crawl is ready, and reports it until Close. When ctx ends it says that the crawl stops. Without a
// service manager it does nothing.
func Start(ctx context.Context, o Options) *Reporter {
	r := &Reporter{o: o, progress: newProgress(o.Checkpoint), done: make(chan struct{}), end: make(chan struct{})}
	if !o.Supervisor.Listens() {
		close(r.done)
		return r
	}
	o.Supervisor.Notify("READY=1", "STATUS="+statusOf(o.Crawl.Report()))
	go r.run(ctx)
	return r
}

// Close ends the reports.
func (r *Reporter) Close() {
	close(r.end)
	<-r.done
}

func (r *Reporter) run(ctx context.Context) {
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
func (r *Reporter) report(now time.Time) {
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
