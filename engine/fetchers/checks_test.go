package fetchers

import (
	"context"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/cluster"
	"orbweaver/engine/crawllog"
	"orbweaver/engine/journal"
	"orbweaver/engine/limits"
	"orbweaver/engine/outcome"
	"orbweaver/engine/politeness"
	"orbweaver/engine/queued"
	"orbweaver/engine/robots"
	"orbweaver/engine/settings"
	"orbweaver/engine/site"
	"orbweaver/engine/urlx"
	"orbweaver/engine/visit"
	"orbweaver/internal/vfs"
)

// busyCluster is a cluster.VisitGate whose answers a test chooses.
type busyCluster struct {
	cluster.Alone
	foreign   bool
	notBefore time.Time
	holders   []cluster.Holder
	denied    time.Time
}

func (b *busyCluster) Owns([]byte) bool { return !b.foreign }

func (b *busyCluster) NotBefore([]byte) time.Time { return b.notBefore }

func (b *busyCluster) Recover(context.Context, []byte, [][]byte) ([]cluster.Holder, error) {
	return b.holders, nil
}

func (b *busyCluster) Borrow(
	_ context.Context, _ <-chan struct{}, _ netip.Addr, _ *cluster.Exchange,
) (granted bool, retryAt time.Time) {
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
		Crawl: &Crawl{
			Options: Options{HashSeed: 1, MaxPerHost: 10, StallWait: time.Hour}, Log: log,
			Live: settings.NewLive(politeness.Default(), hosts), Finished: journal.NewFinishedURLs(),
			Quotas: limits.NewQuotas(limits.QuotaOptions{PagesPerDomain: 1}), Cluster: w.cluster,
			Stopping: make(chan struct{}),
		},
		cancel: new(exchange), visit: visitChecks(), item: itemChecks(), exchange: exchangeChecks(),
	}
	w.visit = visit.Visit{Key: []byte("http://a.test"), Site: site.State{HasAnswered: true}}
	w.visit.Site.SetRules(robots.AllowAll(), time.Now().Add(site.RobotsLifetime))
	return w
}

// ask asks all checks in their order, and returns the name of the row that decided; "" if none did.
func (w *checkWorld) ask(t *testing.T) (row string, follows verdict) {
	t.Helper()
	c := &w.current
	w.visit.Items = [][]byte{queued.Append(nil, &w.item)}
	c.begin(&w.visit)
	c.foreign = w.cluster.foreign
	for i, rows := range [][]check{w.checks.visit, w.checks.item, w.checks.exchange} {
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

// TestChecks makes the condition of each row true, and with it the condition of a later row that must not be asked.
func TestChecks(t *testing.T) {
	denyAll := robots.Parse([]byte("User-agent: *\nDisallow: /\n"), robots.Token)
	disallowed := func(w *checkWorld) {
		w.visit.Site.SetRules(denyAll, time.Now().Add(site.RobotsLifetime))
	}
	finished := func(w *checkWorld) { w.checks.Finished.Add(urlx.Fingerprint(1, []byte(checkedURL)), outcome.OK) }
	foreign := func(w *checkWorld) { w.cluster.foreign = true }
	recent := func(w *checkWorld) { w.cluster.notBefore = time.Now().Add(time.Minute) }
	noRules := func(w *checkWorld) { w.visit.Site.Rules = nil }
	unreachable := func(w *checkWorld) {
		w.visit.Site.Rules, w.visit.Site.RobotsTries, w.visit.Site.HasAnswered = nil, site.RobotsTriesMax, false
	}
	redirect := func(w *checkWorld) { w.item.RobotsOf = []byte("http://b.test") }
	recovered := func(w *checkWorld) { w.cluster.holders = []cluster.Holder{{Instance: "other"}} }
	pending := func(w *checkWorld) { w.cluster.holders = []cluster.Holder{{RetryAt: time.Now().Add(time.Second)}} }
	full := func(w *checkWorld) { w.visit.Site.Stored = 10 }
	blocked := func(w *checkWorld) { w.visit.Site.Blocked = true }
	stopping := func(w *checkWorld) {
		closed := make(chan struct{})
		close(closed)
		w.checks.Stopping = closed
	}
	domainFull := func(w *checkWorld) { w.checks.Quotas.AddPage([]byte(checkedURL)) }
	denied := func(w *checkWorld) { w.cluster.denied = time.Now().Add(time.Second) }
	type setting = func(w *checkWorld)
	for _, c := range []struct {
		name    string
		set     []setting
		row     string
		follows verdict
		refused outcome.Outcome
	}{
		{"nothing", nil, "", pass, outcome.None},
		{"stopping", []setting{stopping, blocked}, "stopping", giveBack, outcome.None},
		{"excluded", []setting{blocked, foreign}, "excluded", giveBack, outcome.None},
		{"recent owner", []setting{recent, redirect}, "recent owner", giveBack, outcome.None},
		{"foreign", []setting{foreign, redirect, recent}, "foreign", refuse, outcome.None},
		{"foreign URL", []setting{foreign, disallowed}, "foreign", refuse, outcome.HandedOver},
		{"finished foreign URL", []setting{foreign, finished}, "foreign", refuse, outcome.OK},
		{"redirect", []setting{redirect, noRules}, "redirect", fetchRedirect, outcome.None},
		{"unreachable", []setting{unreachable}, "site unreachable", giveBack, outcome.None},
		{"robots.txt missing", []setting{noRules, recovered}, "robots.txt missing", fetchRobots, outcome.None},
		{"recovery pending", []setting{pending, full}, "recovery pending", giveBack, outcome.None},
		{"recovered", []setting{recovered, full}, "recovered", refuse, outcome.Recovered},
		{"finished before recovered", []setting{finished, recovered, disallowed}, "finished", refuse, outcome.OK},
		{"disallowed", []setting{disallowed, full}, "disallowed", refuse, outcome.RobotsDenied},
		{"host quota", []setting{full, domainFull}, "host quota", refuse, outcome.QuotaHost},
		{"domain quota", []setting{domainFull, denied}, "domain quota", refuse, outcome.QuotaDomain},
		{"address lease", []setting{denied}, "address lease", giveBack, outcome.None},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newCheckWorld(t)
				for _, set := range c.set {
					set(w)
				}
				row, follows := w.ask(t)
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
