package hosts

import (
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/frontier/sites"
	"orbweaver/engine/net/politeness"
	"orbweaver/engine/net/robots"
	"orbweaver/engine/state/limits"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/state/site"
	"orbweaver/engine/state/visit"
	"orbweaver/engine/traps"
	"orbweaver/internal/outcome"
	"orbweaver/internal/vfs"
	"orbweaver/virtualize"
	"orbweaver/workbench"
	"orbweaver/workbench/cold"
)

// crawl is a frontier without a crawl.
type crawl struct {
	*Lister
	t testing.TB
}

func newCrawl(t testing.TB) crawl {
	t.Helper()
	disk := vfs.NewMem(1)
	store, err := cold.Open(disk, cold.Options{Dir: "cold"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	virt, err := virtualize.Open(disk, virtualize.Options{Dir: "queues"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(virt.Close(), store.Close()) })
	bench := workbench.New[site.State](workbench.Options{PathsPerVisit: 1})
	live := settings.NewLive(politeness.Default(), new(settings.HostRules))
	return crawl{&Lister{
		Workbench: bench, OnDisk: sites.NewDiskQueues(virt), Live: live, Paused: func() string { return "" },
		Sites: &sites.Table{
			Workbench: bench, Cold: store, Rules: site.NewRulesPool(0), Unresolved: sites.NewUnresolvedQueue(), Live: live,
			Quotas: new(limits.Quotas), Traps: traps.New(&traps.Options{Novelty: traps.NoveltyOff}, 1, nil),
		},
	}, t}
}

func item(path string) []byte { return queued.Append(nil, &queued.URL{Rest: []byte(path)}) }

// add adds a site with some URLs in memory and some on disk.
func (c crawl) add(key string, addr byte, memory, disk int, change func(*site.State)) *visit.State {
	c.t.Helper()
	vs, _, err := c.Sites.GetOrAdd([]byte(key))
	if err != nil {
		c.t.Fatal(err)
	}
	c.Workbench.Place(vs, netip.AddrFrom4([4]byte{192, 0, 2, addr}), time.Now())
	for n := range memory {
		c.Workbench.Push(vs, item(fmt.Sprintf("/%d", n)))
	}
	for n := range disk {
		if err := c.OnDisk.Append(vs, item(fmt.Sprintf("/%d", memory+n))); err != nil {
			c.t.Fatal(err)
		}
	}
	c.Workbench.Site(vs).SetOnDisk(uint64(disk), 0)
	c.Workbench.Site(vs).Update(change)
	return vs
}

func same(*site.State) {}

// An operator asks which hosts hold the crawl: by queue, by errors, of one domain, and only those that wait.
func TestListSortsAndFilters(t *testing.T) {
	c := newCrawl(t)
	c.add("http://large.example.org", 1, 3, 5000, same)
	c.add("http://failing.example.org", 2, 1, 0, func(s *site.State) { s.Errors, s.KiB = 40, 7 })
	c.add("https://example.org", 3, 2, 0, func(s *site.State) { s.Stored = 12 })
	c.add("http://notexample.org", 4, 9, 0, same)
	for n := range 300 {
		c.add(fmt.Sprintf("http://h%d.test", n), byte(5+n/2), 0, 0, same)
	}
	for _, q := range []struct {
		Query
		want     []string
		matching int
		queued   uint64
	}{
		{Query{Limit: 2}, []string{"http://large.example.org", "http://notexample.org"}, 304, 5015},
		{Query{Limit: 1, Sort: ByErrors}, []string{"http://failing.example.org"}, 304, 5015},
		{Query{Limit: 1, Sort: ByPages}, []string{"https://example.org"}, 304, 5015},
		{Query{Limit: 1, Sort: ByBytes}, []string{"http://failing.example.org"}, 304, 5015},
		{Query{Suffix: "example.org"}, []string{
			"http://large.example.org", "https://example.org", "http://failing.example.org"}, 3, 5006},
		{Query{State: "idle", Limit: 1}, []string{"http://h0.test"}, 300, 0},
	} {
		list, err := c.List(t.Context(), q.Query)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, h := range list.Hosts {
			got = append(got, h.Site)
		}
		if fmt.Sprint(got) != fmt.Sprint(q.want) || list.Matching != q.matching || list.Queued != q.queued ||
			list.States["idle"] != 300 || list.States["waiting"] != 4 {
			t.Errorf("%+v: %v, %d match, %d queued, %v", q.Query, got, list.Matching, list.Queued, list.States)
		}
	}
	for _, q := range []Query{{Sort: "size"}, {State: "asleep"}, {Limit: LimitMax + 1}, {Limit: -1}} {
		if _, err := c.List(t.Context(), q); err == nil {
			t.Errorf("%+v was answered", q)
		}
	}
}

// Before a rule is given, its operator sees which sites it is for. A range of addresses matches by the address at which
// a site is asked, and the answer says that no rule can be given for one.
func TestMatchSaysWhichSitesARuleIsFor(t *testing.T) {
	c := newCrawl(t)
	c.add("http://large.example.org", 1, 3, 5000, same)
	c.add("https://example.org", 3, 2, 0, same)
	c.add("http://notexample.org", 3, 9, 0, same)
	for n := range 7 {
		c.add(fmt.Sprintf("http://h%d.test", n), byte(65+n), n, 0, same)
	}
	for _, q := range []struct {
		rule    string
		sites   int
		queued  uint64
		largest string
		refused bool
	}{
		{".example.org exclude", 2, 5005, "[http://large.example.org https://example.org]", false},
		{"*.example.org host-delay=9s", 1, 5003, "[http://large.example.org]", false},
		{"EXAMPLE.org exclude=no", 1, 2, "[https://example.org]", false},
		{"192.0.2.64/26 exclude", 7, 21,
			"[http://h6.test http://h5.test http://h4.test http://h3.test http://h2.test]", true},
		{"192.0.2.3 exclude", 0, 0, "[]", false},
		{"none.test exclude", 0, 0, "[]", false},
		{"example.org host-delay=soon", 1, 2, "[https://example.org]", true},
		{".example.org", 2, 5005, "[http://large.example.org https://example.org]", true},
	} {
		m, err := c.Match(t.Context(), q.rule)
		if err != nil || m.Sites != q.sites || m.Queued != q.queued || fmt.Sprint(m.Largest) != q.largest ||
			(m.Fault != "") != q.refused {
			t.Errorf("%s: %+v, %v", q.rule, m, err)
		}
	}
	for _, wrong := range []string{"", "a b c", "http://a.test/ exclude", "192.0.2.0/99 exclude"} {
		if m, err := c.Match(t.Context(), wrong); err == nil && m.Fault == "" {
			t.Errorf("%q: %+v", wrong, m)
		}
	}
}

// Each delay is told with its reason, the longest first.
func TestWaitsNameTheirReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrawl(t)
		now := time.Now()
		slow := robots.Parse([]byte("User-agent: *\nCrawl-delay: 10\n"), robots.Token)
		sites := map[string]struct {
			change    func(*site.State)
			site, ip  time.Duration
			neighbour bool
			want      string
			seconds   float64
		}{
			"a": {same, 3 * time.Second, 0, false, HostDelay, 3},
			"b": {func(s *site.State) { s.SetRules(slow, now.Add(time.Hour)) }, 8 * time.Second, 0, false, CrawlDelay, 8},
			"c": {func(s *site.State) {
				s.NoteFailure(outcome.Unavailable, now, now.Add(time.Minute))
			}, time.Minute, 0, false, RetryAfter, 60},
			"d": {func(s *site.State) { s.NoteFailure(outcome.Refused, now, time.Time{}); s.Failures = 2 },
				50 * time.Second, 0, false, BackOff, 50},
			"e": {func(s *site.State) { s.Slowdown = 8 }, 15 * time.Second, 0, false, SlowedDown, 15},
			"f": {same, 0, time.Second, false, IPDelay, 1},
			"g": {same, 0, time.Second, true, SharedIP, 1},
			"h": {same, 0, 0, false, "", 0},
			"i": {func(s *site.State) {
				(&site.RobotsResult{Unreachable: true, Fault: robots.FaultChunks}).Apply(s, now)
			}, 2 * time.Minute, 0, false, RobotsRetry, 120},
		}
		for name, s := range sites {
			vs := c.add("http://"+name+".test", name[0], 1, 0, s.change)
			if s.neighbour {
				c.add("http://neighbour.test", name[0], 1, 0, same)
			}
			c.Workbench.Site(vs).Postpone(now.Add(s.site), now.Add(s.ip))
			q, err := c.Queues(t.Context(), name+".test", 5)
			if err != nil || len(q.Sites) != 1 || len(q.Sites[0].URLs) != 1 {
				t.Fatal(name, q, err)
			}
			first := Wait{}
			if len(q.Sites[0].Waits) > 0 {
				first = q.Sites[0].Waits[0]
			}
			if first.Reason != s.want || first.Seconds < s.seconds-0.01 || first.Seconds > s.seconds+0.01 {
				t.Errorf("%s: %+v", name, q.Sites[0].Waits)
			}
		}
		c.Workbench.Acquire(now, nil, 9)
		if q, err := c.Queues(t.Context(), "h.test", 5); err != nil || q.Sites[0].Waits[0].Reason != Exchange ||
			q.Sites[0].URLs[0].Position != 0 {
			t.Error(q, err)
		}
		if _, err := c.Queues(t.Context(), "unknown.test", 5); !errors.Is(err, ErrUnknown) {
			t.Error(err)
		}
	})
}

