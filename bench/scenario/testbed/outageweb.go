package testbed

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"orbweaver/dnsres"
	"orbweaver/engine"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/engine/traps"
	"orbweaver/internal/simweb"
	"orbweaver/internal/vfs"
)

// Lasting is a condition of some sites from a time on.
func Lasting(c Condition, from time.Duration, sites ...int) func(int, time.Duration) Condition {
	return func(site int, since time.Duration) Condition {
		if since >= from && (len(sites) == 0 || slices.Contains(sites, site)) {
			return c
		}
		return Condition{}
	}
}

// Condition is how a site of an OutageWeb behaves.
type Condition struct {
	Refused   bool   // connections are refused
	BlackHole bool   // connecting never ends
	Reset     bool   // connections end before a response
	Silent    bool   // connections are made, and get no response
	Status    int    // of all responses; 0 for ordinary ones
	Head      string // header lines of such responses
	Body      string // of such responses
	RobotsUp  bool   // robots.txt has its ordinary response
	Name      error  // of the resolver; nil if the name resolves
}

// OutageWeb is a number of sites, each with its own address. A test sets their condition as a function of time. The
// first page of a site links to all its other pages.
type OutageWeb struct {
	Sites, Pages int
	First        string // path of the first page; the root page for ""
	Condition    func(site int, since time.Duration) Condition
	Broken       func(page int) bool   // pages that always fail; nil for none
	BrokenBy     Condition             // how these behave; the zero value means status 500
	Elsewhere    func(page int) string // link of each page of site 0; nil for none
	Began        time.Time

	mu     sync.Mutex
	Served map[string]int // complete pages by URL
	Tried  int            // connections
	Open   sync.WaitGroup
}

// OutageHost is the host of the site with this number.
func OutageHost(site int) string { return fmt.Sprintf("s%04d.test", site) }

func outageAddr(site int) netip.Addr {
	return netip.AddrFrom4([4]byte{198, 18, byte(site >> 8), byte(site)})
}

func (o *OutageWeb) now(site int) Condition { return o.Condition(site, time.Since(o.Began)) }

// Resolve implements engine.Resolver.
func (o *OutageWeb) Resolve(_ context.Context, name string) dnsres.Answer {
	var site int
	if _, err := fmt.Sscanf(name, "s%d.test", &site); err != nil || site >= o.Sites {
		return dnsres.Answer{Err: dnsres.ErrNotFound, Expires: time.Now().Add(time.Minute)}
	}
	if err := o.now(site).Name; err != nil {
		return dnsres.Answer{Err: err, Expires: time.Now().Add(10 * time.Second)}
	}
	return dnsres.Answer{Addrs: []netip.Addr{outageAddr(site)}, Expires: time.Now().Add(5 * time.Minute)}
}

// DialContext implements engine.Dialer.
func (o *OutageWeb) DialContext(ctx context.Context, _, addr string) (net.Conn, error) {
	to := netip.MustParseAddrPort(addr)
	b := to.Addr().As4()
	c := o.now(int(b[2])<<8 | int(b[3]))
	o.mu.Lock()
	o.Tried++
	o.mu.Unlock()
	switch {
	case c.BlackHole:
		<-ctx.Done()
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: ctx.Err()}
	case c.Refused:
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	}
	client, server := net.Pipe()
	o.Open.Go(func() {
		defer server.Close() //nolint:errcheck // the client may be gone
		o.serve(server, c)
	})
	return client, nil
}

func (o *OutageWeb) isBroken(path string) bool {
	page, err := strconv.Atoi(path[1:])
	return err == nil && o.Broken != nil && o.Broken(page)
}

