package engine

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"orbweaver/engine/cluster"
	"orbweaver/engine/counters"
	"orbweaver/engine/ending"
	"orbweaver/engine/lifecycle"
	"orbweaver/engine/outcome"
	"orbweaver/engine/skipped"
	"orbweaver/internal/throttle"
	"orbweaver/internal/vfs"
)

// Report is report.json: what the crawl has done so far. Counts balance: URLsAdmitted = sum of Outcomes + URLsQueued +
// URLsInFlight.
type Report struct {
	State  lifecycle.State `json:"state"`
	Reason string          `json:"reason"`

	URLsFound    int64 `json:"urls_found"`    // links and seeds met, repetitions included
	URLsAdmitted int64 `json:"urls_admitted"` // of these, new and in scope
	URLsFetched  int64 `json:"urls_fetched"`  // admitted URLs that were asked for and have their outcome
	URLsQueued   int64 `json:"urls_queued"`
	URLsInFlight int64 `json:"urls_in_flight"`

	PagesStored    int64 `json:"pages_stored"`
	RevisitsStored int64 `json:"revisits_stored"`
	PagesUnchanged int64 `json:"pages_unchanged"` // revisits, too: the server said so, and sent no body
	PagesNotStored int64 `json:"pages_not_stored"`
	PagesNotParsed int64 `json:"pages_not_parsed"` // by --parse

	Outcomes map[string]int64 `json:"outcomes"`
	// CertificateFaults are exchanges of this run with servers whose certificate does not verify, by why: expired,
	// wrong-name, unknown-authority, invalid.
	CertificateFaults map[string]int64 `json:"certificate_faults,omitempty"`
	Statuses          map[string]int64 `json:"statuses"`
	Dropped           map[string]int64 `json:"dropped"` // at the door, by reason

	Userinfo int64 `json:"userinfo_left_out"` // references with a user or a password, which are neither sent nor kept

	FilterErrors map[string]int64 `json:"filter_errors,omitempty"` // evaluations of expressions that failed, by point, in this run

	Attempts      int64 `json:"attempts"`
	Retries       int64 `json:"retries"`
	BytesReceived int64 `json:"bytes_received"`
	BytesStored   int64 `json:"bytes_stored"`
	HostsKnown    int64 `json:"hosts_known"`
	HostsCold     int64 `json:"hosts_cold"`   // of these, on disk: idle for long while memory was short
	HostsFrozen   int64 `json:"hosts_frozen"` // moves to disk, in this run
	HostsThawed   int64 `json:"hosts_thawed"` // moves back
	IPsKnown      int64 `json:"ips_known"`
	RobotsFetched int64 `json:"robots_fetched"`
	RobotsDenied  int64 `json:"robots_denied"`
	DelaysCapped  int64 `json:"crawl_delays_capped"` // robots.txt files that asked for more than --crawl-delay-max
	RetryClamped  int64 `json:"retry_after_clamped"` // answers with a Retry-After below nothing or beyond a day
	IPsSlowed     int64 `json:"ip_slowdowns"`        // exchanges whose IP then waited longer, as several of its sites were in trouble
	ConnsReused   int64 `json:"connections_reused"`  // exchanges over a connection that was kept, in this run
	Cookies       int64 `json:"cookies"`             // kept now, of all sites
	CookiesLost   int64 `json:"cookies_refused"`     // Dropped or not kept by this run, since there was no memory for them
	CacheHits     int64 `json:"cache_hits"`
	CacheLookups  int64 `json:"cache_lookups"`
	SieveSize     int64 `json:"sieve_size"`
	SievePending  int64 `json:"sieve_pending"`
	BenchBytes    int64 `json:"workbench_bytes"` // what the queued items in memory weigh
	Spilled       int64 `json:"spilled"`         // items that sites of a full bench gave back, in this run
	ParseFaults   int64 `json:"parse_faults"`
	BadEncodings  int64 `json:"bad_encodings"`     // pages searched for links whose content encoding lies, is damaged or unpacks to too much
	LongTypes     int64 `json:"content_types_cut"` // responses of this run whose media type is too long for crawl.log and the index
	PageMemory    int64 `json:"page_memory_bytes"` // of buffers for pages, in use or free

	Checkpoints         int64   `json:"checkpoints"`                  // of this run
	CheckpointPauseP99  float64 `json:"checkpoint_pause_p99_seconds"` // how long everybody stood still for one
	CheckpointPauseMost float64 `json:"checkpoint_pause_most_seconds"`

	Skipped map[string]int64 `json:"skipped"` // URLs left out as parts of traps, by rule: "orbweaver skipped" lists them

	NoveltyWatched int64 `json:"novelty_watched"`      // sites and domains
	NoveltyPoor    int64 `json:"novelty_poor"`         // parts of them whose URLs are delayed
	NoveltyDelayed int64 `json:"novelty_delayed"`      // URLs that were delayed in this run
	NoveltyRead    int64 `json:"novelty_read"`         // pages of this run that were compared with what their site had said
	NoveltyEvicted int64 `json:"novelty_evicted"`      // sites of this run that were forgotten for want of memory
	NoveltyMemory  int64 `json:"novelty_memory_bytes"` // for that

	Peers *cluster.StatusReport `json:"peers,omitempty"` // nil for a crawl alone

	ActiveFetches int64   `json:"active_fetches"`
	Front         int64   `json:"front"`        // addresses with something due soon
	FrontWanted   int64   `json:"front_wanted"` // how many should have
	WallSeconds   float64 `json:"wall_seconds"`
	CPUSeconds    float64 `json:"cpu_seconds"`
	RSSPeakBytes  int64   `json:"rss_peak_bytes"`
	Pass          int     `json:"pass"` // from 1: how often the crawl was begun
	Resumed       int     `json:"resumed"`
	SyncSeconds   float64 `json:"sync_seconds"`   // that the last group commit took if the disk is slow, else 0
	LogLinesLost  int64   `json:"log_lines_lost"` // of crawl.log, by this run
	LocalFaults   int64   `json:"local_faults"`   // connections and questions of this run that this machine had no means for
	DiskPauses    int64   `json:"disk_pauses"`    // of this run, since the disk was full
	Waiting       string  `json:"waiting"`        // what limits the crawl now, in one line

	Trouble *ending.TroubleReport `json:"trouble,omitempty"` // nil unless all queued URLs are of sites in trouble

	Written string `json:"written"`
}

