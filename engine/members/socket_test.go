package members_test

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"orbweaver/engine/members"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// onLoopback starts an agent on a free port, five times as fast as in life.
func onLoopback(t *testing.T, id string, seeds ...netip.AddrPort) (*members.Group, error) {
	t.Helper()
	o := members.Options{
		Self:    members.Agent{ID: id, Gossip: netip.MustParseAddrPort("127.0.0.1:0"), Post: netip.MustParseAddrPort("127.0.0.1:1"), Crawl: "a crawl"},
		Key:     key(7),
		Timings: members.Timings{}.Scaled(0.2),
	}
	for _, s := range seeds {
		o.Seeds = append(o.Seeds, s.String())
	}
	return members.Join(t.Context(), o)
}

// sees waits until an agent sees so many.
func sees(t *testing.T, g *members.Group, n int) {
	t.Helper()
	limit := time.After(2 * time.Minute) // on a busy machine; what hangs takes for ever
	for len(g.View().Agents) != n {
		select {
		case <-g.Changed():
		case <-limit:
			t.Fatalf("%s sees %v, not %d", g.Self().ID, ids(g.View()), n)
		}
	}
}

func TestOnSockets(t *testing.T) {
	var groups []*members.Group
	for _, id := range []string{"a", "b", "c", "d"} {
		var seeds []netip.AddrPort
		if len(groups) > 0 {
			seeds = append(seeds, groups[0].Self().Gossip)
		}
		g, err := onLoopback(t, id, seeds...)
		if err != nil {
			t.Fatal(err)
		}
		groups = append(groups, g)
	}
	for _, g := range groups {
		sees(t, g, 4)
		if at := g.Self().Gossip; at.Port() == 0 || g.View().Self != g.Self() {
			t.Errorf("%s is at %v", g.Self().ID, at)
		}
	}
	if _, err := onLoopback(t, "b", groups[2].Self().Gossip); !errors.Is(err, members.ErrName) {
		t.Errorf("a second b: %v", err)
	}
	if err := groups[3].Leave(t.Context()); err != nil {
		t.Error(err)
	}
	if err := groups[3].Leave(t.Context()); !errors.Is(err, members.ErrClosed) {
		t.Errorf("left twice: %v", err)
	}
	if err := groups[2].Close(); err != nil {
		t.Error(err)
	}
	sees(t, groups[0], 2)
	sees(t, groups[1], 2)
	for _, g := range groups[:2] {
		gone := g.View().Gone
		if len(gone) != 2 || gone[0].Left || !gone[1].Left {
			t.Errorf("%s thinks of the absent: %+v", g.Self().ID, gone)
		}
	}
	for _, g := range groups {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestAPortThatIsTaken(t *testing.T) {
	a, err := onLoopback(t, "a")
	if err != nil {
		t.Fatal(err)
	}
	o := members.Options{Self: a.Self()}
	o.Self.ID = "b"
	if _, err := members.Join(t.Context(), o); err == nil || !strings.Contains(err.Error(), "--gossip") {
		t.Errorf("joined: %v", err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}
