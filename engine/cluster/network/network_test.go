package network

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"orbweaver/engine/peering"
	"orbweaver/engine/peering/identity"
	"orbweaver/engine/peering/membership"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/state/cluster"
)

// recorder is an engine that keeps messages, and refuses some by their content.
type recorder struct {
	mu       sync.Mutex
	messages []string
}

func (r *recorder) HandleMessage(_ context.Context, from string, message []byte) error {
	switch string(message) {
	case "malformed":
		return fmt.Errorf("%w: %q", peering.ErrMalformed, message)
	case "too early":
		return cluster.ErrClosing
	case "too much":
		return &peering.WaitError{Wait: 7 * time.Second}
	case "flood":
		return fmt.Errorf("%w: it floods", peering.ErrBanned)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.messages = append(r.messages, from+": "+string(message))
	return nil
}

func (*recorder) HandleQuestion(_ context.Context, from string, question []byte) ([]byte, error) {
	if string(question) == "malformed" {
		return nil, peering.ErrMalformed
	}
	return []byte("to " + from + ": " + string(question)), nil
}

// received are the messages that were taken.
func (r *recorder) received() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.messages)
}

// freePort is a free port of loopback.
var freePort = netip.MustParseAddrPort("127.0.0.1:0")

// open opens a Network on free ports of loopback. Its timings are a tenth of the usual ones.
func open(t *testing.T, id string, by *identity.Authority, join ...*Network) *Network {
	t.Helper()
	o := Options{
		ID: id, Capacity: 2, GossipAddr: freePort, MessageAddr: freePort, Timings: membership.Timings{}.Scaled(0.1),
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)).With("of", id),
	}
	for _, n := range join {
		o.Join = append(o.Join, gossipAddr(n))
	}
	if by != nil {
		var err error
		if o.Identity, err = by.Issue(id, time.Now(), time.Hour, 0); err != nil {
			t.Fatal(err)
		}
	}
	n, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

// gossipAddr is where an agent that has joined listens for membership.
func gossipAddr(n *Network) string { return n.members.Load().Self().GossipAddr.String() }

func join(t *testing.T, n *Network, store uint64) *recorder {
	t.Helper()
	r := new(recorder)
	if err := n.Join(t.Context(), store, r); err != nil {
		t.Fatal(err)
	}
	return r
}

// until waits until a condition holds.
func until(t *testing.T, what string, n *Network, ok func() bool) {
	t.Helper()
	deadline := time.After(2 * time.Minute)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-n.Changed():
		case <-tick.C:
		case <-deadline:
			t.Fatalf("%s: not within 2 minutes: %+v", what, n.KnownAgents())
		}
	}
}

func authority(t *testing.T) *identity.Authority {
	t.Helper()
	a, err := identity.New("crawl", time.Now(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Two agents find each other, with certificates and without. Messages and questions go both ways, and one agent leaves.
func TestNetwork_twoAgents(t *testing.T) {
	for name, by := range map[string]*identity.Authority{"plain": nil, "certificates": authority(t)} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			a := open(t, "a", by)
			if now := a.Agents(); len(now) != 1 || now[0].ID != "a" || now[0].Capacity != 2 {
				t.Errorf("before it joined: %+v", now)
			}
			if a.Changed() != nil || a.Lost() != nil || a.Err() != nil {
				t.Error("membership of an agent that has not joined")
			}
			if err := a.Send(ctx, "b", 0, []byte("x")); !errors.Is(err, ErrNotMember) {
				t.Errorf("a message before it joined: %v", err)
			}
			ca := join(t, a, 7)
			b := open(t, "b", by, a)
			cb := join(t, b, 8)
			until(t, "two agents", a, func() bool { return len(a.Agents()) == 2 })
			if p := a.Agents()[1]; p != (ownership.Agent{ID: "b", Capacity: 2, Store: 8}) {
				t.Errorf("b as a sees it: %+v", p)
			}
			for from, to := range map[*Network]string{a: "b", b: "a"} {
				for range 2 { // a repeated message is not received again
					if err := from.Send(ctx, to, 1, []byte("message")); err != nil {
						t.Error(err)
					}
				}
				err := from.Send(ctx, to, 0, []byte("malformed"))
				if !errors.Is(err, peering.ErrMalformed) || !strings.Contains(err.Error(), `"malformed"`) {
					t.Errorf("a message that cannot be read: %v", err)
				}
				if err := from.Send(ctx, to, 0, []byte("too early")); err == nil || errors.Is(err, peering.ErrMalformed) {
					t.Errorf("a message that is not taken now: %v", err)
				}
				answer, err := from.Ask(ctx, to, []byte("status"))
				if err != nil || string(answer) != "to "+from.Self()+": status" {
					t.Errorf("%q %v", answer, err)
				}
				if _, err := from.Ask(ctx, to, []byte("malformed")); !errors.Is(err, peering.ErrMalformed) {
					t.Errorf("a question that cannot be read: %v", err)
				}
			}
			if err := a.Send(ctx, "c", 0, []byte("message")); !errors.Is(err, ErrNotMember) {
				t.Errorf("a message to an agent that is not there: %v", err)
			}
			if fmt.Sprint(ca.messages, cb.messages) != "[b: message] [a: message]" {
				t.Errorf("%q %q", ca.messages, cb.messages)
			}
			if err := b.Leave(ctx); err != nil {
				t.Error(err)
			}
			until(t, "b has left", a, func() bool { return len(a.Agents()) == 1 })
			k := a.KnownAgents()
			if len(k) != 2 || k[0].State != cluster.AgentAlive || k[1].State != cluster.AgentLeft {
				t.Fatalf("agent a knows: %+v", k)
			}
			if k[0].ChangedAt.IsZero() || k[1].ChangedAt.Before(k[0].ChangedAt) {
				t.Errorf("the times of what agent a knows: %+v", k)
			}
			if err := a.Send(ctx, "b", 0, []byte("message")); !errors.Is(err, ErrNotMember) {
				t.Errorf("a message to an agent that has left: %v", err)
			}
		})
	}
}

