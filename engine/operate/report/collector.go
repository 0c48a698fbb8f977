package report

import (
	"cmp"
	"fmt"
	"log/slog"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"orbweaver/dnsres"
	"orbweaver/engine/durable/checkpoint"
	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/frontier/ending"
	"orbweaver/engine/net/bandwidth"
	"orbweaver/engine/net/bodyfile"
	"orbweaver/engine/net/cookie"
	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/outage"
	"orbweaver/engine/net/underway"
	"orbweaver/engine/operate/upload"
	"orbweaver/engine/page/hook"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/counters"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/engine/state/limits"
	"orbweaver/engine/state/visit"
	"orbweaver/engine/store/crawllog"
	"orbweaver/engine/store/journal"
	"orbweaver/engine/traps"
	"orbweaver/internal/outcome"
	"orbweaver/internal/plural"
	"orbweaver/internal/throttle"
	"orbweaver/internal/vfs"
)

// A Collector makes reports of a crawl. Safe for concurrent use.
type Collector struct {
	Settings Settings
	Run      *lifecycle.Run
	Limits   *limits.Limits
	Clock    *lifecycle.RunTime
	Numbers  Numbers

	Journal   *journal.Store
	Frontier  *admission.Frontier
	Workbench *visit.Workbench
	Exchanges *underway.Table // exchanges of the fetch workers
	Bandwidth *bandwidth.Limits
	Pool      *fetch.Pool
	Traps     *traps.Detector
	Log       *crawllog.Log
	Pauses    *checkpoint.Pauses
	Cluster   Cluster

	Outages      Outages
	FailingSites *ending.Reporter
}

// Settings are what does not change during a run.
type Settings struct {
	Dir           string // of the crawl
	Version       string // of the program
	Pass, Resumed int    // from 0
}

// Numbers are single numbers of components. All must be set.
type Numbers struct {
	PagesOut    *atomic.Int64 // Pages between fetch worker and pool
	FrontWanted func() int64  // addresses that should have something due soon
	Spilled     func() int64  // items that sites of a full workbench gave back, in this run

	Sites         func() (known, cold int)      // cold: on disk
	SiteMoves     func() (frozen, thawed int64) // to disk and back, in this run
	BytesStored   func() int64
	Front         func() int // addresses with something due soon
	Fetchers      func() int // fetch workers that should be active
	Unresolved    func() int // sites without an address
	SitesHeld     func() int // due sites, new or slow, that wait for a fetch worker of their share
	ParsersBehind func() bool
	ConnsReused   func() int64
	Cookies       func() cookie.Stats
	FilterErrors  func() map[string]int64 // by point
	Bodies        func() bodyfile.Stats   // files of long bodies
	Uploads       upload.Source           // closed WARC files that are sent
	Hook          *hook.Hook
	HostHook      *hook.Hosts
	Sessions      *fetch.Sessions
	LinkHook      *hook.Links
}

// HookTrouble says in a line whether a program of --hook limits the crawl, or fails; "" if none does.
func (n *Numbers) HookTrouble() string {
	return cmp.Or(n.Hook.Trouble(), n.HostHook.Trouble(), n.LinkHook.Trouble())
}

// Cluster is what a report says of the other agents.
type Cluster interface {
	Report(c *counters.Totals) *cluster.StatusReport
	IsLeaving() bool
}

// Outages detect what stops exchanges.
type Outages struct {
	Gate        *outage.Gate
	Network     *outage.Network
	NameServers *outage.NameServers
	Way         *outage.Way
	Shortage    *outage.Shortage
}

