package report

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/dnsres"
	"orbweaver/engine/durable/checkpoint"
	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/frontier/ending"
	"orbweaver/engine/net/bandwidth"
	"orbweaver/engine/net/bodyfile"
	"orbweaver/engine/net/cookie"
	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/outage"
	"orbweaver/engine/net/politeness"
	"orbweaver/engine/net/underway"
	"orbweaver/engine/operate/upload"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/page/hook"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/counters"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/engine/state/limits"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/state/site"
	"orbweaver/engine/state/visit"
	"orbweaver/engine/store/crawllog"
	"orbweaver/engine/store/journal"
	"orbweaver/engine/traps"
	"orbweaver/internal/outcome"
	"orbweaver/internal/vfs"
	"orbweaver/sieve"
	"orbweaver/sieve/fpcache"
	"orbweaver/workbench"
)

// collectorRig is a Collector of a crawl in which nothing happens. Tests change what its components say.
type collectorRig struct {
	*Collector
	pagesOut      atomic.Int64
	sitesHeld     int
	unresolved    int
	parsersBehind bool
	agent         ownAgent
	health        dnsres.Health
	stats         dnsres.Stats
	bodies        bodyfile.Stats
	uploads       sentFiles
	stall         *ending.StallDetector
}

// Health is that of the name servers.
func (r *collectorRig) Health() dnsres.Health     { return r.health }
func (r *collectorRig) Stats() dnsres.Stats       { return r.stats }
func (*collectorRig) CheckHijack(context.Context) {}

// begin lets a worker begin an exchange some time ago.
func (r *collectorRig) begin(worker int, url string, ago time.Duration) {
	r.Exchanges.Begin(worker, &underway.Exchange{URL: []byte(url), Began: time.Now().Add(-ago)})
}

// addSite adds a site that is due after some time.
func (r *collectorRig) addSite(key string, due time.Duration) *visit.State {
	at := byte(1 + r.Workbench.Counts().IPs)
	vs, _ := r.Workbench.GetOrAdd([]byte(key))
	r.Workbench.Push(vs, queued.Append(nil, &queued.URL{Rest: []byte("/")}))
	r.Workbench.Place(vs, netip.AddrFrom4([4]byte{192, 0, 2, at}), time.Now())
	r.Workbench.Site(vs).Postpone(time.Now().Add(due), time.Time{})
	return vs
}

// sentFiles are the uploads of a crawl.
type sentFiles struct {
	upload.None

	stats *upload.Stats
}

func (s *sentFiles) Stats() *upload.Stats { return s.stats }

// A receiver of WARC files that fails for a minute is named beside what limits the crawl.
func TestCollector_waitingNamesAReceiverThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newCollectorRig(t)
		r.uploads.stats = &upload.Stats{
			Waiting: map[string]int64{upload.Store: 2}, WaitingBytes: map[string]int64{upload.Store: 2 << 30},
			DownSeconds: map[string]float64{upload.Store: 59},
		}
		if got := r.Report().Waiting; strings.Contains(got, "upload") {
			t.Errorf("after 59 s: %s", got)
		}
		r.uploads.stats.DownSeconds[upload.Store] = 7200
		want := "; the upload target (--upload) has taken no WARC file for 2h0m0s: 2 files (2048 MiB) wait"
		if got := r.Report().Waiting; !strings.HasSuffix(got, want) {
			t.Errorf("after 2 h: %s", got)
		}
	})
}

// ownAgent is the cluster as a report sees it.
type ownAgent struct {
	isLeaving bool
	status    *cluster.StatusReport // nil: there are no other agents
}

func (a *ownAgent) Report(*counters.Totals) *cluster.StatusReport { return a.status }
func (a *ownAgent) IsLeaving() bool                               { return a.isLeaving }