// An agent is told to wait, and then that it is banned: none of its messages and questions is taken any more. The other
// direction stays open.
func TestG05_aBannedAgentIsRefused(t *testing.T) {
	ctx := t.Context()
	by := authority(t)
	a := open(t, "a", by)
	join(t, a, 7)
	b := open(t, "b", by, a)
	cb := join(t, b, 8)
	until(t, "two agents", a, func() bool { return len(a.Agents()) == 2 })
	var wait *peering.WaitError
	if err := a.Send(ctx, "b", 0, []byte("too much")); !errors.As(err, &wait) || wait.Wait != 7*time.Second {
		t.Errorf("over the quota: %v", err)
	}
	if err := a.Send(ctx, "b", 0, []byte("flood")); err == nil || errors.Is(err, peering.ErrMalformed) {
		t.Errorf("the message too much: %v", err)
	}
	until(t, "a ban", a, func() bool {
		err := a.Send(ctx, "b", 0, []byte("message"))
		return errors.Is(err, peering.ErrBanned) && strings.Contains(err.Error(), "it floods")
	})
	if _, err := a.Ask(ctx, "b", []byte("status")); !errors.Is(err, peering.ErrBanned) {
		t.Errorf("a question of an agent that is banned: %v", err)
	}
	if err := b.Send(ctx, "a", 0, []byte("message")); err != nil {
		t.Errorf("a message to an agent that is banned: %v", err)
	}
	if len(cb.messages) > 0 {
		t.Errorf("messages of an agent that is banned: %q", cb.messages)
	}
}

// An agent that closes without leaving is suspected, and then dead. When it returns with other data, that is seen.
func TestNetwork_aFailedAgentReturns(t *testing.T) {
	a := open(t, "a", nil)
	join(t, a, 1)
	b := open(t, "b", nil, a)
	join(t, b, 2)
	until(t, "two agents", a, func() bool { return len(a.Agents()) == 2 })
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	until(t, "b is suspected", a, func() bool { return a.KnownAgents()[1].State == cluster.AgentSuspected })
	until(t, "b is dead", a, func() bool {
		return len(a.Agents()) == 1 && a.KnownAgents()[1].State == cluster.AgentDead
	})
	b = open(t, "b", nil, a)
	join(t, b, 3)
	until(t, "b is back", a, func() bool { p := a.Agents(); return len(p) == 2 && p[1].Store == 3 })
	if k := a.KnownAgents(); len(k) != 2 || k[1].State != cluster.AgentAlive {
		t.Errorf("agent a knows: %+v", k)
	}
}

// An ID has one process: the second one is refused, and if two groups with one ID meet, one of the processes is
// lost.
func TestG04_oneProcessOfAnID(t *testing.T) {
	a := open(t, "a", nil)
	join(t, a, 1)
	if err := open(t, "a", nil, a).Join(t.Context(), 2, new(recorder)); !errors.Is(err, membership.ErrNameInUse) {
		t.Errorf("a second one: %v", err)
	}
	separate := open(t, "a", nil)
	join(t, separate, 2)
	bridge := open(t, "b", nil, a, separate)
	join(t, bridge, 3)
	var lost *Network
	select {
	case <-a.Lost():
		lost = a
	case <-separate.Lost():
		lost = separate
	case <-time.After(2 * time.Minute):
		t.Fatal("both are still there")
	}
	if err := lost.Err(); !errors.Is(err, membership.ErrNameInUse) {
		t.Errorf("why: %v", err)
	}
	if err := lost.Leave(t.Context()); err != nil {
		t.Errorf("leaving after that: %v", err)
	}
}

