package fetchers

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/login"
	"orbweaver/engine/net/outage"
	"orbweaver/engine/net/politeness"
	"orbweaver/engine/net/robots"
	"orbweaver/engine/net/underway"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/state/addrgroup"
	"orbweaver/engine/state/attempt"
	"orbweaver/engine/state/limits"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/state/site"
	"orbweaver/engine/state/visit"
	"orbweaver/engine/store/crawllog"
	"orbweaver/engine/store/journal"
	"orbweaver/engine/store/recrawl"
	"orbweaver/internal/handoff"
	"orbweaver/internal/outcome"
	"orbweaver/internal/vfs"
)

// server answers all requests with the responses for their paths, and notes the paths.
type server struct {
	responses map[string]string
	asked     []string
	refuse    map[string]bool // addresses that refuse connections
	silent    map[string]bool // addresses that drop them
}

// DialContext implements fetch.Dialer.
func (s *server) DialContext(ctx context.Context, _, addr string) (net.Conn, error) {
	switch {
	case s.refuse[addr]:
		return nil, syscall.ECONNREFUSED
	case s.silent[addr]:
		<-ctx.Done()
		return nil, context.DeadlineExceeded
	}
	here, there := net.Pipe()
	go func() {
		defer there.Close()
		r, err := http.ReadRequest(bufio.NewReader(there))
		if err != nil {
			return
		}
		s.asked = append(s.asked, r.URL.RequestURI())
		_, _ = io.WriteString(there, s.responses[r.URL.RequestURI()])
	}()
	return here, nil
}

const (
	okHTML    = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nok"
	notFound  = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
	busyFor1m = "HTTP/1.1 503 Busy\r\nRetry-After: 60\r\nContent-Length: 0\r\n\r\n"
)

// rig is one worker with a server, in virtual time.
type rig struct {
	crawl  *Crawl
	worker *Worker
	server *server
	pages  chan *fetch.Page
	stop   chan struct{}
}