// Report describes the crawl as it is now.
func (c *Collector) Report() Report {
	c.Journal.Steps.Begin()
	n := c.Journal.Count.Load()
	c.Journal.Steps.End()
	state, reason := c.state()
	bench, cache, usage := c.Workbench.Counts(), c.Frontier.Cache.Stats(), c.Clock.Usage()
	r := Report{
		State: state, Reason: reason, OnlyRequisites: c.isClosing(),
		Dir: c.Settings.Dir, Started: c.Clock.Started().UTC().Format(time.RFC3339),
		Limits:   Limits{c.Limits.InForce(), c.Frontier.RulesInForce().MaxDepth},
		Reported: n.Reported, Scope: c.Frontier.RulesInForce().Scope.String(),
		URLsFetched: fetchedURLs(&n), Dropped: n.Dropped(), BytesStored: c.Numbers.BytesStored(),
		IPsKnown: int64(bench.IPs), RobotsDenied: n.Outcomes[outcome.RobotsDenied],
		CacheHits: int64(cache.Hits), CacheLookups: int64(cache.Lookups),
		SieveSize: int64(c.Frontier.Sieve.Len()), SievePending: int64(c.Frontier.Sieve.Pending()),
		BenchBytes: bench.Weight, Spilled: c.Numbers.Spilled(),
		PageMemory:    c.Pool.Memory(),
		ActiveFetches: c.Exchanges.Busy(), Front: int64(c.Numbers.Front()),
		FrontWanted: c.Numbers.FrontWanted(),
		WallSeconds: usage.Wall.Seconds(), CPUSeconds: usage.CPU.Seconds(), RSSPeakBytes: usage.RSSPeak,
		Resumed: c.Settings.Resumed, Pass: c.Settings.Pass + 1,
		Waiting: c.waiting(), Written: time.Now().UTC().Format(time.RFC3339),
		ConnsReused:  c.Numbers.ConnsReused(),
		TLSSessions:  c.Numbers.Sessions.Stats(),
		FilterErrors: c.Numbers.FilterErrors(),
		Stats:        c.Journal.Count.Sums.Load(),
		Cluster:      c.Cluster.Report(&n),
		Uploads:      c.Numbers.Uploads.Stats(),
		Hook:         c.Numbers.Hook.Stats(),
		HostHook:     c.Numbers.HostHook.Stats(),
		LinkHook:     c.Numbers.LinkHook.Stats(),
		Version:      c.Settings.Version, Distributions: &c.Journal.Count.Distributions,
	}
	r.BytesArrived, r.BytesUnderWay = c.Exchanges.Received()
	r.URLsInFlight = min(c.Numbers.PagesOut.Load()+c.Exchanges.Busy(), max(n.URLsAdmitted-n.Finished(), 0))
	r.URLsQueued = n.URLsAdmitted - n.Finished() - r.URLsInFlight
	r.addNamed(&n)
	c.addComponents(&r)
	if state == lifecycle.Running {
		r.FailingSites = c.FailingSites.Current(r.URLsQueued)
	}
	if state == lifecycle.Running || state == lifecycle.Paused {
		r.Outlook = c.FailingSites.Outlook(time.Now())
	}
	if stalled := c.FailingSites.Last(); stalled != nil {
		r.FailingSites = stalled
	}
	return r
}