// The queue of a host goes on from memory to disk, with the expected time of each URL, and nothing leaves it.
func TestQueuesShowWhatComesNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrawl(t)
		vs := c.add("https://a.test:8443", 1, 2, 10_000, same)
		c.Workbench.Site(vs).Postpone(time.Now().Add(time.Second), time.Time{})
		for range 2 {
			q, err := c.Queues(t.Context(), "a.test", 4) // found by its name, though its port is unusual
			if err != nil || len(q.Sites) != 1 || q.Sites[0].Queued != 10_002 {
				t.Fatal(q, err)
			}
			for i, u := range q.Sites[0].URLs {
				place := InMemory
				if i >= 2 {
					place = OnDisk
				}
				want := QueuedURL{
					Position: uint64(i + 1), URL: fmt.Sprintf("https://a.test:8443/%d", i), DueSeconds: float64(1 + 4*i),
					Place: place,
				}
				if u != want {
					t.Errorf("%+v, want %+v", u, want)
				}
			}
		}
		for _, look := range []struct {
			path       string
			limit      int
			found, all bool
			position   uint64
		}{{"/9876", 1_000_000, true, true, 9877}, {"/9876", 9000, false, false, 0}, {"/x", 1_000_000, false, true, 0}} {
			f, err := c.Find(t.Context(), []byte("https://a.test:8443"+look.path), look.limit)
			if err != nil || f.Queued != look.found || f.ReadAll != look.all || f.At.Position != look.position {
				t.Errorf("%+v: %+v, %v", look, f, err)
			}
		}
	})
}