func (o *OutageWeb) serve(conn net.Conn, c Condition) {
	r, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil || c.Reset {
		return
	}
	if c.Silent {
		_, _ = io.Copy(io.Discard, conn) // until the client closes it
		return
	}
	robots := r.URL.Path == "/robots.txt"
	switch {
	case c.Status != 0 && !(robots && c.RobotsUp):
		Respond(conn, c.Status, c.Head, c.Body)
		return
	case robots:
		Respond(conn, 404, "", "")
		return
	case o.isBroken(r.URL.Path):
		if !o.BrokenBy.Reset {
			Respond(conn, cmp.Or(o.BrokenBy.Status, 500), o.BrokenBy.Head, o.BrokenBy.Body)
		}
		return
	default:
		body := "<p>" + r.Host + r.URL.Path
		if r.URL.Path == "/"+o.First {
			body = LinksPage(o.Pages - 1)
		}
		if page, err := strconv.Atoi(r.URL.Path[1:]); err == nil && o.Elsewhere != nil && r.Host == OutageHost(0) {
			body += "<a href=" + o.Elsewhere(page) + ">"
		}
		Respond(conn, 200, "", body)
	}
	o.mu.Lock()
	o.Served[r.Host+r.URL.Path]++
	o.mu.Unlock()
}

// Begin starts the clock of the web. It must be called in the synctest bubble.
func (o *OutageWeb) Begin() {
	o.Began, o.Served = time.Now(), map[string]int{}
}

// Config is a crawl of all sites from their roots, with default policy.
func (o *OutageWeb) Config(t *testing.T) (*Rig, engine.Config) {
	t.Helper()
	rig, err := NewRig(SmallWorld(1, simweb.Plain()), false)
	if err != nil {
		t.Fatal(err)
	}
	rig.Seeds = nil
	for i := range o.Sites {
		rig.Seeds = append(rig.Seeds, "http://"+OutageHost(i)+"/"+o.First)
	}
	cfg := rig.Config()
	// days of virtual time cost less this way
	cfg.Intervals.Sync, cfg.Intervals.Report, cfg.Intervals.Checkpoint = time.Second, time.Minute, time.Minute
	cfg.Traps.Novelty = traps.NoveltyOff // the pages resemble each other
	return rig, cfg
}

// Engine opens the crawl on a disk.
func (o *OutageWeb) Engine(t *testing.T, rig *Rig, cfg engine.Config, disk vfs.FS) *engine.Engine {
	t.Helper()
	seams := rig.Seams(disk)
	seams.Dialer, seams.Resolver = o, o
	seams.Allowed = func(netip.AddrPort) error { return nil }
	e, err := engine.Open(cfg, seams)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Crawl runs the crawl on a disk to its end, and checks conservation.
func (o *OutageWeb) Crawl(t *testing.T, rig *Rig, cfg engine.Config, disk vfs.FS) report.Report {
	t.Helper()
	e := o.Engine(t, rig, cfg, disk)
	if err := e.Run(t.Context()); err != nil {
		t.Error(err)
	}
	r := e.Report()
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	o.Open.Wait()
	CheckConservation(t, r)
	return r
}

// Complete fails the test unless the crawl is finished and every page was fetched once. The root page of a failing site
// may be fetched again, as a probe.
func (o *OutageWeb) Complete(t *testing.T, r report.Report) {
	t.Helper()
	if want := int64(o.Sites * o.Pages); r.State != lifecycle.Finished || r.Reason != "complete" || r.URLsQueued != 0 ||
		r.PagesStored+r.RevisitsStored != want {
		t.Errorf("%s: %s; queued %d, stored %d of %d, outcomes %v", r.State, r.Reason, r.URLsQueued,
			r.PagesStored+r.RevisitsStored, want, r.Outcomes)
	}
	for url, n := range o.Served {
		if n != 1 && (!strings.HasSuffix(url, "/") || o.Tried <= o.Sites*(o.Pages+1)) {
			t.Errorf("%s was fetched %d times", url, n)
		}
	}
}

// UntilEnd resumes the crawl an hour after each stall until it finishes, and returns the number of stalls. It checks
// that nothing is lost.
func (o *OutageWeb) UntilEnd(t *testing.T, rig *Rig, cfg engine.Config) (r report.Report, stalls int) {
	t.Helper()
	for r = o.Crawl(t, rig, cfg, rig.FS); r.State == lifecycle.Stalled; r = o.Crawl(t, rig, cfg, rig.FS) {
		if r.URLsQueued == 0 || r.Outcomes["given-up"] > 0 {
			t.Fatalf("stalled with %d queued: %v", r.URLsQueued, r.Outcomes)
		}
		if stalls++; stalls > 100 {
			t.Fatalf("it stalls for ever: %+v", r.FailingSites)
		}
		Wait(time.Hour)
	}
	return r, stalls
}