func newCollectorRig(t *testing.T) *collectorRig {
	t.Helper()
	r, warn := new(collectorRig), func(string, ...any) {}
	disk := vfs.NewMem(1)
	pending, err := sieve.Open(disk, sieve.Options{Dir: "sieve", BucketBytes: 1 << 16}, nil)
	if err != nil {
		t.Fatal(err)
	}
	log, err := crawllog.Open(disk, "logs", warn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, c := range []interface{ Close() error }{pending, log} {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	gate, sites := outage.NewGate(func() {}), workbench.New[site.State](workbench.Options{MemoryMax: 1 << 20})
	store := journal.NewStore()
	store.SlowSync.Warn = warn
	store.Disk = &outage.DiskGuard{Fs: disk, Dir: "crawl", Gate: gate, Most: func() int64 { return 0 }, Warn: warn}
	live := settings.NewLive(politeness.Default(), new(settings.HostRules))
	live.ChangeBounds(func(b *settings.Bounds) { b.StallWait = time.Hour })
	r.stall = ending.NewStallDetector(sites, live, &store.Count, func() {})
	r.Collector = &Collector{
		Settings: Settings{Dir: "crawl", Pass: 1, Resumed: 3},
		Limits:   &limits.Limits{PagesMax: 9, TimeMax: limits.For(time.Minute)},
		Run:      lifecycle.NewRun(), Clock: lifecycle.NewRunTime(lifecycle.Usage{}, nil), Journal: store,
		Frontier: &admission.Frontier{
			Rules: admission.Rules{Scope: new(filter.Scope)}, Cache: fpcache.New(1<<16, 1), Sieve: pending,
		},
		Workbench: sites, Pool: fetch.NewPool(fetch.PoolOptions{Pages: 1}),
		Traps: traps.New(&traps.Options{Novelty: traps.NoveltyOff}, 1, nil), Log: log,
		Pauses: new(checkpoint.Pauses), Cluster: &r.agent, Exchanges: underway.NewTable(2),
		Bandwidth:    bandwidth.Unlimited(),
		FailingSites: ending.NewReporter(sites, r.stall),
		Outages: Outages{
			Gate: gate, Network: outage.NewNetwork(2, warn), Way: outage.NewWay(nil, warn),
			NameServers: outage.NewNameServers(r, warn),
			Shortage:    &outage.Shortage{Warn: warn},
		},
		Numbers: Numbers{
			PagesOut:    &r.pagesOut,
			Fetchers:    func() int { return 2 },
			FrontWanted: func() int64 { return 4 }, Spilled: func() int64 { return 5 },
			Sites:       func() (known, cold int) { return 70, 20 },
			SiteMoves:   func() (frozen, thawed int64) { return 30, 10 },
			BytesStored: func() int64 { return 6 }, Front: func() int { return 1 },
			Unresolved: func() int { return r.unresolved }, SitesHeld: func() int { return r.sitesHeld },
			ParsersBehind: func() bool { return r.parsersBehind },
			ConnsReused:   func() int64 { return 7 }, Cookies: func() cookie.Stats { return cookie.Stats{} },
			FilterErrors: func() map[string]int64 { return nil },
			Bodies:       func() bodyfile.Stats { return r.bodies },
			Uploads:      &r.uploads, Hook: hook.New(hook.Options{}, nil, nil),
			HostHook: hook.NewHosts(hook.Options{}, nil, nil), LinkHook: hook.NewLinks(hook.Options{}, nil, nil),
			Sessions: fetch.NewSessions(0, nil, ""),
		},
	}
	return r
}

// Every admitted URL is finished, queued or in flight. What has an outcome is not in flight any more, even if its Page
// is not back in the pool.
func TestCollector_countsBalance(t *testing.T) {
	for _, c := range []struct{ pagesOut, inFlight, queued int64 }{{0, 0, 6}, {2, 2, 4}, {100, 6, 0}} {
		r := newCollectorRig(t)
		count := &r.Journal.Count
		count.URLsAdmitted.Add(10)
		count.Finish(outcome.OK, 3)
		count.Finish(outcome.RobotsDenied, 1)
		r.pagesOut.Store(c.pagesOut)
		report := r.Report()
		if report.URLsInFlight != c.inFlight || report.URLsQueued != c.queued {
			t.Errorf("%d Pages: %d in flight, %d queued", c.pagesOut, report.URLsInFlight, report.URLsQueued)
		}
		if report.URLsFetched != 3 || report.RobotsDenied != 1 {
			t.Errorf("%d fetched, %d denied by robots.txt", report.URLsFetched, report.RobotsDenied)
		}
	}
}

// Named counters stand under the name of the outcome, the rule and the status. Those that are 0 are left out.
func TestCollector_namesWhatWasCounted(t *testing.T) {
	r := newCollectorRig(t)
	r.Journal.Count.Finish(outcome.Redirect, 2)
	r.Journal.Count.CountStatus(301)
	r.Journal.Count.CountStatus(301)
	r.Journal.Count.CountAnswer(counters.MediaTypeOf([]byte("image/PNG")), true, 3)
	r.Journal.Count.CountAnswer(counters.UnknownType, false, 0)
	report := r.Report()
	got := fmt.Sprint(report.Outcomes, report.Statuses, report.Skipped, report.MediaTypes, report.Depths)
	if got != "map[redirect:2] map[301:2] map[] map[image/png:1 unknown:1] map[3:1]" {
		t.Errorf("got %s", got)
	}
}

// The look-ups of names are those of the resolver.
func TestCollector_countsLookups(t *testing.T) {
	r := newCollectorRig(t)
	r.unresolved = 8
	r.stats = dnsres.Stats{Lookups: 1, Hits: 2, FaultHits: 3, Found: 4, NotFound: 5, Faults: 6, Exchanges: 7, Timeouts: 9}
	want := DNS{Unresolved: 8, Lookups: 1, CacheHits: 5, Found: 4, NotFound: 5, Faults: 6, Messages: 7, Timeouts: 9}
	if got := r.Report().DNS; got != want {
		t.Errorf("%+v", got)
	}
}

// The numbers of components stand in the fields of their names.
func TestCollector_copiesNumbersOfComponents(t *testing.T) {
	r := newCollectorRig(t)
	r.Exchanges.Begin(0, &underway.Exchange{Began: time.Now()})
	r.Frontier.Sieve.Add(xxh3.Uint128{Hi: 1, Lo: 1}, queued.Append(nil, &queued.URL{Rest: []byte("http://a.test/")}))
	report := r.Report()
	for name, c := range map[string]struct{ got, want int64 }{
		"pass":         {int64(report.Pass), 2}, // from 1
		"resumed":      {int64(report.Resumed), 3},
		"front wanted": {report.FrontWanted, 4},
		"spilled":      {report.Spilled, 5},
		"stored":       {report.BytesStored, 6},
		"connections":  {report.ConnsReused, 7},
		"known":        {report.HostsKnown, 70},
		"cold":         {report.HostsCold, 20},
		"frozen":       {report.HostsEvicted, 30},
		"restored":     {report.HostsRestored, 10},
		"fetching":     {report.ActiveFetches, 1},
		"sieve":        {report.SievePending, 1},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d, want %d", name, c.got, c.want)
		}
	}
}

// A running crawl whose gate is shut is paused, with the reason of the gate. Another state stays.
func TestCollector_aShutGatePausesARunningCrawl(t *testing.T) {
	r := newCollectorRig(t)
	if report := r.Report(); report.State != lifecycle.Running || report.Reason != "" {
		t.Errorf("%s: %s", report.State, report.Reason)
	}
	r.Outages.Gate.Shut("by the operator")
	if report := r.Report(); report.State != lifecycle.Paused || report.Reason != "by the operator" {
		t.Errorf("%s: %s", report.State, report.Reason)
	}
	r.Run.SetState(lifecycle.Stopped, "by a signal")
	if report := r.Report(); report.State != lifecycle.Stopped || report.Reason != "by a signal" {
		t.Errorf("%s: %s", report.State, report.Reason)
	}
}

// A crawl may wait for several things. The report names the one that must end first: here each step adds one that is
// more important than all before it.
func TestCollector_waitingNamesWhatLimitsTheCrawl(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newCollectorRig(t)
		r.health.Servers = []netip.AddrPort{netip.MustParseAddrPort("127.0.0.53:53")}
		for _, step := range []struct {
			add  func()
			want string // a part
		}{
			{func() {}, "URLs on their way to the workbench"},
			{func() { r.pagesOut.Store(2) }, "2 pages being read and stored"},
			{func() { r.Frontier.Sieve.Add(xxh3.Uint128{Lo: 1}, []byte("x")) }, "the sieve: 1 new link being compared"},
			{func() { r.unresolved = 3 }, "DNS: 3 hosts without an address yet, asked of 127.0.0.53"},
			{
				func() { r.begin(0, "http://slow.test/page", 30*time.Second) },
				"1 response (oldest http://slow.test/page for 30s); DNS: 3 hosts",
			},
			{
				func() { r.addSite("http://a.test", time.Minute) },
				"politeness: http://a.test is due in 1m0s; 1 response (oldest http://slow.test/page for 30s); DNS: 3",
			},
			{
				func() { r.addSite("http://b.test", 2*time.Minute) },
				"politeness: 2 sites wait, the next is http://a.test in 1m0s; 1 response",
			},
			{
				func() { r.health.FailingSince = time.Now().Add(-12 * time.Second) },
				"DNS: no answer from 127.0.0.53 for 12s; 3 hosts without an address",
			},
			{func() { r.addSite("http://c.test", 0) }, "busy: fetching at full speed"},
			{func() { r.sitesHeld = 3 }, "servers: every fetch worker for new and slow sites is in an exchange: 1 response"},
			{
				func() { r.begin(1, "http://b.test/", time.Second) },
				"servers: every fetch worker is in an exchange: 2 responses (oldest http://slow.test/page for 30s)",
			},
			{
				func() {
					_ = r.Bandwidth.Set(bandwidth.Total, 1<<20)
					r.Bandwidth.StartVisits(100, nil)
				},
				"bandwidth: the limit of 1MiB/s is reached (--bandwidth)",
			},
			{func() { r.parsersBehind = true }, "the processor: parse workers are behind, with 2 pages"},
			{
				func() { r.Outages.Network = outage.NewNetwork(1, nil) },
				"the network: connections time out, so 1 fetchers of 2 go on",
			},
			{func() { r.Run.Finish("by a signal") }, "before it stops: 2 responses (oldest http://slow.test/page"},
			{func() { r.agent.isLeaving = true }, "the other agents"},
			{func() { r.Outages.Shortage.Note(time.Now(), "no ports") }, "this machine: no ports"},
			{func() { r.Outages.Gate.Shut("by the operator") }, "by the operator"},
			{func() { r.Run.SetState(lifecycle.Finished, "") }, "nothing: the crawl is finished"},
		} {
			step.add()
			if got := r.Report().Waiting; !strings.Contains(got, step.want) {
				t.Errorf("waiting for %q, want %q", got, step.want)
			}
		}
	})
}

