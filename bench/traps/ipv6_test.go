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
	"testing/synctest"
	"time"

	"orbweaver/dnsres"
	"orbweaver/engine"
	"orbweaver/internal/vfs"
)

// network is a machine with an IPv6 network of its own, whose name server gives each name under trap.test another
// address of it and whose web server answers nothing, beside an honest site.
type network struct {
	mu       sync.Mutex
	gone     sync.WaitGroup
	open     int // connections to the machine now,
	most     int // and at most so far
	targets  map[string]bool
	honest   int // pages of the honest site
	honestAt time.Time
}

const (
	networkHosts = 1024
	networkPages = 50
)

// Resolve implements engine.Resolver.
func (n *network) Resolve(_ context.Context, name string) dnsres.Answer {
	addr := "2001:db8:1::1"
	var number int
	if _, err := fmt.Sscanf(name, "t%d.trap.test", &number); err == nil {
		addr = fmt.Sprintf("2001:db8:bad:1::%x", number+1)
	}
	return dnsres.Answer{Addrs: []netip.Addr{netip.MustParseAddr(addr)}, Expires: time.Now().Add(time.Hour)}
}

// DialContext implements fetch.Dialer.
func (n *network) DialContext(_ context.Context, _, addr string) (net.Conn, error) {
	trap := strings.HasPrefix(addr, "[2001:db8:bad:1::")
	n.mu.Lock()
	if trap {
		n.targets[addr] = true
		n.open++
		n.most = max(n.most, n.open)
	}
	n.mu.Unlock()
	ours, theirs := net.Pipe()
	n.gone.Add(1)
	go func() {
		defer n.gone.Done()
		defer theirs.Close() //nolint:errcheck // the client may be gone
		in := bufio.NewReader(theirs)
		req, err := http.ReadRequest(in)
		if err == nil && !trap {
			n.answer(theirs, req.URL.Path)
		}
		if trap {
			_, _ = in.ReadByte() // until the client has enough
			n.mu.Lock()
			n.open--
			n.mu.Unlock()
		}
	}()
	return ours, nil
}

// answer plays the honest site: its first page leads to all networkHosts and to its other pages.
func (n *network) answer(conn net.Conn, path string) {
	status, body := 200, "<p>text"
	switch path {
	case "/robots.txt":
		status = 404
	case "/":
		var b strings.Builder
		for i := range networkHosts {
			fmt.Fprintf(&b, "<a href=http://t%d.trap.test/>x</a>\n", i)
		}
		for i := range networkPages {
			fmt.Fprintf(&b, "<a href=/p%d>x</a>\n", i)
		}
		body = b.String()
	default:
		n.mu.Lock()
		if n.honest++; n.honest == networkPages {
			n.honestAt = time.Now()
		}
		n.mu.Unlock()
	}
	_, _ = fmt.Fprintf(
		conn,
		"HTTP/1.1 %d X\r\nContent-Type: text/html\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
		status,
		len(body),
		body,
	)
}

func (n *network) crawl(t testing.TB, fsys vfs.FS, prefix int, stop time.Duration) {
	t.Helper()
	cfg := config([]string{"http://honest.test/"})
	cfg.Limits.IPv6Prefix, cfg.Limits.MaxTime, cfg.Intervals.Checkpoint = prefix, stop, 10*time.Second
	e, err := engine.Open(cfg, engine.Seams{
		FS: fsys, Dialer: n, Resolver: n, Log: slog.New(slog.DiscardHandler), Allowed: func(netip.AddrPort) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	n.gone.Wait()
}

// 1,024 networkHosts with an address each in one /64 held all 16 fetchers, and the honest site came to a stop. By
// network they hold one. A connection goes to the very address of a name, before a resume and after it.
func TestANetworkOfTarpitsHoldsOneFetcher(t *testing.T) {
	for _, prefix := range []int{0, 48, 128} { // 0 for the default
		synctest.Test(t, func(t *testing.T) {
			n := &network{targets: map[string]bool{}}
			fsys, began := vfs.NewMem(1), time.Now()
			n.crawl(t, fsys, prefix, 5*time.Minute)
			n.crawl(t, fsys, prefix, 10*time.Minute)
			t.Logf(
				"prefix %d: %d connections at once to %d addresses, the honest site is complete after %v",
				prefix,
				n.most,
				len(n.targets),
				n.honestAt.Sub(began),
			)
			switch late := n.honestAt.Sub(began); {
			case prefix == 128:
				if n.most < 16 || n.honest == networkPages {
					t.Errorf(
						"prefix 128: %d connections at once and %d honest pages: the attack did not take place",
						n.most,
						n.honest,
					)
				}
			case n.most != 1 || n.honest != networkPages || late > time.Minute:
				t.Errorf(
					"prefix %d: %d connections at once to one network, want 1; %d of %d honest pages after %v",
					prefix,
					n.most,
					n.honest,
					networkPages,
					late,
				)
			}
			for addr := range n.targets {
				if strings.HasPrefix(addr, "[2001:db8:bad:1::]") {
					t.Errorf("a connection to the key of a network: %s", addr)
				}
			}
			if len(n.targets) < 5 {
				t.Errorf("only %d networkHosts were met", len(n.targets))
			}
		})
	}
}