func newRig(t *testing.T, responses map[string]string) *rig {
	t.Helper()
	log, err := crawllog.Open(vfs.NewMem(1), "logs", func(string, ...any) {})
	if err != nil {
		t.Fatal(err)
	}
	hosts, err := settings.OpenHostRules(vfs.NewMem(1), "frontier", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	g := &rig{server: &server{responses: responses}, pages: make(chan *fetch.Page, 8), stop: make(chan struct{})}
	warn := func(string, ...any) {}
	g.crawl = &Crawl{
		Options: Options{
			Fetch: fetch.Options{UserAgent: "test"}, HashSeed: 1, Dialer: g.server, Stopping: g.stop,
		},
		Queues: Queues{
			Todo: handoff.New[visit.Result](8), Results: visit.NewResultQueue(), Shares: visit.NewShares(filter.Domain),
			Exchanges: underway.NewTable(1), Pool: fetch.NewPool(fetch.PoolOptions{Pages: 4}), Pages: g.pages,
			LongPages: g.pages, PagesOut: new(atomic.Int64),
		},
		Settings: Settings{
			Live: settings.NewLive(politeness.Default(), hosts), Quotas: new(limits.Quotas),
			Groups: addrgroup.New(hosts, politeness.DefaultIPv6Prefix),
		},
		Identity: Identity{Logins: new(login.Logins), Previous: recrawl.FirstPass{}},
		Records: Records{
			Store: journal.NewStore(), InFlight: attempt.NewInFlight(), Finished: journal.NewFinishedURLs(), Log: log,
		},
		Outages: Outages{
			Network: outage.NewNetwork(1, warn), Shortage: &outage.Shortage{Warn: warn},
			Way: outage.NewWay(func(host []byte) []byte { return host }, warn),
		},
		Rules: site.NewRulesPool(0), Clamps: &settings.ClampLog{Warn: warn}, Cluster: new(busyCluster),
	}
	g.crawl.Settings.Live.ChangeBounds(func(b *settings.Bounds) { b.GiveUp, b.StallWait = 24*time.Hour, time.Hour })
	g.worker = NewWorker(g.crawl, 0)
	t.Cleanup(g.worker.Close)
	return g
}

// visitOf makes a Visit of http://a.test with items for paths.
func visitOf(state site.State, paths ...string) *visit.Result {
	v := visit.Visit{Key: []byte("http://a.test"), Addr: netip.MustParseAddr("192.0.2.1"), Site: state}
	for _, path := range paths {
		v.Items = append(v.Items, queued.Append(nil, &queued.URL{Depth: 1, Rest: []byte(path)}))
	}
	return &visit.Result{Visit: v}
}

// visit lets the worker work on a Visit, and returns its Result.
func (g *rig) visit(t *testing.T, v *visit.Result) *visit.Result {
	t.Helper()
	if err := g.worker.visit(t.Context(), v); err != nil {
		t.Fatal(err)
	}
	r := g.crawl.Queues.Results.TryTake()
	if r == nil {
		t.Fatal("the Visit did not return")
	}
	return r
}

// pathsOf returns the paths of items.
func pathsOf(items [][]byte) (paths []string) {
	for _, item := range items {
		it := queued.MustDecode(item)
		paths = append(paths, string(it.Rest))
	}
	return paths
}

func known() site.State {
	s := site.State{HasAnswered: true}
	s.SetRules(robots.AllowAll(), time.Now().Add(site.RobotsLifetime))
	return s
}

// The connection of a request may wait for the next one, which comes after the delay of the site; that of the last URL
// does not wait.
func TestExchange_untilNext(t *testing.T) {
	g := newRig(t, nil)
	slowed := known()
	slowed.SetRules(robots.Parse([]byte("User-agent: *\nCrawl-delay: 20\n"), robots.Token), time.Now().Add(time.Hour))
	for name, c := range map[string]struct {
		kind  requestKind
		state site.State
		paths []string
		more  uint64
		want  time.Duration
	}{
		"the last URL":     {pageRequest, known(), []string{"/a"}, 0, -1},
		"one more":         {pageRequest, known(), []string{"/a", "/b"}, 0, 4 * time.Second},
		"more elsewhere":   {pageRequest, known(), []string{"/a"}, 3, 4 * time.Second},
		"robots.txt":       {robotsRequest, known(), []string{"/a"}, 0, 4 * time.Second},
		"with Crawl-delay": {pageRequest, slowed, []string{"/a"}, 3, 20 * time.Second},
	} {
		k, v := new(current), visitOf(c.state, c.paths...)
		v.Visit.More = c.more
		k.begin(v, true)
		k.beginItem(0)
		if k.kind = c.kind; g.worker.exchange.untilNext(k) != c.want {
			t.Errorf("%s: %v, want %v", name, g.worker.exchange.untilNext(k), c.want)
		}
	}
}

// A new site is asked for robots.txt first. The next Visit fetches a page.
func TestWorker_robotsThenPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, map[string]string{"/robots.txt": notFound, "/page": okHTML})
		r := g.visit(t, visitOf(site.State{}, "/page"))
		if got := pathsOf(r.Release.Unused); !slices.Equal(got, []string{"/page"}) || r.Visit.Site.Rules == nil {
			t.Fatalf("after robots.txt: items %q, rules %v", got, r.Visit.Site.Rules)
		}
		if due := r.Release.SiteDue; due.Before(time.Now().Add(3 * time.Second)) {
			t.Errorf("the site is due in %v, before the host delay", time.Until(due))
		}
		r = g.visit(t, visitOf(r.Visit.Site, "/page"))
		if len(r.Release.Unused)+len(r.Release.Front) != 0 || r.Visit.Site.Stored != 1 {
			t.Errorf("after the page: %d stored, items %q", r.Visit.Site.Stored, pathsOf(r.Release.Unused))
		}
		if want := []string{"/robots.txt", "/page"}; !slices.Equal(g.server.asked, want) {
			t.Errorf("requests %q, want %q", g.server.asked, want)
		}
	})
}

// A Visit makes one exchange. Items without a request do not end it.
func TestWorker_refusesUntilOneIsFetched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, map[string]string{"/c": okHTML})
		s := known()
		s.SetRules(robots.Parse([]byte("User-agent: *\nDisallow: /a\nDisallow: /b\n"), robots.Token),
			time.Now().Add(site.RobotsLifetime))
		r := g.visit(t, visitOf(s, "/a", "/b", "/c", "/d"))
		left := pathsOf(r.Release.Unused)
		if !slices.Equal(left, []string{"/d"}) || !slices.Equal(g.server.asked, []string{"/c"}) {
			t.Errorf("requests %q, items left %q", g.server.asked, left)
		}
		if n := g.crawl.Records.Store.Count.Finished.Load(); n != 2 {
			t.Errorf("%d URLs have an outcome, want the two that robots.txt disallows", n)
		}
	})
}

