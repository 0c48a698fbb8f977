package control

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"orbweaver/engine/control/dashboard"
	"orbweaver/engine/history"
	"orbweaver/engine/lifecycle"
	"orbweaver/engine/report"
)

// endedCrawl answers for a crawl that no process runs: with its last report, and with the history of its numbers.
type endedCrawl struct {
	files HistoryFile
	log   *slog.Logger
}

// endedEvents is how long a stream of events shows the last state. The next one finds out whether the crawl runs again.
const endedEvents = 5 * time.Second

// ServeHTTP answers what a page asks for its overview.
func (e endedCrawl) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	live, ok := e.live()
	if !ok {
		http.Error(w, "the crawl is not running", http.StatusBadGateway)
		return
	}
	switch r.URL.Path {
	case "/now":
		live.Now(w, r)
	case "/history":
		live.History(w, r)
	case "/events":
		ctx, cancel := context.WithTimeout(r.Context(), endedEvents)
		defer cancel()
		live.Events(w, r.WithContext(ctx))
	default:
		http.Error(w, "the crawl has ended: the overview shows its last state, 'orbweaver report' and 'orbweaver view' more",
			http.StatusBadGateway)
	}
}

// live reads the files of the crawl; false if there is no report.
func (e endedCrawl) live() (*dashboard.Live, bool) {
	if e.files.FS == nil {
		return nil, false
	}
	last, err := report.Read(e.files.FS, e.files.Crawl)
	if err != nil {
		return nil, false
	}
	if last.State == lifecycle.Running || last.State == lifecycle.Paused {
		last = last.End(lifecycle.Stopped, "its process has ended without a last report")
	}
	ended, err := time.Parse(time.RFC3339, last.Written)
	if err != nil {
		ended = time.Now()
	}
	return dashboard.NewLive(history.Open(history.Options{
		FS: e.files.FS, File: e.files.Name, Report: func() report.Report { return last }, Log: e.log, Name: e.files.Crawl,
		Ended: ended,
	})), true
}