// addComponents adds the numbers that are not in the manifest.
func (c *Collector) addComponents(r *Report) {
	logged := c.Log.Counts()
	r.CertificateFaults, r.LongTypes, r.LogLinesLost = logged.Certificates, logged.LongTypes, c.Log.Dropped()
	r.HTTP2Probes = logged.HTTP2
	bodies := c.Numbers.Bodies()
	r.BodyFiles, r.BodyFileBytes = int64(bodies.Files), bodies.Bytes
	r.BodiesWaiting, r.BodyWaits = int64(bodies.Waiting), bodies.Waits
	cookies := c.Numbers.Cookies()
	r.Cookies, r.CookiesLost = int64(cookies.Cookies), cookies.Lost
	if c.Traps.Enabled() {
		s := c.Traps.Stats()
		r.NoveltyWatched, r.NoveltyPoor, r.NoveltyDelayed = int64(s.Groups), int64(s.Poor), s.Delayed
		r.NoveltyRead, r.NoveltyEvicted, r.NoveltyMemory = s.Read, s.Evicted, s.Bytes
	}
	known, cold := c.Numbers.Sites()
	r.HostsKnown, r.HostsCold = int64(known), int64(cold)
	r.HostsEvicted, r.HostsRestored = c.Numbers.SiteMoves()
	r.DNS = newDNS(c.Numbers.Unresolved(), c.Outages.NameServers.Stats())
	pauses, longest := c.Pauses.Total()
	r.Checkpoints, r.CheckpointPauseMost = pauses, longest.Seconds()
	r.CheckpointPauseP99 = c.Pauses.Quantile(0.99).Seconds()
	now := time.Now()
	r.CheckpointAge = c.Pauses.Age(now).Seconds()
	r.DiskPauses, _ = c.Journal.Disk.Pauses()
	r.SyncSeconds = c.Journal.SlowSync.Now(now).Seconds()
	r.LocalFaults, _ = c.Outages.Shortage.Current(now)
}

// addNamed adds the counters that have a name each, without those that are 0.
func (r *Report) addNamed(n *counters.Totals) {
	r.Outcomes, r.Skipped, r.Statuses = map[string]int64{}, map[string]int64{}, map[string]int64{}
	r.MediaTypes, r.Depths = n.MediaTypes(), n.PageDepths()
	for o, v := range n.Outcomes {
		if outcome.Outcome(o).IsBodyTruncated() {
			r.BodiesTruncated += v
		}
		if v > 0 {
			r.Outcomes[outcome.Outcome(o).String()] = v
		}
	}
	for rule, v := range n.Skipped {
		if v > 0 {
			r.Skipped[traps.Rule(rule).String()] = v
		}
	}
	for code, v := range n.Statuses {
		if v > 0 {
			r.Statuses[strconv.Itoa(code)] = v
		}
	}
}

// fetchedURLs is the number of admitted URLs whose outcome came from a request.
func fetchedURLs(n *counters.Totals) (fetched int64) {
	for o, v := range n.Outcomes {
		if outcome.Outcome(o).Class() != outcome.ClassRefusal {
			fetched += v
		}
	}
	return fetched
}

// state is that of the run; a running crawl whose gate is shut is paused.
func (c *Collector) state() (lifecycle.State, string) {
	state, reason := c.Run.State()
	if state == lifecycle.Running {
		if why := c.Outages.Gate.Reason(); why != "" {
			return lifecycle.Paused, why
		}
	}
	return state, reason
}

// DNS is what was asked about names, in this run.
type DNS struct {
	Unresolved int64 `json:"hosts_unresolved" metric:"sites_unresolved" help:"Sites that wait for an address."`
	Lookups    int64 `json:"lookups" metric:"dns_lookups_total" help:"Look-ups of names, in this run."`
	CacheHits  int64 `json:"cache_hits" metric:"dns_cache_hits_total" help:"Look-ups answered by the cache of names, in this run."`
	Found      int64 `json:"found" metric:"dns_found_total" help:"Names for which the name servers had addresses, in this run."`
	NotFound   int64 `json:"not_found" metric:"dns_not_found_total" help:"Names that do not exist or have no address, in this run."`
	Faults     int64 `json:"faults" metric:"dns_faults_total" help:"Names for which no name server had an answer, in this run."`
	Messages   int64 `json:"messages" metric:"dns_messages_total" help:"Messages sent to name servers, in this run."`
	Timeouts   int64 `json:"timeouts" metric:"dns_timeouts_total" help:"Messages to name servers that were not answered in time, in this run."`
}

func newDNS(unresolved int, s dnsres.Stats) DNS {
	return DNS{
		Unresolved: int64(unresolved), Lookups: int64(s.Lookups), CacheHits: int64(s.Hits + s.FaultHits),
		Found: int64(s.Found), NotFound: int64(s.NotFound), Faults: int64(s.Faults), Messages: int64(s.Exchanges),
		Timeouts: int64(s.Timeouts),
	}
}