// A failure of a known site lets three other URLs pass. Retry-After sets the due time.
func TestWorker_retryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, map[string]string{"/a": busyFor1m})
		r := g.visit(t, visitOf(known(), "/a", "/b", "/c", "/d", "/e"))
		if got := pathsOf(r.Release.Front); !slices.Equal(got, []string{"/b", "/c", "/d", "/a"}) {
			t.Errorf("the next items are %q", got)
		}
		if wait := time.Until(r.Release.SiteDue); wait < 60*time.Second || wait > 90*time.Second {
			t.Errorf("the site is due in %v, want about Retry-After", wait)
		}
		if r.RequeueLast {
			t.Error("the first failure is the URL's own, and its item went behind all others")
		}
	})
}

// The policy alone limits Retry-After: where it takes three days, two days are kept.
func TestWorker_retryAfterOfTwoDays(t *testing.T) {
	const day = 24 * time.Hour
	for limit, want := range map[time.Duration]time.Duration{3 * day: 2 * day, day: day} {
		synctest.Test(t, func(t *testing.T) {
			g := newRig(t, map[string]string{"/a": strings.Replace(busyFor1m, "60", "172800", 1)})
			g.crawl.Settings.Live.ChangePolicy(func(p *politeness.Policy) { p.RetryAfterMax = limit })
			r := g.visit(t, visitOf(known(), "/a"))
			if wait := time.Until(r.Release.SiteDue); wait < want || wait > want+want/4 {
				t.Errorf("at most %v: the site is due in %v", limit, wait)
			}
		})
	}
}

// A robots.txt that redirects to another site: the redirect becomes an item there, and the site is parked.
func TestWorker_robotsRedirect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, map[string]string{
			"/robots.txt": "HTTP/1.1 301 Moved\r\nLocation: http://b.test/rules\r\nContent-Length: 0\r\n\r\n",
		})
		r := g.visit(t, visitOf(site.State{}, "/page"))
		if to := r.RobotsRedirect; to == nil || string(to.Site) != "http://b.test" || !r.Release.Park {
			t.Fatalf("redirect %+v, parked %v", to, r.Release.Park)
		}
		it := queued.MustDecode(r.RobotsRedirect.Item)
		if string(it.Rest) != "/rules" || string(it.RobotsOf) != "http://a.test" || it.Redirects != 1 {
			t.Errorf("the item of the redirect is %+v", it)
		}
	})
}

// When the crawl stops, a Visit returns with all its items and no request is made.
func TestWorker_stopping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, nil)
		close(g.stop)
		r := g.visit(t, visitOf(known(), "/a", "/b"))
		if got := pathsOf(r.Release.Unused); !slices.Equal(got, []string{"/a", "/b"}) || len(g.server.asked) != 0 {
			t.Errorf("requests %q, items left %q", g.server.asked, got)
		}
	})
}

// A worker is made with its first Visit, whose capture also says for how long the address was left alone in this run.
func TestWork_aWorkerThatIsNeededLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, map[string]string{"/page": okHTML})
		todo := handoff.New[visit.Result](1)
		g.crawl.Queues.Todo, g.crawl.Options.Began = todo, time.Now()
		over := make(chan error)
		go func() { over <- Work(t.Context(), g.crawl, 0) }()
		time.Sleep(time.Hour)
		v := visitOf(known(), "/page")
		v.Visit.IPDue = time.Now().Add(-time.Minute)
		todo.Put([]*visit.Result{v})
		p := <-g.pages
		want := g.crawl.Settings.Live.Policy().IPDelay + time.Minute
		if idle := attempt.Of(p).Delays.IPIdle; idle < want || idle > want+time.Second {
			t.Errorf("the address was left alone for %v, want %v", idle, want)
		}
		todo.Close()
		if err := <-over; err != nil || g.crawl.Queues.Results.TryTake() != v {
			t.Errorf("error %v; or the Visit did not return", err)
		}
		g.crawl.Queues.Pool.Put(p)
	})
}

// An exchange that is cancelled does not count: its item comes next, and site and address rest.
func TestWorker_cancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, nil)
		ctx, cancel := context.WithCancel(t.Context())
		g.worker.exchange.fetcher = fetch.NewFetcher(g.crawl.Options.Fetch, hangingDialer{}, g.crawl.Queues.Pool)
		time.AfterFunc(time.Second, cancel)
		if err := g.worker.visit(ctx, visitOf(known(), "/a", "/b")); err != nil {
			t.Fatal(err)
		}
		r := g.crawl.Queues.Results.TryTake()
		if got := pathsOf(r.Release.Front); !slices.Equal(got, []string{"/a"}) {
			t.Fatalf("the Visit returned with the next item %q", got)
		}
		if wait := time.Until(r.Release.IPDue); wait < cancelledWait || r.Visit.Site.FailureStreak().Count != 0 {
			t.Errorf("the address is due in %v, failures %+v", wait, r.Visit.Site.FailureStreak())
		}
	})
}

