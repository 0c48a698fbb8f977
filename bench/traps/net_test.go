package traps

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"orbweaver/dnsres"
	"orbweaver/engine"
	"orbweaver/engine/politeness"
	"orbweaver/internal/vfs"
)

// web is a case as a network in the process.
type web struct {
	c     Case
	tally *Tally
	mu    sync.Mutex // some cases remember
	gone  sync.WaitGroup
	asked map[string][]time.Time // by host: when its pages were asked for
}

func newWeb(c Case) *web { return &web{c: c, tally: NewTally(), asked: map[string][]time.Time{}} }

// Exchange implements dnsres.Exchanger.
func (w *web) Exchange(_ context.Context, q *dns.Msg, _ netip.AddrPort, _ bool) (*dns.Msg, error) {
	w.tally.Question()
	reply := new(dns.Msg)
	reply.SetReply(q)
	reply.RecursionAvailable = true
	name := q.Question[0].Name
	if q.Question[0].Qtype == dns.TypeA {
		hdr := dns.RR_Header{Name: name, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: 3600}
		reply.Answer = []dns.RR{&dns.A{A: w.c.Addr(strings.TrimSuffix(strings.ToLower(name), ".")).AsSlice(), Hdr: hdr}}
	}
	return reply, nil
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
	head := fmt.Sprintf("HTTP/1.1 %d X\r\nContent-Type: text/html\r\nContent-Length: %d\r\nConnection: close\r\n", a.Status, len(a.Body))
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

// crawl crawls a case in virtual time; call it inside a bubble.
func (w *web) crawl(t testing.TB, change func(*engine.Config)) engine.Report {
	t.Helper()
	cfg := engine.Config{
		Dir: "crawl", Seeds: seedList(w.c.Seeds), MaxDepth: -1, Fetchers: 16, Parsers: 1, Resolves: 4, WorkbenchMemory: 1 << 20,
		CacheMemory: 1 << 20, SieveMemory: 1 << 20, SeenMemory: 1 << 20, Version: "test", Checkpoint: time.Hour, ReportEvery: time.Hour,
		SyncEvery: time.Minute,
	}
	cfg.Politeness = politeness.Default()
	cfg.Politeness.HostDelay, cfg.Politeness.IPDelay = 100*time.Millisecond, 50*time.Millisecond
	cfg.Fetch.UserAgent = "orbweaver/test (+https://example.org/bot)"
	change(&cfg)
	fsys := vfs.NewMem(1)
	var said strings.Builder
	res, err := dnsres.New(dnsres.Options{Upstreams: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:53")}}, w)
	if err != nil {
		t.Fatal(err)
	}
	seams := engine.Seams{FS: fsys, Dialer: w, Resolver: res, Log: slog.New(slog.NewTextHandler(&said, nil)),
		Allowed: func(netip.AddrPort) error { return nil }}
	e, err := engine.Open(cfg, seams)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Run(t.Context()); err != nil {
		t.Fatal(err, said.String())
	}
	r := e.Report()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	w.gone.Wait()
	return r
}

type seedList []string

// Each implements engine.SeedSource.
func (s seedList) Each(f func(where string, url []byte) error) error {
	for i, u := range s {
		if err := f(fmt.Sprintf("seed %d", i+1), []byte(u)); err != nil {
			return err
		}
	}
	return nil
}
