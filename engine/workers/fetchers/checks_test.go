package fetchers

import (
	"context"
	"log/slog"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/net/outage"
	"orbweaver/engine/net/politeness"
	"orbweaver/engine/net/robots"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/state/addrgroup"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/limits"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/state/site"
	"orbweaver/engine/state/visit"
	"orbweaver/engine/store/crawllog"
	"orbweaver/engine/store/journal"
	"orbweaver/internal/outcome"
	"orbweaver/internal/urlx"
	"orbweaver/internal/vfs"
)

// busyCluster is a cluster.VisitGate whose answers a test chooses.
type busyCluster struct {
	cluster.Alone
	foreign   bool
	notBefore time.Time
	holders   []cluster.Holder
	denied    time.Time
	leaves    bool      // the site has another owner after AcquireAddress
	returns   time.Time // what NotBefore returns after AcquireAddress
	borrowed  bool
	loses     netip.Addr // address whose lease ends the exchange of another one
}

func (b *busyCluster) Owns([]byte) bool { return !b.foreign && !(b.borrowed && b.leaves) }

func (b *busyCluster) NotBefore([]byte) time.Time {
	if b.borrowed {
		return b.returns
	}
	return b.notBefore
}

func (b *busyCluster) Recover(context.Context, []byte, [][]byte) ([]cluster.Holder, error) {
	return b.holders, nil
}

func (b *busyCluster) AcquireAddress(
	ctx context.Context, _ <-chan struct{}, addr netip.Addr, x *cluster.Exchange,
) (granted bool, retryAt time.Time) {
	b.borrowed = true
	if addr.IsValid() && addr == b.loses {
		x.Cancel()
	}
	x.Open(ctx)
	return b.denied.IsZero(), b.denied
}

// checkWorld is a worker with one Visit, whose only item passes all checks.
type checkWorld struct {
	checks  checker
	current current
	cluster *busyCluster
	item    queued.URL
	visit   visit.Visit
}

const checkedURL = "http://a.test/page"

