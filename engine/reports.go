package engine

import (
	"time"

	"orbweaver/engine/cookie"
	"orbweaver/engine/manifest"
	"orbweaver/engine/report"
	"orbweaver/internal/throttle"
	"orbweaver/internal/vfs"
)

// Report describes the crawl as it is now. Safe for concurrent use.
func (e *Engine) Report() report.Report { return e.reports.Report() }

// newCollector makes what collects the numbers of a report.
func (e *Engine) newCollector(m *manifest.Manifest) *report.Collector {
	return &report.Collector{
		Settings: report.Settings{Dir: e.cfg.Dir, Fetchers: e.cfg.Workers.Fetchers, Pass: m.Pass, Resumed: m.Resumed},
		Run:      e.run, Clock: e.clock, Journal: e.ledger, Frontier: e.frontier, Workbench: e.bench, Pool: e.pool,
		Traps: e.traps, Log: e.log, Pauses: e.points.Pauses(), Cluster: e.cluster, Stall: e.stall, Trouble: e.trouble,
		Outages: report.Outages{Gate: e.gate, Network: e.network, NameServers: e.servers, Shortage: e.scarce},
		Numbers: report.Numbers{
			Fetching: &e.fetching, PagesOut: &e.pagesOut, FrontWanted: e.front.Required, Spilled: e.dist.Spilled,
			Sites:       e.hosts.Counts,
			SiteMoves:   func() (frozen, thawed int64) { return e.hosts.Evicted.Load(), e.hosts.Reloaded.Load() },
			BytesStored: e.bytesStored, Unresolved: e.unresolved.Len,
			ParsersBehind: func() bool { return len(e.fetched) == cap(e.fetched) },
			Front:         e.front.Size,
			ConnsReused:   e.reusedConns, Cookies: e.cookieStats, FilterErrors: e.filterErrors,
		},
	}
}

// reusedConns counts exchanges over a connection that was kept.
func (e *Engine) reusedConns() int64 {
	if e.cfg.Workers.KeepAlive == 0 {
		return 0
	}
	return int64(e.cfg.Fetch.Keep.Stats().Reused)
}

// cookieStats counts cookies.
func (e *Engine) cookieStats() cookie.Stats {
	if e.cfg.Cookies.Mode == cookie.Off {
		return cookie.Stats{}
	}
	return e.jars.Stats()
}

// filterErrors counts by point the evaluations of expressions that failed.
func (e *Engine) filterErrors() map[string]int64 {
	failed := e.filters.Errors()
	if n := e.live.FetchErrors(); n > 0 {
		failed["fetch"] = n
	}
	return failed
}

// refreshReport replaces report.json. A full disk is an error; any other fault is logged and does not end the crawl,
// which has all that it needs elsewhere.
func (e *Engine) refreshReport(m *throttle.Log) error {
	err := e.writeReport(e.Report())
	if err == nil || vfs.IsPassing(err) {
		return err
	}
	if n, ok := m.Allow(time.Now()); ok {
		e.seams.Log.Warn("the report cannot be written; the crawl goes on", "error", err, "times", n)
	}
	return nil
}

// writeReport replaces report.json.
func (e *Engine) writeReport(r report.Report) error { return report.Write(e.seams.FS, e.cfg.Dir, r) }