// Broken name servers of some hosts are no reason why a crawl waits, while others answer.
func TestCollector_waitingForNamesIsNoOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newCollectorRig(t)
		r.health = dnsres.Health{HasAnswered: true, FailingSince: time.Now().Add(-time.Hour)}
		r.Workbench.Defer(r.addSite("http://lame.test", 0), time.Now().Add(90*time.Second))
		const alone = "DNS: no address for 1 host, the next try is for http://lame.test in 1m30s"
		if got := r.Report().Waiting; got != alone {
			t.Errorf("waiting for %q, want %q", got, alone)
		}
		r.addSite("http://a.test", time.Second)
		if got := r.Report().Waiting; got != "politeness: http://a.test is due in 1s" {
			t.Errorf("beside a good site: waiting for %q", got)
		}
		r.health.Down = true
		if got := r.Report().Waiting; !strings.Contains(got, "DNS: no answer from the name servers for 1h0m0s; 1 host") {
			t.Errorf("in an outage: waiting for %q", got)
		}
	})
}

// A slow disk stands beside what limits the crawl.
func TestCollector_waitingNamesASlowDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newCollectorRig(t)
		r.Journal.SlowSync.Begin(time.Now())
		time.Sleep(5 * time.Second)
		report := r.Report()
		if !strings.HasSuffix(report.Waiting, "; the disk is slow: a sync takes 5s") || report.SyncSeconds != 5 {
			t.Errorf("%v s: %s", report.SyncSeconds, report.Waiting)
		}
	})
}

