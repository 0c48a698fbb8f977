package invitro

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"orbweaver/bench/simweb"
	"orbweaver/dnsres"
	"orbweaver/engine"
)

// strangers are hosts that do as a test tells them: each answers the nth request for a path, n from 0, by writing to the connection,
// which is closed after that. All are on addresses of their own, but those that share one.
type strangers struct {
	hosts map[string]stranger
	share map[string]string // a host, and whose address it has

	mu     sync.Mutex
	asked  []asking
	counts map[string]int
	done   sync.WaitGroup
}

type stranger func(path string, n int, c net.Conn)

// asking is one request as the strangers saw it.
type asking struct {
	host, path string
	at, end    time.Time
	by         string // the agent, where there are several
}

// reply is a stranger's ordinary answer.
func reply(c net.Conn, status int, head, body string) {
	fmt.Fprintf(c, "HTTP/1.1 %d %s\r\nContent-Type: text/html\r\nContent-Length: %d\r\n%s\r\n%s", status, http.StatusText(status), len(body), head, body)
}

// links is a page with links to so many others.
func links(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<a href=/%d>%d</a>\n", i, i)
	}
	return b.String()
}

// withRobots is a host whose pages are plain, the root linking to so many others, and whose robots.txt is the stranger's own.
func withRobots(pages int, robots func(n int, c net.Conn)) stranger {
	return func(path string, n int, c net.Conn) {
		switch path {
		case "/robots.txt":
			robots(n, c)
		case "/":
			reply(c, 200, "", links(pages))
		default:
			reply(c, 200, "", "<p>"+path)
		}
	}
}

// always answers a robots.txt in one way.
func always(status int, head, body string) func(int, net.Conn) {
	return func(_ int, c net.Conn) { reply(c, status, head, body) }
}

func (s *strangers) DialContext(context.Context, string, string) (net.Conn, error) { return s.dial("") }

// seenBy is the strangers as one of several agents reaches them.
type seenBy struct {
	*strangers
	agent string
}

func (s seenBy) DialContext(context.Context, string, string) (net.Conn, error) {
	return s.dial(s.agent)
}

func (s *strangers) dial(by string) (net.Conn, error) {
	client, server := net.Pipe()
	s.done.Add(1)
	go func() {
		defer s.done.Done()
		defer server.Close()
		r, err := http.ReadRequest(bufio.NewReader(server))
		if err != nil {
			return
		}
		s.mu.Lock()
		key := r.Host + r.URL.Path
		n := s.counts[key]
		s.counts[key]++
		i := len(s.asked)
		s.asked = append(s.asked, asking{host: r.Host, path: r.URL.Path, at: time.Now(), by: by})
		host := s.hosts[r.Host]
		s.mu.Unlock()
		host(r.URL.Path, n, server)
		s.mu.Lock()
		s.asked[i].end = time.Now()
		s.mu.Unlock()
	}()
	return client, nil
}

// Resolve implements engine.Resolver.
func (s *strangers) Resolve(_ context.Context, name string) dnsres.Answer {
	if s.hosts[name] == nil {
		return dnsres.Answer{Err: dnsres.ErrNotFound}
	}
	if other := s.share[name]; other != "" {
		name = other
	}
	return dnsres.Hashed{}.Resolve(context.Background(), name) //nolint:forbidigo // it only computes
}

// pages are the requests for a host's pages, robots.txt is none.
func (s *strangers) pages(host string) (all []asking) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.asked {
		if a.host == host && a.path != "/robots.txt" {
			all = append(all, a)
		}
	}
	return all
}

// files are the requests for a host's robots.txt.
func (s *strangers) files(host string) (all []asking) {
	for _, a := range s.asked {
		if a.host == host && a.path == "/robots.txt" {
			all = append(all, a)
		}
	}
	return all
}

// crawl runs a crawl of strangers to its end, from the roots of all of them. It must run in a bubble. said is the log.
func (s *strangers) crawl(t *testing.T, change func(*engine.Config)) (r engine.Report, said string) {
	t.Helper()
	rig, err := NewRig(smallWorld(1, simweb.Plain()), false)
	if err != nil {
		t.Fatal(err)
	}
	s.counts = map[string]int{}
	rig.Seeds = nil
	for host := range s.hosts {
		rig.Seeds = append(rig.Seeds, "http://"+host+"/")
	}
	cfg := rig.Config()
	cfg.StallWait = 3 * time.Hour
	cfg.SyncEvery, cfg.ReportEvery, cfg.Checkpoint = time.Second, time.Minute, 5*time.Minute // hours of waiting are cheaper so
	change(&cfg)
	seams := rig.Seams(rig.FS)
	seams.Dialer, seams.Resolver = s, s
	seams.Allowed = func(netip.AddrPort) error { return nil }
	e, err := engine.Open(cfg, seams)
	if err != nil {
		t.Fatal(err)
	}
	endless := time.AfterFunc(10*24*time.Hour, func() {
		r := e.Report()
		t.Errorf("after ten days it waits for %s: %+v", r.Waiting, r)
		e.Stop()
	})
	defer endless.Stop()
	if err := e.Run(t.Context()); err != nil {
		t.Error(err)
	}
	r = e.Report()
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	s.done.Wait()
	checkBalance(t, r)
	want := engine.StateFinished
	if r.Outcomes["robots-unreachable"] == r.URLsAdmitted { // no seed could be fetched
		want = engine.StateFailed
	}
	if r.State != want {
		t.Errorf("%s: %s", r.State, r.Reason)
	}
	return r, rig.Said.String()
}