// Refresher replaces report.json while a crawl runs. One goroutine uses it.
type Refresher struct {
	FS  vfs.FS
	Dir string
	Log *slog.Logger

	warnings throttle.Log
}

// Refresh replaces report.json. A full disk is an error. Any other fault is logged and does not end the crawl, which
// has all that it needs elsewhere.
func (w *Refresher) Refresh(r Report) error {
	err := Write(w.FS, w.Dir, r)
	if err == nil || vfs.IsPassing(err) {
		return err
	}
	if n, ok := w.warnings.Allow(time.Now()); ok {
		w.Log.Warn("the report cannot be written; the crawl goes on", "error", err, "times", n)
	}
	return nil
}

// WriteUnlessFinished writes report.json unless it says already that the crawl has finished: a kill may have come
// between the last manifest and the report.
func WriteUnlessFinished(fsys vfs.FS, dir string, current func() Report) error {
	if r, err := Read(fsys, dir); err == nil && r.State == lifecycle.Finished {
		return nil
	}
	return Write(fsys, dir, current())
}

// truncatedBodies returns how many admitted URLs have a body that is not whole, and the outcomes with their numbers.
func (r *Report) truncatedBodies() (total int64, reasons []string) {
	for o := outcome.None; int(o) < outcome.Count; o++ {
		if n := r.Outcomes[o.String()]; n > 0 && o.IsBodyTruncated() {
			total += n
			reasons = append(reasons, fmt.Sprintf("%s %d", o, n))
		}
	}
	slices.Sort(reasons)
	return total, reasons
}

// TruncatedLine says how many bodies are not whole in the archive, why, and how to see which; "" if all are whole. dir
// is the crawl directory.
func (r *Report) TruncatedLine(dir string) string {
	total, reasons := r.truncatedBodies()
	if total == 0 {
		return ""
	}
	line := fmt.Sprintf("%s %s not whole in the archive: %s; to list them: %s",
		plural.Count(total, "body"), plural.Verb(total, "is", "are"), strings.Join(reasons, ", "), listTruncated(dir))
	if remedy := r.truncatedRemedy(); remedy != "" {
		line += "; " + remedy
	}
	return line
}

// WarnTruncated logs a warning if bodies are not whole in the archive. dir is the crawl directory.
func (r *Report) WarnTruncated(log *slog.Logger, dir string) {
	total, reasons := r.truncatedBodies()
	if total == 0 {
		return
	}
	args := []any{"bodies", total, "reasons", strings.Join(reasons, ", "), "list", listTruncated(dir)}
	if remedy := r.truncatedRemedy(); remedy != "" {
		args = append(args, "remedy", remedy)
	}
	log.Warn("bodies are not whole in the archive; crawl.log has their URLs", args...)
}

// listTruncated is the command that lists the bodies.
func listTruncated(dir string) string {
	return "zgrep -E 'truncated-|no-memory' " + path.Join(dir, "logs/crawl.log*")
}

// truncatedRemedy names the limits of this crawl that cut bodies; "" if servers ended all of them.
func (r *Report) truncatedRemedy() string {
	var remedies []string
	for _, limit := range []struct {
		by     outcome.Outcome
		remedy string
	}{
		{outcome.TruncatedLength, "raise --max-body if they are too long"},
		{outcome.TruncatedTime, "raise --slow-body-timeout or --exchange-timeout if servers need more time"},
		{outcome.NoMemory, "raise --max-body-files if the disk has room"},
	} {
		if n := r.Outcomes[limit.by.String()]; n > 0 {
			remedies = append(remedies, fmt.Sprintf("%s: %s", limit.by, limit.remedy))
		}
	}
	return strings.Join(remedies, "; ")
}