// hangingDialer connects to nothing until ctx ends.
type hangingDialer struct{}

// DialContext implements fetch.Dialer.
func (hangingDialer) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// The head of a wall has come when the exchange is cancelled. It does not count either: its body may be worth more than
// a part of it, and this agent may not be the one to store it.
func TestWorker_cancelledWithinAWall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, nil)
		ctx, cancel := context.WithCancel(t.Context())
		slow := slowDialer("HTTP/1.1 403 No\r\nCF-Mitigated: challenge\r\nContent-Length: 9\r\n\r\npart")
		g.worker.exchange.fetcher = fetch.NewFetcher(g.crawl.Options.Fetch, slow, g.crawl.Queues.Pool)
		time.AfterFunc(time.Second, cancel)
		if err := g.worker.visit(ctx, visitOf(known(), "/a")); err != nil {
			t.Fatal(err)
		}
		r := g.crawl.Queues.Results.TryTake()
		if got := pathsOf(r.Release.Front); !slices.Equal(got, []string{"/a"}) || len(g.pages) != 0 ||
			r.Visit.Site.FailureStreak().Count != 0 {
			t.Errorf("the Visit returned: next item %q, %d pages, %+v", got, len(g.pages), r.Visit.Site.FailureStreak())
		}
	})
}

// slowDialer answers with a part of a response, and never with the rest.
type slowDialer string

// DialContext implements fetch.Dialer.
func (d slowDialer) DialContext(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	go func() {
		defer there.Close()
		if _, err := http.ReadRequest(bufio.NewReader(there)); err == nil {
			_, _ = io.WriteString(there, string(d))
			_, _ = io.Copy(io.Discard, there) // until the client closes it
		}
	}()
	return here, nil
}

// A blocked site dies without a request.
func TestWorker_blocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, nil)
		s := known()
		s.Blocked = true
		r := g.visit(t, visitOf(s, "/a"))
		if !r.Release.Kill || r.Visit.Site.DeadOutcome != outcome.Blocked || !r.Release.SiteDue.IsZero() {
			t.Errorf("release %+v, outcome %v", r.Release, r.Visit.Site.DeadOutcome)
		}
	})
}

// A robots.txt that is not known whole allows nothing and is asked for again. The site keeps what was seen, and the log
// says it, too.
func TestWorker_robotsThatIsNotKnown(t *testing.T) {
	for answer, want := range map[string]robots.Fault{
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nUser-agent: *\nAllow: /\n": robots.FaultChunks,
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nUser-agent: *\n":                    robots.FaultSurplus,
		"HTTP/1.1 304 Not Modified\r\n\r\n":                                              robots.FaultStatus,
		"HTTP/1.1 302 Found\r\nLocation: ftp://a.test/\r\nContent-Length: 0\r\n\r\n":     robots.FaultRedirect,
		"User-agent: *\nAllow: /\n":                                                      robots.FaultHead,
	} {
		synctest.Test(t, func(t *testing.T) {
			g := newRig(t, map[string]string{"/robots.txt": answer, "/page": okHTML})
			var said []any
			g.crawl.Clamps.Warn = func(_ string, args ...any) { said = args }
			r := g.visit(t, visitOf(site.State{}, "/page"))
			s := r.Visit.Site
			if got := s.FailureStreak().RobotsFault; got != want || s.Rules != nil || !s.DenyAll || s.HasAnswered {
				t.Errorf("%.60q: %q, rules %v, answered %v; want %q", answer, got, s.Rules, s.HasAnswered, want)
			}
			if !slices.Contains(said, any(want.Seen())) {
				t.Errorf("%.60q: the log says %q", answer, said)
			}
			g.server.responses["/robots.txt"] = notFound
			if r = g.visit(t, visitOf(s, "/page")); r.Visit.Site.FailureStreak().RobotsFault != robots.NoFault {
				t.Errorf("%.60q: it is known now, and the fault is still there", answer)
			}
			if want := []string{"/robots.txt", "/robots.txt"}; !slices.Equal(g.server.asked, want) {
				t.Errorf("%.60q: requests %q", answer, g.server.asked)
			}
		})
	}
}