func newCheckWorld(t *testing.T) *checkWorld {
	t.Helper()
	log, err := crawllog.Open(vfs.NewMem(1), "logs", func(string, ...any) {})
	if err != nil {
		t.Fatal(err)
	}
	hosts, err := settings.OpenHostRules(vfs.NewMem(1), "frontier", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	w := &checkWorld{cluster: new(busyCluster), item: queued.URL{Rest: []byte("/page")}}
	w.checks = checker{
		Settings: Settings{
			Live: settings.NewLive(politeness.Default(), hosts), Groups: addrgroup.New(hosts, politeness.DefaultIPv6Prefix),
			Quotas: limits.NewQuotas(limits.QuotaOptions{PagesPerDomain: 1}),
		},
		cluster: w.cluster, cancel: new(cluster.Exchange), finished: journal.NewFinishedURLs(), log: log, hashSeed: 1,
		way: outage.NewWay(nil, func(string, ...any) {}), stopping: make(chan struct{}),
		visit: visitChecks(), item: itemChecks(), exchange: exchangeChecks(),
	}
	w.checks.Live.ChangeBounds(func(b *settings.Bounds) { b.MaxPerHost, b.StallWait = 10, time.Hour })
	w.visit = visit.Visit{Key: []byte("http://a.test"), Site: site.State{HasAnswered: true}}
	w.visit.Site.SetRules(robots.AllowAll(), time.Now().Add(site.RobotsLifetime))
	return w
}

// ask asks all checks in their order, and returns the name of the row that decided; "" if none did.
func (w *checkWorld) ask(t *testing.T) (row string, follows verdict) {
	t.Helper()
	c := &w.current
	w.visit.Items = [][]byte{queued.Append(nil, &w.item)}
	c.begin(&visit.Result{Visit: w.visit}, !w.cluster.foreign)
	for i, rows := range []checkTable{w.checks.visit, w.checks.item, w.checks.exchange} {
		if i == 1 {
			c.beginItem(0)
		}
		for _, k := range rows {
			v, err := k.test(&w.checks, t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			if v != pass {
				return k.name, v
			}
		}
	}
	return "", pass
}

// A setting makes the condition of a row true.
type setting = func(w *checkWorld)

func disallowed(w *checkWorld) {
	rules := robots.Parse([]byte("User-agent: *\nDisallow: /\n"), robots.Token)
	w.visit.Site.SetRules(rules, time.Now().Add(site.RobotsLifetime))
}

// ignoring lets a host rule ignore robots.txt.
func ignoring(w *checkWorld) {
	hosts := w.checks.Live.Hosts
	hosts.Say = slog.New(slog.DiscardHandler)
	if taken, _ := hosts.Add([]string{"a.test robots=ignore reason=law"}); taken != 1 {
		panic("the rule was not taken")
	}
}

// grouped puts the host into a group.
func grouped(w *checkWorld) {
	w.visit.Addr = netip.MustParseAddr("192.0.2.1")
	hosts := w.checks.Live.Hosts
	hosts.Say = slog.New(slog.DiscardHandler)
	if taken, _ := hosts.Add([]string{"group farm: a.test delay=10s"}); taken != 1 {
		panic("the rule was not taken")
	}
}

func finished(w *checkWorld) {
	w.checks.finished.Add(urlx.Fingerprint(1, []byte(checkedURL)), outcome.OK)
}

func foreign(w *checkWorld) { w.cluster.foreign = true }

func recent(w *checkWorld) { w.cluster.notBefore = time.Now().Add(time.Minute) }

func noRules(w *checkWorld) { w.visit.Site.Rules = nil }

func unreachable(w *checkWorld) {
	w.visit.Site.Rules, w.visit.Site.RobotsTries, w.visit.Site.HasAnswered = nil, site.RobotsTriesMax, false
}

func redirect(w *checkWorld) { w.item.RobotsOf = []byte("http://b.test") }

func recovered(w *checkWorld) { w.cluster.holders = []cluster.Holder{{Instance: "other"}} }

func pending(w *checkWorld) {
	w.cluster.holders = []cluster.Holder{{RetryAt: time.Now().Add(time.Second)}}
}

func full(w *checkWorld) { w.visit.Site.Stored = 10 }

func later(w *checkWorld) { w.checks.Live.Hosts.AddAnswer("a.test not-before=2999-01-01T00:00:00Z") }

func blocked(w *checkWorld) { w.visit.Site.Blocked = true }

func stopping(w *checkWorld) {
	closed := make(chan struct{})
	close(closed)
	w.checks.stopping = closed
}

func domainFull(w *checkWorld) { w.checks.Quotas.AddPage([]byte(checkedURL)) }

func denied(w *checkWorld) { w.cluster.denied = time.Now().Add(time.Second) }

func expired(w *checkWorld) {
	w.visit.Site.SetAddrs([]netip.Addr{netip.MustParseAddr("192.0.2.1")}, netip.Addr{}, time.Now().Add(-time.Second))
}

func filtered(w *checkWorld) {
	f, err := filter.CompileFetch("none", new(filter.Seeds))
	if err != nil {
		panic(err)
	}
	w.checks.Live.Fetch.Store(f)
}

func failing(w *checkWorld) {
	for range 3 { // so many that a proof is due
		w.visit.Site.NoteFailure(outcome.ServerError, time.Now(), time.Time{})
	}
}

func failingLong(w *checkWorld) {
	for i := range 6 {
		w.visit.Site.NoteFailure(outcome.ServerError, time.Now().Add(time.Duration(i-6)*time.Hour), time.Time{})
	}
	w.visit.Site.SetRules(robots.AllowAll(), time.Now().Add(site.RobotsLifetime))
}

func leaves(w *checkWorld) { w.cluster.leaves = true }

func returns(w *checkWorld) { w.cluster.returns = time.Now().Add(time.Minute) }

// A checkCase is a story of one row: its condition, and that of a later row that must not be asked.
type checkCase struct {
	name    string
	set     []setting
	row     string // that decides
	follows verdict
	refused outcome.Outcome // of the item; None if the item is not refused
}

// wayDown is an outage of the way in which another exchange is the probe.
func wayDown(w *checkWorld) {
	began := time.Now().Add(-time.Minute)
	for i := range 10 {
		w.checks.way.NoteFault(outcome.WayLocked, []byte{byte(i)}, "", began.Add(time.Duration(i)*time.Second))
	}
	w.checks.way.MayAsk(time.Now())
}

func checkCases() []checkCase {
	return []checkCase{
		{"nothing", nil, "", pass, outcome.None},
		{"stopping", []setting{stopping, blocked}, "stopping", giveBack, outcome.None},
		{"excluded", []setting{blocked, foreign}, "excluded", giveBack, outcome.None},
		{"group", []setting{grouped, recent}, "group", giveBack, outcome.None},
		{"postponed", []setting{later, recent}, "postponed", giveBack, outcome.None},
		{"recent owner", []setting{recent, redirect}, "recent owner", giveBack, outcome.None},
		{"address expired", []setting{expired, redirect}, "address expired", giveBack, outcome.None},
		{"foreign, and its address expired", []setting{foreign, expired}, "foreign", refuse, outcome.HandedOver},
		{"excluded before recent owner", []setting{blocked, recent}, "excluded", giveBack, outcome.None},
		{"recent owner before address", []setting{recent, expired}, "recent owner", giveBack, outcome.None},
		{"filters before unreachable", []setting{filtered, unreachable}, "filters", refuse, outcome.Filtered},
		{"filters", []setting{filtered, noRules}, "filters", refuse, outcome.Filtered},
		{"filters and finished", []setting{filtered, finished}, "finished", refuse, outcome.OK},
		{"redirect and filters", []setting{redirect, filtered}, "redirect", fetchRedirect, outcome.None},
		{"proof by robots.txt", []setting{failing, pending}, "proof needed", fetchRobots, outcome.None},
		{"proof by the root page", []setting{failingLong, pending}, "proof needed", fetchRoot, outcome.None},
		{"missing rules before a proof", []setting{failing, noRules}, "robots.txt missing", fetchRobots, outcome.None},
		{"owner changed", []setting{leaves, returns}, "owner changed", giveBack, outcome.None},
		{"owner returned", []setting{returns}, "owner returned", giveBack, outcome.None},
		{"foreign", []setting{foreign, redirect, recent}, "foreign", refuse, outcome.None},
		{"foreign URL", []setting{foreign, disallowed}, "foreign", refuse, outcome.HandedOver},
		{"finished foreign URL", []setting{foreign, finished}, "foreign", refuse, outcome.OK},
		{"redirect", []setting{redirect, noRules}, "redirect", fetchRedirect, outcome.None},
		{"redirect decided", []setting{redirect, disallowed}, "redirect decided", refuse, outcome.None},
		{"unreachable", []setting{unreachable}, "site unreachable", giveBack, outcome.None},
		{"robots.txt missing", []setting{noRules, recovered}, "robots.txt missing", fetchRobots, outcome.None},
		{"recovery pending", []setting{pending, full}, "recovery pending", giveBack, outcome.None},
		{"recovered", []setting{recovered, full}, "recovered", refuse, outcome.Recovered},
		{"finished before recovered", []setting{finished, recovered, disallowed}, "finished", refuse, outcome.OK},
		{"disallowed", []setting{disallowed, full}, "disallowed", refuse, outcome.RobotsDenied},
		{"disallowed, and ignored", []setting{ignoring, disallowed, full}, "host quota", refuse, outcome.QuotaHost},
		{"ignored, but fetched once", []setting{ignoring, noRules}, "robots.txt missing", fetchRobots, outcome.None},
		{"unreachable, and ignored", []setting{ignoring, unreachable, full}, "host quota", refuse, outcome.QuotaHost},
		{"host quota", []setting{full, domainFull}, "host quota", refuse, outcome.QuotaHost},
		{"domain quota", []setting{domainFull, denied}, "domain quota", refuse, outcome.QuotaDomain},
		{"way down", []setting{wayDown, denied}, "way down", waitForWay, outcome.None},
		{"address lease", []setting{denied}, "address lease", giveBack, outcome.None},
	}
}

// TestChecks makes the condition of each row true, and with it the condition of a later row that must not be asked.
func TestChecks(t *testing.T) {
	asked := make(map[string]bool)
	for _, c := range checkCases() {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newCheckWorld(t)
				for _, set := range c.set {
					set(w)
				}
				row, follows := w.ask(t)
				asked[row] = true
				if row != c.row || follows != c.follows {
					t.Fatalf("row %q decided %d, want %q and %d", row, follows, c.row, c.follows)
				}
				refused := outcome.None
				if n := len(w.current.refused); n > 0 {
					refused = w.current.refused[n-1].outcome
				}
				if refused != c.refused {
					t.Errorf("the item got outcome %v, want %v", refused, c.refused)
				}
			})
		})
	}
	for _, k := range slices.Concat(visitChecks(), itemChecks(), exchangeChecks()) {
		if !asked[k.name] {
			t.Errorf("no case makes the condition of row %q true", k.name)
		}
	}
}