// Opening says how the Open went.
func (e *Engine) Opening() Opening { return e.opening }

// Report says how things stand. Safe for concurrent use.
func (e *Engine) Report() Report {
	e.ledger.Steps.Begin()
	c := e.ledger.Count.Load()
	e.ledger.Steps.End()
	state, reason := e.state()
	bench := e.bench.Counts()
	cache := e.frontier.Cache.Stats()
	usage := e.clock.Usage()
	r := Report{
		State: state, Reason: reason,
		URLsFound: c.Found, URLsAdmitted: c.Admitted, URLsFetched: fetchedURLs(&c),
		PagesStored: c.Pages, RevisitsStored: c.Revisits, PagesUnchanged: c.Unchanged, PagesNotStored: c.NotStored, PagesNotParsed: c.NotParsed,
		Outcomes: map[string]int64{}, Skipped: map[string]int64{}, Statuses: map[string]int64{}, Dropped: dropped(&c), Userinfo: c.Userinfo,
		Attempts: c.Attempts, Retries: c.Retries, BytesReceived: c.BytesReceived, BytesStored: e.bytesStored(),
		IPsKnown: int64(bench.IPs), RobotsFetched: c.RobotsFetched,
		DelaysCapped: c.DelayCapped, RetryClamped: c.RetryClamped, IPsSlowed: c.IPsSlowed,
		RobotsDenied: c.Outcomes[outcome.RobotsDenied], CacheHits: int64(cache.Hits), CacheLookups: int64(cache.Lookups),
		SieveSize: int64(e.sieve.Len()), SievePending: int64(e.sieve.Pending()), BenchBytes: bench.Weight, Spilled: e.dist.spills.Load(), ParseFaults: c.ParseFaults, BadEncodings: c.BadEncodings, PageMemory: e.pool.Memory(),
		ActiveFetches: e.fetching.Load(), Front: int64(e.bench.Front(time.Now(), frontSoon)), FrontWanted: e.frontWant.Load(),
		WallSeconds: usage.Wall.Seconds(), CPUSeconds: usage.CPU.Seconds(), RSSPeakBytes: usage.RSSPeak, Resumed: e.resumed, Pass: e.pass + 1,
		Waiting: e.waiting(), Written: time.Now().UTC().Format(time.RFC3339),
	}
	odd := e.log.Counts()
	r.CertificateFaults, r.LongTypes = odd.Certificates, odd.LongTypes
	if keep := e.cfg.Fetch.Keep; keep != nil {
		r.ConnsReused = int64(keep.Stats().Reused)
	}
	if e.jars != nil {
		s := e.jars.Stats()
		r.Cookies, r.CookiesLost = int64(s.Cookies), s.Lost
	}
	r.Peers = e.cluster.Report(&c)
	if e.traps.Enabled() {
		s := e.traps.Stats()
		r.NoveltyWatched, r.NoveltyPoor, r.NoveltyDelayed, r.NoveltyRead = int64(s.Groups), int64(s.Poor), s.Delayed, s.Read
		r.NoveltyEvicted, r.NoveltyMemory = s.Evicted, s.Bytes
	}
	r.FilterErrors = e.filters.errors()
	if n := e.live.FetchErrors(); n > 0 {
		r.FilterErrors["fetch"] = n
	}
	known, inStore := e.hosts.counts()
	r.HostsKnown, r.HostsCold = int64(known), int64(inStore)
	r.HostsFrozen, r.HostsThawed = e.hosts.frozen.Load(), e.hosts.thawed.Load()
	pauses, longest := e.points.Pauses().Total()
	r.Checkpoints, r.CheckpointPauseMost = pauses, longest.Seconds()
	r.CheckpointPauseP99 = e.points.Pauses().Quantile(0.99).Seconds()
	r.DiskPauses, _ = e.ledger.Disk.Pauses()
	r.SyncSeconds, r.LogLinesLost = e.ledger.SlowSync.Now(time.Now()).Seconds(), e.log.Dropped()
	r.LocalFaults, _ = e.scarce.Current(time.Now())
	r.URLsInFlight = min(e.pagesOut.Load()+e.fetching.Load(), max(c.Admitted-c.Finished(), 0))
	r.URLsQueued = c.Admitted - c.Finished() - r.URLsInFlight
	if state == lifecycle.Running {
		r.Trouble = e.trouble.Current(r.URLsQueued)
	}
	e.mu.Lock()
	if e.stalled != nil {
		r.Trouble = e.stalled
	}
	e.mu.Unlock()
	for o := range outcome.Count {
		if n := c.Outcomes[o]; n > 0 {
			r.Outcomes[outcome.Outcome(o).String()] = n
		}
	}
	for rule, n := range c.Skipped {
		if n > 0 {
			r.Skipped[skipped.Rule(rule).String()] = n
		}
	}
	for code, n := range c.Statuses {
		if n > 0 {
			r.Statuses[strconv.Itoa(code)] = n
		}
	}
	return r
}

