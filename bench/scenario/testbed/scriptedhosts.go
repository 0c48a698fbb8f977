package testbed

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"orbweaver/dnsres"
	"orbweaver/engine"
	"orbweaver/engine/net/fetch"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/engine/workers/parsers"
	"orbweaver/internal/simweb"
)

// FirstHost is the host that most tests script.
const FirstHost = "one.test"

// ScriptedHosts are hosts whose responses a test writes itself. A Responder gets the path and the number of the request
// for it, from 0, and writes to the connection, which is closed after that. Each host has its own address, except hosts
// in SharedAddress.
type ScriptedHosts struct {
	Hosts         map[string]Responder
	SharedAddress map[string]string                      // a host, and the host whose address it has
	Seeds         []string                               // hosts whose roots are the seeds; nil for all
	Via           func(direct fetch.Dialer) fetch.Dialer // makes the dialer of the crawl; nil for a direct one
	Watch         func(e *engine.Engine)                 // is called ten times a second; nil for never
	OnPage        func(p *parsers.SeenPage)              // is called for each page; nil for never

	mu       sync.Mutex
	Requests []Request
	Counts   map[string]int
	Done     sync.WaitGroup
}

// Responder writes the response to request n for a path, from 0.
type Responder func(path string, n int, c net.Conn)

// Request is one request as the hosts saw it.
type Request struct {
	Host, Path string
	At, End    time.Time
	Agent      string // that sent it, if there are several
}

// Respond writes an ordinary response.
func Respond(c net.Conn, status int, head, body string) {
	fmt.Fprintf(c, "HTTP/1.1 %d %s\r\nContent-Type: text/html\r\nContent-Length: %d\r\n%s\r\n%s", status,
		http.StatusText(status), len(body), head, body)
}

// LinksPage is a page with links to so many pages.
func LinksPage(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<a href=/%d>%d</a>\n", i, i)
	}
	return b.String()
}

// HostWithRobots is a host with plain pages, whose root links to all of them. robots responds to robots.txt.
func HostWithRobots(pages int, robots func(n int, c net.Conn)) Responder {
	return func(path string, n int, c net.Conn) {
		switch path {
		case "/robots.txt":
			robots(n, c)
		case "/":
			Respond(c, 200, "", LinksPage(pages))
		default:
			Respond(c, 200, "", "<p>"+path)
		}
	}
}

// AlwaysRespond sends the same response each time.
func AlwaysRespond(status int, head, body string) func(int, net.Conn) {
	return func(_ int, c net.Conn) { Respond(c, status, head, body) }
}

// DialContext connects to the host that the first request names.
func (s *ScriptedHosts) DialContext(context.Context, string, string) (net.Conn, error) {
	return s.dial("")
}

// AgentView is the dialer of one agent.
type AgentView struct {
	*ScriptedHosts
	Agent string
}

// DialContext is that of the hosts; the log of requests names the agent.
func (s AgentView) DialContext(context.Context, string, string) (net.Conn, error) {
	return s.dial(s.Agent)
}

func (s *ScriptedHosts) dial(by string) (net.Conn, error) {
	client, server := net.Pipe()
	s.Done.Add(1)
	go func() {
		defer s.Done.Done()
		defer server.Close() //nolint:errcheck // the client may be gone
		r, err := http.ReadRequest(bufio.NewReader(server))
		if err != nil {
			return
		}
		s.mu.Lock()
		key := r.Host + r.URL.Path
		n := s.Counts[key]
		s.Counts[key]++
		i := len(s.Requests)
		s.Requests = append(s.Requests, Request{Host: r.Host, Path: r.URL.Path, At: time.Now(), Agent: by})
		host := s.Hosts[r.Host]
		s.mu.Unlock()
		host(r.URL.Path, n, server)
		s.mu.Lock()
		s.Requests[i].End = time.Now()
		s.mu.Unlock()
	}()
	return client, nil
}

// Resolve implements engine.Resolver.
func (s *ScriptedHosts) Resolve(_ context.Context, name string) dnsres.Answer {
	if s.Hosts[name] == nil {
		return dnsres.Answer{Err: dnsres.ErrNotFound}
	}
	if other := s.SharedAddress[name]; other != "" {
		name = other
	}
	return dnsres.Hashed{}.Resolve(context.Background(), name) //nolint:forbidigo // it only computes
}

// All are all requests so far.
func (s *ScriptedHosts) All() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.Requests)
}

// Pages are the requests for pages of a host, without robots.txt.
func (s *ScriptedHosts) Pages(host string) (all []Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.Requests {
		if a.Host == host && a.Path != "/robots.txt" {
			all = append(all, a)
		}
	}
	return all
}

// Files are the requests for a host's robots.txt.
func (s *ScriptedHosts) Files(host string) (all []Request) {
	for _, a := range s.Requests {
		if a.Host == host && a.Path == "/robots.txt" {
			all = append(all, a)
		}
	}
	return all
}

// watch calls Watch until the function that it returns is called.
func (s *ScriptedHosts) watch(e *engine.Engine) (end func()) {
	if s.Watch == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() {
		each := time.NewTicker(100 * time.Millisecond)
		defer each.Stop()
		for {
			select {
			case <-each.C:
				s.Watch(e)
			case <-ctx.Done():
				return
			}
		}
	})
	return func() { cancel(); done.Wait() }
}

// Crawl crawls the hosts from the roots of the seeds to the end, inside a synctest bubble. It also returns the log.
func (s *ScriptedHosts) Crawl(t *testing.T, change func(*engine.Config)) (r report.Report, said string) {
	t.Helper()
	rig, err := NewRig(SmallWorld(1, simweb.Plain()), false)
	if err != nil {
		t.Fatal(err)
	}
	s.Counts = map[string]int{}
	rig.Seeds = nil
	if s.Seeds == nil {
		s.Seeds = slices.Collect(maps.Keys(s.Hosts))
	}
	for _, host := range s.Seeds {
		rig.Seeds = append(rig.Seeds, "http://"+host+"/")
	}
	cfg := rig.Config()
	cfg.Limits.StallWait = 3 * time.Hour
	// hours of virtual time cost less this way
	cfg.Intervals.Sync, cfg.Intervals.Report, cfg.Intervals.Checkpoint = time.Second, time.Minute, 5*time.Minute
	change(&cfg)
	seams := rig.Seams(rig.FS)
	seams.Dialer, seams.Resolver, seams.OnPage = s, s, s.OnPage
	if s.Via != nil {
		seams.Dialer = s.Via(s)
	}
	seams.Allowed = func(netip.AddrPort) error { return nil }
	e, err := engine.Open(cfg, seams)
	if err != nil {
		t.Fatal(err)
	}
	endless := time.AfterFunc(10*24*time.Hour, func() {
		r := e.Report()
		t.Errorf("after ten days it waits for %s: %+v", r.Waiting, r)
		e.Operator().Stop()
	})
	defer endless.Stop()
	endWatch := s.watch(e)
	if err := e.Run(t.Context()); err != nil {
		t.Error(err)
	}
	endWatch()
	r = e.Report()
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	s.Done.Wait()
	CheckConservation(t, r)
	want := lifecycle.Finished
	if r.Outcomes["robots-unreachable"] == r.URLsAdmitted { // no seed could be fetched
		want = lifecycle.Failed
	}
	if r.State != want {
		t.Errorf("%s: %s", r.State, r.Reason)
	}
	return r, rig.EngineLog.String()
}