// A crawl at its limit of pages waits for page requisites, perhaps in vain. It says why it has not ended.
func TestCollector_waitingNamesTheLimitOfPages(t *testing.T) {
	r := newCollectorRig(t)
	before := r.Report().Waiting
	r.Limits.SetWithRequisites(true)
	r.Limits.Pages = 1
	r.Limits.SetMaxPages(1)
	want := "--max-pages is reached, and page requisites are left, until none comes for 2m0s: " + before
	if got := r.Report(); got.Waiting != want || !got.OnlyRequisites {
		t.Errorf("%s, only requisites: %v", got.Waiting, got.OnlyRequisites)
	}
	r.Run.SetState(lifecycle.Finished, lifecycle.ReasonMaxPages)
	if got := r.Report(); strings.Contains(got.Waiting, "requisites") || got.OnlyRequisites {
		t.Errorf("at the end: %s, only requisites: %v", got.Waiting, got.OnlyRequisites)
	}
	r.Run.SetState(lifecycle.Running, "")
	r.Limits.SetMaxPages(0)
	if got := r.Report().Waiting; got != before {
		t.Errorf("without a limit: %s", got)
	}
}

// Long bodies that wait for room stand beside what limits the crawl. The report has the numbers of their files.
func TestCollector_waitingNamesLongBodies(t *testing.T) {
	r := newCollectorRig(t)
	r.bodies = bodyfile.Stats{Files: 4, Bytes: 9 << 20, Waiting: 2, Waits: 7}
	report := r.Report()
	const want = "; long bodies: 2 waiting for room, 4 body files in use with 9 MiB (--max-body-files)"
	if !strings.HasSuffix(report.Waiting, want) {
		t.Error(report.Waiting)
	}
	if report.BodyFiles != 4 || report.BodyFileBytes != 9<<20 || report.BodiesWaiting != 2 || report.BodyWaits != 7 {
		t.Errorf("%+v", report)
	}
}

