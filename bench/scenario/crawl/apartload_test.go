package crawl

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/net/fetch"
	"orbweaver/engine/operate/report"
)

// brokenWays lets connections to some hosts fail, each in the way of its host. It is a dialer.
type brokenWays struct {
	direct fetch.Dialer
	mu     sync.Mutex
	ways   map[netip.Addr]func(ctx context.Context, n int) error // n: number of the connection, from 0
	counts map[netip.Addr]int
}

// DialContext fails if the way of the host does.
func (b *brokenWays) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	ip := netip.MustParseAddrPort(addr).Addr()
	b.mu.Lock()
	way, n := b.ways[ip], b.counts[ip]
	b.counts[ip]++
	b.mu.Unlock()
	if way != nil {
		if err := way(ctx, n); err != nil {
			return nil, err
		}
	}
	return b.direct.DialContext(ctx, network, addr) //nolint:wrapcheck // it is the dialer
}

// afterFirst makes connections fail after the first of each three.
func afterFirst(fail func(ctx context.Context) error) func(ctx context.Context, n int) error {
	return func(ctx context.Context, n int) error {
		if n%3 == 0 {
			return nil
		}
		return fail(ctx)
	}
}

func refuse(context.Context) error { return syscall.ECONNREFUSED }

func drop(ctx context.Context) error {
	<-ctx.Done()
	return context.DeadlineExceeded
}

// crawlBeside crawls the honest host beside 100 others with 32 fetch workers. Connections to each of the others take
// way first, unless it is nil.
func crawlBeside(t *testing.T, other testbed.Responder, way func(ctx context.Context, n int) error) (
	*testbed.ScriptedHosts, report.Report,
) {
	t.Helper()
	s := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{testbed.FirstHost: honestHost(nil)}}
	b := &brokenWays{ways: map[netip.Addr]func(context.Context, int) error{}, counts: map[netip.Addr]int{}}
	for i := range 100 {
		host := fmt.Sprintf("evil%d.test", i)
		s.Hosts[host] = other
		b.ways[s.Resolve(t.Context(), host).Addrs[0]] = way
	}
	s.Via = func(direct fetch.Dialer) fetch.Dialer {
		b.direct = direct
		return b
	}
	r, _ := s.Crawl(t, func(c *engine.Config) { c.Limits.GiveUp = 2 * time.Hour })
	return s, r
}

// Many hosts fail at once, each of them after it has answered a request. Whatever the crawl makes of that, the honest
// host has its turns: also if it looks as if the network were down or overloaded, and fewer fetch workers are active.
func TestHostile_X06_manyHostsThatFailTakeNoTurns(t *testing.T) {
	plain := testbed.HostWithRobots(10, testbed.AlwaysRespond(404, "", ""))
	for name, c := range testbed.SampleMap(map[string]struct {
		respond testbed.Responder
		way     func(ctx context.Context, n int) error
	}{
		"refuse": {plain, afterFirst(refuse)},
		"drop":   {plain, afterFirst(drop)},
		"reset":  {hostOf(func(int, net.Conn) {}), nil},
		"503":    {hostOf(testbed.AlwaysRespond(503, "", "")), nil},
		"429":    {hostOf(testbed.AlwaysRespond(429, "Retry-After: 60\r\n", "")), nil},
	}) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, r := crawlBeside(t, c.respond, c.way)
				wantTurns(t, s, r, 1)
			})
		})
	}
}

// trickle sends a page that never ends, a byte each second.
func trickle(_ int, c net.Conn) {
	fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
	for range 3600 {
		if _, err := c.Write([]byte{'x'}); err != nil {
			return
		}
		<-time.After(time.Second)
	}
}

// There are three times as many tarpits as fetch workers. They get a share of these, and no more.
func TestHostile_X07_tarpitsGetAShareOfTheWorkers(t *testing.T) {
	silent := func(int, net.Conn) { <-time.After(10 * time.Minute) }
	for name, respond := range testbed.SampleMap(map[string]testbed.Responder{
		"no head":       hostOf(silent),
		"no robots.txt": func(_ string, n int, c net.Conn) { silent(n, c) },
		"endless pages": hostOf(trickle),
		"all endless":   func(_ string, n int, c net.Conn) { trickle(n, c) },
	}) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, r := crawlBeside(t, respond, nil)
				wantTurns(t, s, r, 1)
			})
		})
	}
}