// fetchedURLs is the number of admitted URLs whose outcome came from a request.
func fetchedURLs(c *counters.Totals) int64 {
	var n int64
	for o, v := range c.Outcomes {
		if outcome.Outcome(o).Class() != outcome.ClassRefusal {
			n += v
		}
	}
	return n
}

func dropped(c *counters.Totals) map[string]int64 {
	d := map[string]int64{}
	for name, n := range map[string]int64{
		"syntax": c.DroppedSyntax, "scheme": c.DroppedScheme, "too-long": c.DroppedLong, "scope": c.DroppedScope, "depth": c.DroppedDepth, "path-loop": c.DroppedLoop, "follow": c.DroppedFollow,
		"seen-cache": c.DroppedCache, "seen-sieve": c.Known, "links-per-page": c.DroppedLinks, "link-bytes-per-page": c.DroppedBytes,
	} {
		if n > 0 {
			d[name] = n
		}
	}
	return d
}

// waiting names what limits the crawl at the moment (promise 9), and a slow disk beside it.
func (e *Engine) waiting() string {
	what := e.waitingMost()
	if took := e.ledger.SlowSync.Now(time.Now()); took > 0 {
		what += "; the disk is slow: a sync takes " + took.Round(time.Millisecond).String()
	}
	return what
}

