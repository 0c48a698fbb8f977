package membership_test

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"orbweaver/engine/peering/membership"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// joinOnLoopback starts an agent on a free port, with all timings divided by five.
func joinOnLoopback(t *testing.T, id string, seeds ...netip.AddrPort) (*membership.Service, error) {
	t.Helper()
	o := membership.Options{
		Self: membership.Agent{
			ID: id, GossipAddr: netip.MustParseAddrPort("127.0.0.1:0"), MessageAddr: netip.MustParseAddrPort("127.0.0.1:1"),
			Crawl: "a crawl",
		},
		Key:     gossipKey(7),
		Timings: membership.Timings{}.Scaled(0.2),
	}
	for _, s := range seeds {
		o.Seeds = append(o.Seeds, s.String())
	}
	return membership.Join(t.Context(), o)
}

// waitForAgents waits until the View of an agent has n agents.
func waitForAgents(t *testing.T, s *membership.Service, n int) {
	t.Helper()
	limit := time.After(2 * time.Minute) // long enough for a busy machine
	for len(s.View().Agents) != n {
		select {
		case <-s.Changed():
		case <-limit:
			t.Fatalf("%s sees %v, want %d agents", s.Self().ID, ids(s.View()), n)
		}
	}
}

func TestSockets_joinLeaveAndFail(t *testing.T) {
	var services []*membership.Service
	for _, id := range []string{"a", "b", "c", "d"} {
		var seeds []netip.AddrPort
		if len(services) > 0 {
			seeds = append(seeds, services[0].Self().GossipAddr)
		}
		s, err := joinOnLoopback(t, id, seeds...)
		if err != nil {
			t.Fatal(err)
		}
		services = append(services, s)
	}
	for _, s := range services {
		waitForAgents(t, s, 4)
		if at := s.Self().GossipAddr; at.Port() == 0 || s.View().Self != s.Self() {
			t.Errorf("%s listens at %v", s.Self().ID, at)
		}
	}
	if _, err := joinOnLoopback(t, "b", services[2].Self().GossipAddr); !errors.Is(err, membership.ErrNameInUse) {
		t.Errorf("a second b: %v", err)
	}
	if err := services[3].Leave(t.Context()); err != nil {
		t.Error(err)
	}
	if err := services[3].Leave(t.Context()); !errors.Is(err, membership.ErrClosed) {
		t.Errorf("second Leave: %v", err)
	}
	if err := services[2].Close(); err != nil {
		t.Error(err)
	}
	waitForAgents(t, services[0], 2)
	waitForAgents(t, services[1], 2)
	for _, s := range services[:2] {
		past := s.View().Past
		if len(past) != 2 || past[0].HasLeft || !past[1].HasLeft {
			t.Errorf("past members of %s: %+v", s.Self().ID, past)
		}
	}
	for _, s := range services {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestSockets_portInUse(t *testing.T) {
	a, err := joinOnLoopback(t, "a")
	if err != nil {
		t.Fatal(err)
	}
	o := membership.Options{Self: a.Self()}
	o.Self.ID = "b"
	if _, err := membership.Join(t.Context(), o); err == nil || !strings.Contains(err.Error(), "--gossip") {
		t.Errorf("joined: %v", err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}
