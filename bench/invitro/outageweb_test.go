package invitro

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"orbweaver/bench/simweb"
	"orbweaver/dnsres"
	"orbweaver/engine"
	"orbweaver/internal/vfs"
)

// condition is how a site of an outageWeb behaves at a moment.
type condition struct {
	refused   bool   // connections are refused
	blackHole bool   // connecting never ends
	reset     bool   // connections end before an answer
	status    int    // of all answers, 0 for the ordinary ones
	head      string // header lines of such answers
	robotsUp  bool   // robots.txt is answered all the same
	name      error  // what the resolver says, nil if the name resolves
}

// outageWeb is a number of sites, each on an address of its own, whose condition a test sets by the time that has passed. The first page of a
// site links to all its other pages.
type outageWeb struct {
	sites, pages int
	first        string // path of the first page; the root page for ""
	condition    func(site int, since time.Duration) condition
	broken       func(page int) bool   // pages that never answer; nil for none
	brokenBy     condition             // how these behave; an answer 500 for the zero value
	elsewhere    func(page int) string // what each page of site 0 links to; nil for nothing
	began        time.Time

	mu     sync.Mutex
	served map[string]int // complete pages by URL
	tried  int            // connections
	open   sync.WaitGroup
}

func outageHost(site int) string { return fmt.Sprintf("s%04d.test", site) }

func outageAddr(site int) netip.Addr {
	return netip.AddrFrom4([4]byte{198, 18, byte(site >> 8), byte(site)})
}

func (o *outageWeb) now(site int) condition { return o.condition(site, time.Since(o.began)) }

// Resolve implements engine.Resolver.
func (o *outageWeb) Resolve(_ context.Context, name string) dnsres.Answer {
	var site int
	if _, err := fmt.Sscanf(name, "s%d.test", &site); err != nil || site >= o.sites {
		return dnsres.Answer{Err: dnsres.ErrNotFound, Expires: time.Now().Add(time.Minute)}
	}
	if err := o.now(site).name; err != nil {
		return dnsres.Answer{Err: err, Expires: time.Now().Add(10 * time.Second)}
	}
	return dnsres.Answer{Addrs: []netip.Addr{outageAddr(site)}, Expires: time.Now().Add(5 * time.Minute)}
}

// DialContext implements engine.Dialer.
func (o *outageWeb) DialContext(ctx context.Context, _, addr string) (net.Conn, error) {
	to := netip.MustParseAddrPort(addr)
	b := to.Addr().As4()
	c := o.now(int(b[2])<<8 | int(b[3]))
	o.mu.Lock()
	o.tried++
	o.mu.Unlock()
	switch {
	case c.blackHole:
		<-ctx.Done()
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: ctx.Err()}
	case c.refused:
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	}
	client, server := net.Pipe()
	o.open.Go(func() {
		defer server.Close() //nolint:errcheck // the client may be gone
		o.serve(server, c)
	})
	return client, nil
}

func (o *outageWeb) isBroken(path string) bool {
	page, err := strconv.Atoi(path[1:])
	return err == nil && o.broken != nil && o.broken(page)
}

func (o *outageWeb) serve(conn net.Conn, c condition) {
	r, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil || c.reset {
		return
	}
	robots := r.URL.Path == "/robots.txt"
	switch {
	case c.status != 0 && !(robots && c.robotsUp):
		reply(conn, c.status, c.head, "")
		return
	case robots:
		reply(conn, 404, "", "")
		return
	case o.isBroken(r.URL.Path):
		if !o.brokenBy.reset {
			reply(conn, cmp.Or(o.brokenBy.status, 500), o.brokenBy.head, "")
		}
		return
	default:
		body := "<p>" + r.Host + r.URL.Path
		if r.URL.Path == "/"+o.first {
			body = links(o.pages - 1)
		}
		if page, err := strconv.Atoi(r.URL.Path[1:]); err == nil && o.elsewhere != nil && r.Host == outageHost(0) {
			body += "<a href=" + o.elsewhere(page) + ">"
		}
		reply(conn, 200, "", body)
	}
	o.mu.Lock()
	o.served[r.Host+r.URL.Path]++
	o.mu.Unlock()
}

// begin makes the web ready: its clock starts now. It must be called in the bubble.
func (o *outageWeb) begin() {
	o.began, o.served = time.Now(), map[string]int{}
}

// config is a crawl of all sites from their roots, with default policy.
func (o *outageWeb) config(t *testing.T) (*Rig, engine.Config) {
	t.Helper()
	rig, err := NewRig(smallWorld(1, simweb.Plain()), false)
	if err != nil {
		t.Fatal(err)
	}
	rig.Seeds = nil
	for i := range o.sites {
		rig.Seeds = append(rig.Seeds, "http://"+outageHost(i)+"/"+o.first)
	}
	cfg := rig.Config()
	cfg.SyncEvery, cfg.ReportEvery, cfg.Checkpoint = time.Second, time.Minute, time.Minute // days of waiting are cheaper so
	cfg.NoveltyMemory = -1                                                                 // the pages resemble each other
	return rig, cfg
}

// engine opens the crawl on a disk.
func (o *outageWeb) engine(t *testing.T, rig *Rig, cfg engine.Config, disk vfs.FS) *engine.Engine {
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

// crawl runs the crawl on a disk until it ends, and gives the report, which balances.
func (o *outageWeb) crawl(t *testing.T, rig *Rig, cfg engine.Config, disk vfs.FS) engine.Report {
	t.Helper()
	e := o.engine(t, rig, cfg, disk)
	if err := e.Run(t.Context()); err != nil {
		t.Error(err)
	}
	r := e.Report()
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	o.open.Wait()
	checkBalance(t, r)
	return r
}

// complete fails the test unless the crawl is finished with every page of every site, each fetched once. The root page of a site that failed may be
// fetched again, as a proof.
func (o *outageWeb) complete(t *testing.T, r engine.Report) {
	t.Helper()
	if want := int64(o.sites * o.pages); r.State != engine.StateFinished || r.Reason != "complete" || r.URLsQueued != 0 || r.PagesStored+r.RevisitsStored != want {
		t.Errorf("%s: %s; queued %d, stored %d of %d, outcomes %v", r.State, r.Reason, r.URLsQueued, r.PagesStored+r.RevisitsStored, want, r.Outcomes)
	}
	for url, n := range o.served {
		if n != 1 && (!strings.HasSuffix(url, "/") || o.tried <= o.sites*(o.pages+1)) {
			t.Errorf("%s was fetched %d times", url, n)
		}
	}
}

// untilEnd runs the crawl again and again, an hour after each stall, until it does not stall, and says how often it did. It loses nothing meanwhile.
func (o *outageWeb) untilEnd(t *testing.T, rig *Rig, cfg engine.Config) (r engine.Report, stalls int) {
	t.Helper()
	for r = o.crawl(t, rig, cfg, rig.FS); r.State == engine.StateStalled; r = o.crawl(t, rig, cfg, rig.FS) {
		if r.URLsQueued == 0 || r.Outcomes["given-up"] > 0 {
			t.Fatalf("stalled with %d queued: %v", r.URLsQueued, r.Outcomes)
		}
		if stalls++; stalls > 100 {
			t.Fatalf("it stalls for ever: %+v", r.Trouble)
		}
		after(time.Hour)
	}
	return r, stalls
}

// between is a condition of some sites for a time.
func between(c condition, from, lasts time.Duration, sites ...int) func(int, time.Duration) condition {
	bad := lasting(c, from, sites...)
	return func(site int, since time.Duration) condition {
		if since >= from+lasts {
			return condition{}
		}
		return bad(site, since)
	}
}
