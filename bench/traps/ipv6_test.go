package traps

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine"
	"orbweaver/engine/state/limits"
	"orbweaver/internal/simnet"
	"orbweaver/internal/simweb"
	"orbweaver/internal/vfs"
)

// network is a guest: a machine with an IPv6 network of its own. Each name under trap.test has another address of it,
// and its web server answers nothing. Beside it is an honest site.
type network struct {
	mu       sync.Mutex
	open     int // requests to the machine that wait now,
	most     int // and at most so far
	targets  map[string]bool
	honest   int // pages of the honest site
	honestAt time.Time
}

const (
	networkHosts = 1024
	networkPages = 50
)

// Host implements simweb.Guest.
func (n *network) Host(name string) (address netip.Addr, ok bool) {
	var number int
	if _, err := fmt.Sscanf(name, "t%d.trap.test", &number); err == nil {
		return netip.MustParseAddr(fmt.Sprintf("2001:db8:bad:1::%x", number+1)), true
	}
	return netip.MustParseAddr("2001:db8:1::1"), name == "honest.test"
}

// Serve implements simweb.Guest.
func (n *network) Serve(conn net.Conn, r simweb.GuestRequest) simweb.GuestResult {
	if r.Authority == "honest.test" {
		return n.answer(conn, r.Path)
	}
	n.mu.Lock()
	n.targets[conn.LocalAddr().String()] = true
	n.open++
	n.most = max(n.most, n.open)
	n.mu.Unlock()
	_, _ = io.Copy(io.Discard, conn) // until the client has enough
	n.mu.Lock()
	n.open--
	n.mu.Unlock()
	return simweb.GuestResult{Cut: true}
}

// answer plays the honest site: its first page leads to all networkHosts and to its other pages.
func (n *network) answer(conn net.Conn, path string) simweb.GuestResult {
	reply := simweb.GuestReply{Status: 200, Type: "text/html", Body: []byte("<p>text")}
	switch path {
	case "/robots.txt":
		reply.Status = 404
	case "/":
		reply.Body = nil
		for i := range networkHosts {
			reply.Body = fmt.Appendf(reply.Body, "<a href=http://t%d.trap.test/>x</a>\n", i)
		}
		for i := range networkPages {
			reply.Body = fmt.Appendf(reply.Body, "<a href=/p%d>x</a>\n", i)
		}
	default:
		n.mu.Lock()
		if n.honest++; n.honest == networkPages {
			n.honestAt = time.Now()
		}
		n.mu.Unlock()
	}
	return reply.Send(conn)
}

func crawlNetwork(t *testing.T, network *simnet.Net, fsys vfs.FS, prefix int, stop time.Duration) {
	t.Helper()
	cfg := config([]string{"http://honest.test/"})
	cfg.Limits.IPv6Prefix, cfg.Limits.MaxTime, cfg.Intervals.Checkpoint = prefix, limits.For(stop), 10*time.Second
	e, err := engine.Open(cfg, seams(t, network, fsys))
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// 1,024 networkHosts with an address each in one /64 held all 16 fetchers, and the honest site came to a stop. By
// network they hold one; by address they hold the share of slow hosts. A connection goes to the very address of a name,
// before a resume and after it.
func TestANetworkOfTarpitsHoldsOneFetcher(t *testing.T) {
	for _, prefix := range []int{0, 48, 128} { // 0 for the default
		synctest.Test(t, func(t *testing.T) {
			n := &network{targets: map[string]bool{}}
			fsys, began := vfs.NewMem(1), time.Now()
			network := newNet(t, n)
			crawlNetwork(t, network, fsys, prefix, 5*time.Minute)
			crawlNetwork(t, network, fsys, prefix, 10*time.Minute)
			t.Logf("prefix %d: %d connections at once to %d addresses, the honest site is complete after %v", prefix,
				n.most, len(n.targets), n.honestAt.Sub(began))
			switch late := n.honestAt.Sub(began); {
			case prefix == 128:
				if n.most < 8 || n.honest != networkPages || late > time.Minute {
					t.Errorf("prefix 128: %d connections at once, want the share of slow hosts; %d of %d honest pages after %v",
						n.most, n.honest, networkPages, late)
				}
			case n.most != 1 || n.honest != networkPages || late > time.Minute:
				t.Errorf("prefix %d: %d connections at once to one network, want 1; %d of %d honest pages after %v",
					prefix, n.most, n.honest, networkPages, late)
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
