package control

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"orbweaver/engine/operate/control/dashboard"
	"orbweaver/engine/operate/history"
	"orbweaver/engine/operate/logreport"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/lifecycle"
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
	case "/seeds":
		list, err := e.seeds(r.Context(), r.URL.Query())
		answerOrRefuse(w, list, err)
	case "/failures":
		list, err := logreport.ListFailures(r.Context(), e.files.FS, e.files.Crawl, failuresShown)
		answerOrRefuse(w, list, err)
	case "/reports":
		tops, err := logreport.ReadTops(e.files.FS, e.files.Crawl, rowsShown)
		answerOrRefuse(w, Reports{tops}, err)
	case "/events":
		ctx, cancel := context.WithTimeout(r.Context(), endedEvents)
		defer cancel()
		live.Events(w, r.WithContext(ctx))
	default:
		http.Error(w, "the crawl has ended: the overview shows its last state, 'orbweaver report' and 'orbweaver view' more",
			http.StatusBadGateway)
	}
}

// How much an ended crawl answers.
const (
	failuresShown = 20
	rowsShown     = 20 // of each report
)

// Reports are the first rows of the reports of a crawl that has ended.
type Reports struct {
	Reports []logreport.Top `json:"reports"`
}

// seeds answers as a running crawl does.
func (e endedCrawl) seeds(ctx context.Context, values map[string][]string) (logreport.SeedList, error) {
	of := func(name string) string {
		if all := values[name]; len(all) > 0 {
			return all[0]
		}
		return ""
	}
	q := logreport.SeedQuery{
		Sort: logreport.SeedOrder(of("sort")), State: logreport.SeedState(of("state")),
		Outcome: of("outcome"), Suffix: of("suffix"), Owner: func([]byte) string { return "" },
	}
	if text := of("limit"); text != "" {
		limit, err := strconv.Atoi(text)
		if err != nil {
			return logreport.SeedList{}, fmt.Errorf("limit: %.100q is no number", text)
		}
		q.Limit = limit
	}
	return logreport.ListSeeds(ctx, e.files.FS, e.files.Crawl, q)
}

// answerOrRefuse answers with a value, or with the error that there is instead.
func answerOrRefuse(w http.ResponseWriter, v any, err error) {
	if err != nil {
		refuse(w, err)
		return
	}
	answer(w, v)
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
