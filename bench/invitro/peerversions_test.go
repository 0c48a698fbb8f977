//go:build scenario

package invitro

import (
	"net/netip"
	"sync"
	"testing"
	"time"

	"orbweaver/bench/simweb"
	"orbweaver/engine"
	"orbweaver/engine/members"
	"orbweaver/engine/peering"
	"orbweaver/engine/post"
)

// build is which versions of the protocol a program speaks.
type build struct{ oldest, newest int }

// seats joins the agents of a band over sockets of loopback, in real time.
type seats struct {
	t      *testing.T
	builds map[string]build

	mu    sync.Mutex
	first string // where the first one hears who is there
	open  []*peering.Seat
}

// take is a band's alter: it gives an agent a seat.
func (s *seats) take(name string, c *engine.Config, seams *engine.Seams) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	free := netip.MustParseAddrPort("127.0.0.1:0")
	o := peering.Options{ID: name, Gossip: free, Post: free, Oldest: s.builds[name].oldest, Newest: s.builds[name].newest,
		Timings: members.Timings{}.Scaled(0.2), Log: seams.Log}
	if s.first == "" {
		o.Gossip = gossipAddr(s.t)
		s.first = o.Gossip.String()
	} else {
		o.Join = []string{s.first}
	}
	seat, err := peering.Open(s.t.Context(), o)
	if err != nil {
		s.t.Fatal(err)
	}
	s.open = append(s.open, seat)
	seams.Peering = seat
	c.Politeness.HostDelay, c.Politeness.IPDelay = 100*time.Millisecond, 0
}

func (s *seats) close() {
	for _, seat := range s.open {
		if err := seat.Close(); err != nil {
			s.t.Error(err)
		}
	}
}

// gossipAddr is an address of loopback that nobody has.
func gossipAddr(t *testing.T) netip.AddrPort {
	t.Helper()
	o := post.Options{Self: "x", Crawl: "x", Addr: netip.MustParseAddrPort("127.0.0.1:0"), Plain: true, Receive: (&idler{}).Letter}
	office, err := post.Listen(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := office.Close(); err != nil {
			t.Error(err)
		}
	}()
	return office.Addr()
}

// Builds that differ by a version crawl a web together. Those that have none in common crawl each its own hosts and keep what is the other's, until
// one of them is replaced by a build that the other understands.
func TestG07_versionSkew(t *testing.T) {
	for name, c := range map[string]struct {
		a, b    build
		strange bool
	}{
		"one behind":        {build{1, 2}, build{1, 1}, false},
		"one ahead":         {build{1, 2}, build{2, 3}, false},
		"nothing in common": {build{1, 1}, build{2, 3}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBand(t, smallWorld(*firstSeed+840, simweb.Plain()), 2)
			s := &seats{t: t, builds: map[string]build{"agent-0": c.a, "agent-1": c.b}}
			defer s.close()
			b.alter = s.take
			b.start(t.Context(), "agent-0")
			other := b.start(t.Context(), "agent-1")
			if c.strange {
				select {
				case <-other.done:
					t.Error("a crawl is over of which one has not understood the other")
				case <-time.After(4 * time.Second):
				}
				other.stop()
				<-other.done
				r := b.reports["agent-1"].Peers
				if r.LettersSent+r.LettersReceived > 0 || r.LettersFailed == 0 || r.LettersRefused > 0 || r.Waiting == 0 {
					t.Errorf("%+v", r)
				}
				s.builds["agent-1"] = build{1, 2}
				b.start(t.Context(), "agent-1")
			}
			b.wait()
			for _, name := range b.names {
				if r := b.reports[name]; r.State != engine.StateFinished || r.Peers.LettersSent == 0 || r.Peers.LettersRefused > 0 {
					t.Errorf("%s: %s, %+v", name, r.State, r.Peers)
				}
			}
			if v := b.judge(); v.Coverage != 1 || v.Missing > 0 || v.MinHostGap < 100*time.Millisecond || v.HostConcurrency > 0 {
				v.Print(t.Output())
				t.Error("the oracle complains")
			}
		})
	}
}