// groupAddr is the address of the sites of groups in these tests.
func groupAddr() netip.Addr { return netip.MustParseAddr("198.51.100.1") }

// newGroupWorld is a checkWorld whose site is in a group.
func newGroupWorld(t *testing.T, group string, groups *addrgroup.Groups) *checkWorld {
	t.Helper()
	w := newCheckWorld(t)
	w.checks.Groups = groups
	w.visit.Addr = politeness.GroupKey(group)
	site.KeepAddr(&w.visit.Site, groupAddr())
	return w
}

// Sites of two groups at one address take turns, also if the crawl has one agent. A site whose lease of the group ends
// while it waits for that of the address makes no request.
func TestSitesOfGroupsShareTheirAddress(t *testing.T) {
	fixed := new(filter.HostRules)
	_, err := fixed.Grow("group farm: a.test", "group yard: b.test")
	if err != nil {
		t.Fatal(err)
	}
	hosts, err := settings.OpenHostRules(vfs.NewMem(1), "frontier", fixed, nil)
	if err != nil {
		t.Fatal(err)
	}
	groups := addrgroup.New(hosts, politeness.DefaultIPv6Prefix)
	first, second := newGroupWorld(t, "farm", groups), newGroupWorld(t, "yard", groups)
	ask := func(w *checkWorld) verdict {
		t.Helper()
		w.visit.Items = [][]byte{queued.Append(nil, &w.item)}
		w.current.begin(&visit.Result{Visit: w.visit}, true)
		v, err := w.checks.isAddrDenied(t.Context(), &w.current)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if v := ask(first); v != pass {
		t.Fatalf("the first site: %d", v)
	}
	if v := ask(second); v != giveBack || !second.current.result.Release.SiteDue.After(time.Now()) {
		t.Errorf("the second site meanwhile: %d", v)
	}
	groups.EndExchange(first.current.shared, time.Time{}, time.Now())
	if v := ask(second); v != pass || second.current.shared != groupAddr() {
		t.Errorf("the second site afterwards: %d", v)
	}
	groups.EndExchange(second.current.shared, time.Time{}, time.Now())
	second.cluster.loses = groupAddr()
	if v := ask(second); v != giveBack || second.current.shared != groupAddr() {
		t.Errorf("without the lease of the group: %d", v)
	}
}

// TestChecksHaveWords holds each row to a name of its own, a condition and a consequence.
func TestChecksHaveWords(t *testing.T) {
	var names []string
	for _, k := range slices.Concat(visitChecks(), itemChecks(), exchangeChecks()) {
		if k.name == "" || k.condition == "" || k.consequence == "" || slices.Contains(names, k.name) {
			t.Errorf("row %q is incomplete or occurs twice", k.name)
		}
		names = append(names, k.name)
	}
}