// An agent with a file of another crawl, or none, is refused with what to do.
func TestG06_theFileOfAnotherCrawl(t *testing.T) {
	a := open(t, "a", authority(t))
	join(t, a, 1)
	for name, by := range map[string]*identity.Authority{"another crawl's": authority(t), "none": nil} {
		err := open(t, "b", by, a).Join(t.Context(), 2, new(recorder))
		if !errors.Is(err, membership.ErrOtherKey) || !strings.Contains(err.Error(), "orbweaver ca") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An agent that has other settings than the others is refused, with those that differ.
func TestNetwork_agentsAgreeOnSettings(t *testing.T) {
	longest := " --assign rendezvous --normal-form archive --visit per-host:1000 --score #01234567 --budgets #01234567" +
		" --mine ancestors,siblings --mine-most 1000000 --ipv6-prefix 128 --quorum true"
	for _, by := range []*identity.Authority{authority(t), nil} {
		a, b := open(t, "a", by), open(t, "b", by)
		a.o.Settings, b.o.Settings = longest, longest
		join(t, a, 1)
		b.o.Join = []string{gossipAddr(a)}
		join(t, b, 2)
		for id, test := range map[string]struct{ settings, differ string }{
			"c": {strings.Replace(longest, "score #01", "score #02", 1), "--score"},
			"d": {strings.Replace(longest, " --assign rendezvous", "", 1), "--assign"},
			"e": {strings.Replace(longest, "1000 ", "100 ", 1), "--visit"},
			"f": {" --mine siblings", "--assign and --normal-form and --visit and --score and --budgets and --mine and " +
				"--mine-most and --ipv6-prefix and --quorum"},
		} {
			n := open(t, id, by)
			n.o.Settings, n.o.Join = test.settings, b.o.Join
			err := n.Join(t.Context(), 3, new(recorder))
			if !errors.Is(err, membership.ErrOtherCrawl) ||
				!strings.HasSuffix(strings.TrimSpace(err.Error()), ": give all agents the same "+test.differ) {
				t.Errorf("one that differs: %v; want %s", err, test.differ)
			}
		}
		until(t, "both are known", a, func() bool { return len(a.Agents()) == 2 })
	}
}

// A port in use is an error: for messages before any agent joins, for gossip when this one joins.
func TestPortsInUse(t *testing.T) {
	a := open(t, "a", nil)
	join(t, a, 1)
	o := a.o
	o.ID, o.MessageAddr = "b", a.transport.Addr()
	if _, err := Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), "does another agent run here?") {
		t.Errorf("the port for messages: %v", err)
	}
	o.MessageAddr, o.GossipAddr = freePort, a.members.Load().Self().GossipAddr
	b, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	err = b.Join(t.Context(), 1, new(recorder))
	if err == nil || !strings.Contains(err.Error(), "give another --gossip") {
		t.Errorf("the port for gossip: %v", err)
	}
	if err := errors.Join(b.Leave(t.Context()), b.Close()); err != nil {
		t.Error(err)
	}
}

// All faults of Options are reported at once.
func TestOptionsFaults(t *testing.T) {
	by := authority(t)
	id, err := by.Issue("a", time.Now(), time.Hour, 0)
	if err != nil {
		t.Fatal(err)
	}
	remote, here := netip.MustParseAddrPort("192.0.2.1:1"), netip.MustParseAddrPort("127.0.0.1:1")
	for _, c := range []struct {
		o     Options
		words string
	}{
		{Options{}, "a name of 0 bytes|invalid AddrPort: the others must"},
		{Options{ID: "b", GossipAddr: remote, MessageAddr: remote, Identity: id, Capacity: 2000,
			Join: []string{"x", "192.0.2.1:0"}},
			`that of agent a, and this agent is b|capacity 2000|"x" is no|"192.0.2.1:0" is no`},
		{Options{ID: "b", GossipAddr: remote, MessageAddr: here, Join: []string{"192.0.2.7:1"}},
			"192.0.2.1:1: without certificates|192.0.2.7:1: without"},
		{Options{ID: "b", GossipAddr: netip.MustParseAddrPort("0.0.0.0:1"), MessageAddr: here},
			"0.0.0.0:1: the others must be able to reach it"},
	} {
		err := c.o.WithDefaults().Validate()
		for word := range strings.SplitSeq(c.words, "|") {
			if !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), word) {
				t.Errorf("%+v lacks %q: %v", c.o, word, err)
			}
		}
	}
	valid := Options{ID: "a", GossipAddr: remote, MessageAddr: remote, Identity: id}
	if err := valid.WithDefaults().Validate(); err != nil {
		t.Error(err)
	}
}
