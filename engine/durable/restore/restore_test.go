package restore

import (
	"log/slog"
	"net/netip"
	"slices"
	"testing"
	"time"

	"orbweaver/engine/frontier/schedule"
	"orbweaver/engine/frontier/sites"
	"orbweaver/engine/net/politeness"
	"orbweaver/engine/state/counters"
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
	"orbweaver/workbench"
	"orbweaver/workbench/cold"
)

// restored is a Crawl with a workbench, as after it was loaded.
type restored struct {
	*Crawl
	bench    *visit.Workbench
	counters counters.Live
	woken    int
}

func newRestored(t *testing.T) *restored {
	t.Helper()
	disk := vfs.NewMem(1)
	log, err := crawllog.Open(disk, "logs", func(string, ...any) {})
	if err != nil {
		t.Fatal(err)
	}
	store, err := cold.Open(disk, cold.Options{Dir: "cold"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, c := range []interface{ Close() error }{log, store} {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	r := &restored{bench: workbench.New[site.State](workbench.Options{})}
	policy, rules := politeness.Default(), &settings.HostRules{Fs: disk, Dir: "crawl", Say: slog.New(slog.DiscardHandler)}
	if err := disk.MkdirAll("crawl"); err != nil {
		t.Fatal(err)
	}
	r.Crawl = &Crawl{
		Options: Options{Politeness: policy},
		Sites: &sites.Table{
			Workbench: r.bench, Cold: store, Rules: site.NewRulesPool(0), Unresolved: sites.NewUnresolvedQueue(),
			Live: settings.NewLive(policy, rules), Quotas: new(limits.Quotas),
			Traps: traps.New(&traps.Options{Novelty: traps.NoveltyOff}, 1, nil),
		},
		Dead: schedule.NewDeadSites(schedule.DeadSitesParts{
			Log: log, Workbench: r.bench, Counters: &r.counters, Finished: journal.NewFinishedURLs(),
			Wake: func() { r.woken++ },
		}),
	}
	return r
}

func (r *restored) addSite(key string, addr byte) *visit.State {
	vs, _ := r.bench.GetOrAdd([]byte(key))
	if addr > 0 {
		r.bench.Place(vs, netip.AddrFrom4([4]byte{240, 0, 0, addr}), time.Now())
	}
	return vs
}

func path(text string) []byte { return queued.Append(nil, &queued.URL{Rest: []byte(text)}) }

// paths visits a site until it is empty.
func (r *restored) paths(vs *visit.State) (all []string) {
	r.bench.Site(vs).Items(99, func(item []byte, _ bool) {
		it := queued.MustDecode(item)
		all = append(all, string(it.Rest))
	})
	return all
}

// A URL that was in flight comes before all others of its site. One that no site had yet brings its site with it, and
// one of a dead site gets its outcome.
func TestPutBack(t *testing.T) {
	r := newRestored(t)
	vs := r.addSite("http://a.test", 1)
	r.bench.Push(vs, path("/queued"))
	r.bench.Kill(r.addSite("http://dead.test", 2), nil)
	whole := path("http://new.test/held")
	for _, c := range []struct{ key, item []byte }{
		{[]byte("http://a.test"), path("/in-flight")}, {nil, whole}, {[]byte("http://dead.test"), path("/late")},
	} {
		if err := r.putBack(c.key, c.item); err != nil {
			t.Fatal(err)
		}
	}
	if got := r.paths(vs); !slices.Equal(got, []string{"/in-flight", "/queued"}) {
		t.Errorf("the site has %v", got)
	}
	created := r.bench.Get([]byte("http://new.test"))
	if created == nil || !slices.Equal(r.paths(created), []string{"/held"}) || r.Sites.Unresolved.Len() != 1 {
		t.Errorf("the new site is %v; %d sites wait for an address", created, r.Sites.Unresolved.Len())
	}
	if n := r.counters.Outcomes[outcome.SiteGone].Load(); n != 1 {
		t.Errorf("%d URLs of the dead site have its outcome", n)
	}
}

// What sites waited for, no checkpoint has: names are asked for again, a robots.txt of another site, too, and dead
// sites drop what they have on disk.
func TestWakeSites(t *testing.T) {
	r := newRestored(t)
	r.addSite("http://unresolved.test", 0)
	parked := r.addSite("http://parked.test", 1)
	r.bench.Push(parked, path("/"))
	v := r.bench.Acquire(time.Now(), nil, 1)[0]
	r.bench.Release(&v, workbench.Release{Unused: v.Items, Park: true}, time.Now())
	for name, onDisk := range map[string]uint64{"http://dead.test": 3, "http://empty.test": 0} {
		dead := r.addSite(name, 2)
		r.bench.Kill(dead, nil)
		r.bench.Site(dead).SetOnDisk(onDisk, 0)
	}
	r.wakeSites()
	if n := r.Sites.Unresolved.Len(); n != 1 {
		t.Errorf("%d names are asked for", n)
	}
	if c := r.bench.Counts(); c.Parked != 0 || c.Waiting != 1 {
		t.Errorf("%d sites are parked, %d wait", c.Parked, c.Waiting)
	}
	if r.woken != 1 {
		t.Errorf("%d sites are emptied", r.woken)
	}
}

// After a kill a site with a longer delay of its own waits that long: it may have been asked just before.
func TestKeepDelays(t *testing.T) {
	r, now := newRestored(t), time.Now()
	r.Options.Politeness.HostDelay, r.Options.Politeness.CrawlDelayMax = time.Second, time.Minute
	if _, err := r.Sites.Live.Hosts.Add([]string{"ruled.test host-delay=7s"}); err != nil {
		t.Fatal(err)
	}
	for i, key := range []string{"http://plain.test", "http://ruled.test"} {
		r.bench.Push(r.addSite(key, byte(i+1)), path("/"))
	}
	r.keepDelays(now)
	for key, want := range map[string]time.Duration{"http://plain.test": 0, "http://ruled.test": 7 * time.Second} {
		due := r.bench.Site(r.bench.Get([]byte(key))).Due()
		if got := max(due.Sub(now), 0).Round(time.Second); got != want {
			t.Errorf("%s is due in %v, want %v", key, got, want)
		}
	}
}