// While no site is healthy the report says what is wrong with the sites. Sites that were not asked yet, or have their
// URLs on disk, do not fail.
func TestCollector_reportsTrouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newCollectorRig(t)
		scan := func() Report {
			r.Journal.Count.URLsAdmitted.Add(1)
			r.stall.IsStalled(time.Now(), func() bool { return false })
			time.Sleep(2 * time.Second)
			return r.Report()
		}
		if report := scan(); report.FailingSites != nil {
			t.Errorf("trouble without a site: %+v", report.FailingSites)
		}
		failing := r.addSite("http://a.test", time.Minute)
		if report := scan(); report.FailingSites != nil || strings.Contains(report.Waiting, "fail") {
			t.Errorf("a site that was not asked: %s, %+v", report.Waiting, report.FailingSites)
		}
		r.Workbench.Site(failing).Update(func(s *site.State) {
			for range 9 {
				s.NoteFailure(outcome.Refused, time.Now(), time.Time{})
			}
		})
		report := scan()
		if report.FailingSites != nil {
			t.Errorf("one URL is on no site: %+v", report.FailingSites)
		}
		r.Journal.Count.Finish(outcome.OK, 2)
		report = r.Report()
		if report.FailingSites == nil || report.FailingSites.Sites != 1 || report.FailingSites.URLs != 1 {
			t.Fatalf("trouble: %+v", report.FailingSites)
		}
		if report.Waiting != report.FailingSites.String() || !strings.Contains(report.Waiting, "http://a.test: refused") {
			t.Errorf("waiting for %q, want %q", report.Waiting, report.FailingSites)
		}
		r.begin(0, "http://new.test/robots.txt", time.Second) // the first answer of a new site may be on its way
		if got := r.Report().Waiting; !strings.HasSuffix(got, "1 response (oldest http://new.test/robots.txt for 1s)") {
			t.Errorf("during an exchange: waiting for %q", got)
		}
	})
}

// An agent that has no queued URL left waits for the other agents.
func TestCollector_waitingNamesTheOtherAgents(t *testing.T) {
	r := newCollectorRig(t)
	r.agent.status = &cluster.StatusReport{Self: "a", Agents: []cluster.AgentReport{
		{ID: "a", State: "alive"}, {ID: "b", State: "alive"}, {ID: "c", State: "alive"}, {ID: "d", State: "left"},
	}}
	if got := r.Report().Waiting; got != "2 other agents: this one has no queued URLs, and waits for theirs" {
		t.Errorf("waiting for %s", got)
	}
	r.agent.status.URLsWaiting = 7
	r.Journal.Count.URLsAdmitted.Add(1)
	if got := r.Report().Waiting; got != "the other agents: 7 URLs are on the way to them" {
		t.Errorf("waiting for %s", got)
	}
	r.agent.status.URLsWaiting = 0
	if got := r.Report().Waiting; got != "URLs on their way to the workbench" {
		t.Errorf("waiting for %s", got)
	}
}
