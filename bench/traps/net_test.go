package traps

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"orbweaver/dnsres"
	"orbweaver/dnsres/dnstest"
	"orbweaver/engine"
	"orbweaver/internal/vfs"
)

// web is a case as a network in the process.
type web struct {
	c     Case
	names dnstest.Server
	tally *Tally
	mu    sync.Mutex // some cases remember
	gone  sync.WaitGroup
	asked map[string][]time.Time // by host: when its pages were asked for
}

func newWeb(c Case) *web {
	w := &web{c: c, tally: NewTally(), asked: map[string][]time.Time{}}
	w.names.Lookup = func(name string) dnstest.Script {
		return dnstest.Script{Addrs: []netip.Addr{c.Addr(name)}, TTL: 3600}
	}
	return w
}

// Exchange implements dnsres.Exchanger.
func (w *web) Exchange(ctx context.Context, q *dns.Msg, upstream netip.AddrPort, tcp bool) (*dns.Msg, error) {
	w.tally.Question()
	return w.names.Exchange(ctx, q, upstream, tcp)
}

// DialContext implements fetch.Dialer.
func (w *web) DialContext(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	w.gone.Add(1)
	go w.serve(theirs)
	return ours, nil
}

func (w *web) serve(conn net.Conn) {
	defer w.gone.Done()
	defer conn.Close() //nolint:errcheck // the client may be gone
	req, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return
	}
	a := Answer{Status: 404}
	if req.URL.Path != "/robots.txt" {
		w.mu.Lock()
		w.asked[req.Host] = append(w.asked[req.Host], time.Now())
		a = w.c.Answer(req.Host, req.RequestURI)
		w.mu.Unlock()
		w.tally.Note(req.Host, req.RequestURI, &a)
	}
	if a.Status == 0 {
		a.Status = 200
	}
	head := fmt.Sprintf(
		"HTTP/1.1 %d X\r\nContent-Type: text/html\r\nContent-Length: %d\r\nConnection: close\r\n",
		a.Status,
		len(a.Body),
	)
	if a.Location != "" {
		head += "Location: " + a.Location + "\r\n"
	}
	if _, err := conn.Write([]byte(head + "\r\n")); err != nil {
		return
	}
	if a.Slow > 0 {
		<-time.After(a.Slow)
	}
	_, _ = conn.Write(a.Body)
}

const hostDelay = 100 * time.Millisecond

func config(seeds []string) engine.Config {
	cfg := engine.Simulation()
	cfg.Seeds = seedList(seeds)
	cfg.Intervals = engine.Intervals{Checkpoint: time.Hour, Report: time.Hour, Sync: time.Minute}
	cfg.Politeness.HostDelay, cfg.Politeness.IPDelay = hostDelay, hostDelay/2
	return cfg
}

// open opens a crawl of the web; what it says goes to said.
func (w *web) open(t testing.TB, cfg engine.Config, fsys vfs.FS) *engine.Engine {
	t.Helper()
	res, err := dnsres.New(dnsres.Options{Upstreams: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:53")}}, w)
	if err != nil {
		t.Fatal(err)
	}
	seams := engine.Seams{
		FS: fsys, Dialer: w, Resolver: res, Log: slog.New(slog.DiscardHandler), Allowed: func(netip.AddrPort) error { return nil },
	}
	e, err := engine.Open(cfg, seams)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// crawl crawls a case in virtual time; call it inside a bubble.
func (w *web) crawl(t testing.TB, change func(*engine.Config)) engine.Report {
	t.Helper()
	cfg := config(w.c.Seeds)
	change(&cfg)
	e := w.open(t, cfg, vfs.NewMem(1))
	if err := e.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := e.Report()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	w.gone.Wait()
	return r
}

// crawlKilled is crawl with a kill after so long, and a second run from what was on disk then. The first run ends
// unheard.
func (w *web) crawlKilled(t testing.TB, after time.Duration, change func(*engine.Config)) {
	t.Helper()
	cfg := config(w.c.Seeds)
	change(&cfg)
	killed := w.runUntilKilled(t, cfg, vfs.NewMem(1), after)
	e := w.open(t, cfg, killed)
	if err := errors.Join(e.Run(t.Context()), e.Close()); err != nil {
		t.Fatal(err)
	}
	w.gone.Wait()
}

// runUntilKilled runs a crawl for a while, and returns its disk as a kill leaves it then.
func (w *web) runUntilKilled(t testing.TB, cfg engine.Config, disk *vfs.Mem, after time.Duration) *vfs.Mem {
	t.Helper()
	e := w.open(t, cfg, disk)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	<-time.After(after)
	killed, tally := disk.KillClone(), w.tally.clone()
	stop()
	if err := errors.Join(<-done, e.Close()); err != nil {
		t.Fatal(err)
	}
	w.gone.Wait()
	w.tally = tally
	return killed
}

type seedList []string

// Each implements admission.SeedSource.
func (s seedList) Each(f func(where string, url []byte) error) error {
	for i, u := range s {
		if err := f(fmt.Sprintf("seed %d", i+1), []byte(u)); err != nil {
			return err
		}
	}
	return nil
}