// A list of a crawl with a million hosts: the time of a call, which other goroutines do not wait for.
func BenchmarkList(b *testing.B) {
	const hostCount = 1_000_000
	c := newCrawl(b)
	now := time.Now()
	for n := range hostCount {
		vs, _ := c.Workbench.GetOrAdd(fmt.Appendf(nil, "http://h%d.load.test", n))
		addr := netip.AddrFrom4([4]byte{240, byte(n >> 18), byte(n >> 10), byte(n >> 2)})
		c.Workbench.Place(vs, addr, now)
		c.Workbench.Push(vs, item("/archive/2004/page.html"))
	}
	for _, order := range []Order{ByQueue, ByDelay} {
		b.Run(string(order), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if list, err := c.List(b.Context(), Query{Sort: order}); err != nil || list.Matching != hostCount {
					b.Fatal(list.Matching, err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/(hostCount/128), "µs/slice")
		})
	}
}

// Why names what keeps a queued URL, the strongest first.
func TestWhy(t *testing.T) {
	delayed := &Host{Waits: []Wait{{Text: "1s between two requests"}, {Text: "its address is shared"}}}
	allowed, denied := &Robots{State: "valid", Allowed: true}, &Robots{State: "valid", Line: 3, Rule: "Disallow: /"}
	for want, why := range map[string]string{
		"no exchange begins: disk full":                         Why("disk full", delayed, denied),
		"it will be refused: line 3 of robots.txt: Disallow: /": Why("", delayed, denied),
		"1s between two requests":                               Why("", delayed, allowed),
		"":                                                      Why("", new(Host), &Robots{State: "missing"}),
	} {
		if why != want {
			t.Errorf("%q, want %q", why, want)
		}
	}
}

// An address is a name for the sites that are asked there. Each says what it waits for, and the answer why none is
// asked.
func TestQueues_ofAnAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrawl(t)
		same := func(*site.State) {}
		c.add("http://a.test", 7, 2, 0, same)
		c.add("https://b.test:8443", 7, 1, 0, same)
		c.add("http://other.test", 8, 1, 0, same)
		c.Paused = func() string { return "disk full" }
		c.Workbench.Acquire(time.Now(), nil, 1)
		q, err := c.Queues(t.Context(), c.Workbench.Site(c.Workbench.Get([]byte("http://a.test"))).Addr().String(), 5)
		if err != nil || len(q.Sites) != 2 || q.Paused != "disk full" {
			t.Fatalf("%+v, %v", q, err)
		}
		busy, waits := q.Sites[0], q.Sites[1]
		if busy.Site != "http://a.test" || waits.Site != "https://b.test:8443" || busy.Waits[0].Reason != Exchange ||
			waits.Waits[0].Reason != SharedIP {
			t.Errorf("%+v", q.Sites)
		}
		if _, err := c.Queues(t.Context(), "2001:db8::1", 5); !errors.Is(err, ErrUnknown) {
			t.Errorf("an address without sites: %v", err)
		}
	})
}

// A site that takes no part in the crawl says why: it waits for the robots.txt of another, or for page requisites.
func TestParkedSitesSayWhatTheyWaitFor(t *testing.T) {
	for _, c := range []struct {
		name    string
		release workbench.Release
		want    string
	}{
		{"robots.txt", workbench.Release{Park: true}, OtherRobots},
		{"limit of pages", workbench.Release{Hold: true}, PageLimit},
	} {
		l := newCrawl(t)
		l.add("http://a.test", 1, 2, 0, func(s *site.State) {
			if s.LastExchange = site.MomentOf(time.Now()); c.want == PageLimit {
				s.Rules = robots.AllowAll()
			}
		})
		visits := l.Workbench.Acquire(time.Now(), nil, 1)
		c.release.Unused = visits[0].Items
		l.Workbench.Release(&visits[0], c.release, time.Now())
		list, err := l.List(t.Context(), Query{})
		if err != nil || len(list.Hosts) != 1 || len(list.Hosts[0].Waits) == 0 || list.Hosts[0].Waits[0].Reason != c.want {
			t.Errorf("%s: %+v, %v", c.name, list.Hosts, err)
		}
	}
}