func (e *Engine) waitingMost() string {
	switch state, _ := e.state(); state {
	case lifecycle.Finished, lifecycle.Stopped, lifecycle.Stalled, lifecycle.Failed:
		return waitingFor(state)
	}
	if _, need := e.ledger.Disk.Pauses(); need > 0 {
		return fmt.Sprintf("the disk: it is full, and %d bytes must be free in %s", need, e.cfg.Dir)
	}
	if reason := e.gate.Reason(); reason != "" {
		return reason
	}
	now := time.Now()
	if _, what := e.scarce.Current(now); what != "" {
		return "this machine: " + what
	}
	down, workers := e.network.State()
	switch next, ok := e.bench.NextDue(); {
	case e.isStopping() && e.cluster.IsLeaving():
		return "the other agents: they are given all that this one has"
	case e.isStopping():
		return "the last pages, before it stops"
	case !down.IsZero():
		return "the network: nobody can be reached since " + down.UTC().Format(time.RFC3339)
	case workers < e.cfg.Workers.Fetchers && e.fetching.Load() >= int64(workers):
		return fmt.Sprintf("the network: connections time out, so %d fetchers of %d go on", workers, e.cfg.Workers.Fetchers)
	case len(e.fetched) == cap(e.fetched):
		return "the processor: parse workers are behind"
	case e.fetching.Load() >= int64(e.cfg.Workers.Fetchers):
		return "servers: every fetch worker is in an exchange"
	case ok && !next.After(now):
		return "nothing: sites are due and being asked"
	case e.servers.Down.Load():
		return "the name servers: none of them answers"
	case e.unresolved.Len() > 0:
		return fmt.Sprintf("the name system: %d sites have no address yet", e.unresolved.Len())
	case !e.dist.stall.EndsAt().IsZero():
		return e.trouble.Current(e.queued()).String()
	case ok:
		return "politeness: the next site is due in " + next.Sub(now).Round(time.Millisecond).String()
	case e.sieve.Pending() > 0:
		return "the sieve: new links are being sorted out"
	default:
		return "responses on their way"
	}
}

// queued is the number of URLs without an outcome.
func (e *Engine) queued() int64 {
	return e.ledger.Count.Admitted.Load() - e.ledger.Count.Finished.Load()
}

// waitingFor is what a crawl waits for that has ended.
func waitingFor(s lifecycle.State) string { return "nothing: the crawl is " + string(s) }

// writeLastReport replaces report.json by one in the state that the crawl ends in.
func (e *Engine) writeLastReport(s lifecycle.State, reason string) error {
	r := e.Report()
	r.State, r.Reason, r.Waiting = s, reason, waitingFor(s)
	return WriteReport(e.seams.FS, e.cfg.Dir, r)
}

// tellReport replaces report.json. A full disk is an error; any other trouble is told and does not end the crawl, which
// has all it needs elsewhere.
func (e *Engine) tellReport(m *throttle.Log) error {
	err := e.writeReport()
	if err == nil || vfs.IsPassing(err) {
		return err
	}
	if n, ok := m.Allow(time.Now()); ok {
		e.seams.Log.Warn("the report cannot be written; the crawl goes on", "error", err, "times", n)
	}
	return nil
}

// writeReport replaces report.json.
func (e *Engine) writeReport() error {
	return WriteReport(e.seams.FS, e.cfg.Dir, e.Report())
}

// WriteReport replaces the report of the crawl directory in one step.
func WriteReport(fsys vfs.FS, dir string, r Report) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("engine: report: %w", err)
	}
	err = vfs.WriteAtomic(fsys, dir+"/report.json", func(w io.Writer) error {
		_, err := w.Write(append(b, '\n'))
		return err
	})
	if err != nil {
		return fmt.Errorf("engine: report: %w", err)
	}
	return nil
}

// ReadReport reads the report of a crawl directory.
func ReadReport(fsys vfs.FS, dir string) (Report, error) {
	var r Report
	b, err := vfs.ReadFile(fsys, dir+"/report.json")
	if err != nil {
		return r, fmt.Errorf("engine: report: %w", err)
	}
	if err := json.Unmarshal(b, &r); err != nil {
		return r, fmt.Errorf("engine: report: %s/report.json: %w", dir, err)
	}
	return r, nil
}
