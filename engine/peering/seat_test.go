package peering

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"orbweaver/engine/cluster"
	"orbweaver/engine/cluster/identity"
	"orbweaver/engine/cluster/membership"
	"orbweaver/engine/cluster/ownership"
)

// clerk is an engine that keeps letters, and has its own mind about some.
type clerk struct {
	mu      sync.Mutex
	letters []string
}

func (c *clerk) HandleMessage(_ context.Context, from string, letter []byte) error {
	switch string(letter) {
	case "nonsense":
		return fmt.Errorf("%w: %q", cluster.ErrMalformed, letter)
	case "too early":
		return cluster.ErrClosing
	case "too much":
		return &cluster.WaitError{Wait: 7 * time.Second}
	case "flood":
		return fmt.Errorf("%w: it floods", cluster.ErrBanned)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.letters = append(c.letters, from+": "+string(letter))
	return nil
}

func (c *clerk) HandleQuestion(_ context.Context, from string, question []byte) ([]byte, error) {
	if string(question) == "nonsense" {
		return nil, cluster.ErrMalformed
	}
	return []byte("to " + from + ": " + string(question)), nil
}

// open takes a seat on free ports of loopback. Its timings are a tenth of the usual ones.
func open(t *testing.T, id string, by *identity.Authority, join ...*Seat) *Seat {
	t.Helper()
	free := netip.MustParseAddrPort("127.0.0.1:0")
	o := Options{ID: id, Capacity: 2, Gossip: free, Post: free, Timings: membership.Timings{}.Scaled(0.1), Log: slog.New(slog.NewTextHandler(t.Output(), nil)).With("of", id)}
	for _, s := range join {
		o.Join = append(o.Join, s.group.Load().Self().GossipAddr.String())
	}
	if by != nil {
		var err error
		if o.Identity, err = by.Issue(id, time.Now(), time.Hour, 0); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func join(t *testing.T, s *Seat, store uint64) *clerk {
	t.Helper()
	c := new(clerk)
	if err := s.Join(t.Context(), store, c); err != nil {
		t.Fatal(err)
	}
	return c
}

// until waits for others to say what they should.
func until(t *testing.T, what string, s *Seat, ok func() bool) {
	t.Helper()
	late := time.After(2 * time.Minute)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-s.Changed():
		case <-tick.C:
		case <-late:
			t.Fatalf("%s: not within 2 minutes: %+v", what, s.KnownAgents())
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

// Two agents find each other, with certificates and without; letters and questions go both ways; one says goodbye.
func TestTwoSeats(t *testing.T) {
	for name, by := range map[string]*identity.Authority{"plain": nil, "certificates": authority(t)} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			a := open(t, "a", by)
			if peers := a.Agents(); len(peers) != 1 || peers[0].ID != "a" || peers[0].Capacity != 2 || a.Changed() != nil || a.Lost() != nil || a.Err() != nil {
				t.Errorf("before it joined: %+v", peers)
			}
			if err := a.Send(ctx, "b", 0, []byte("x")); !errors.Is(err, ErrAway) {
				t.Errorf("a letter before it joined: %v", err)
			}
			ca := join(t, a, 7)
			b := open(t, "b", by, a)
			cb := join(t, b, 8)
			until(t, "two peers", a, func() bool { return len(a.Agents()) == 2 })
			if p := a.Agents()[1]; p != (ownership.Agent{ID: "b", Capacity: 2, Store: 8}) {
				t.Errorf("b as a sees it: %+v", p)
			}
			for from, to := range map[*Seat]string{a: "b", b: "a"} {
				for range 2 { // a repeated message is not received again
					if err := from.Send(ctx, to, 1, []byte("letter")); err != nil {
						t.Error(err)
					}
				}
				if err := from.Send(ctx, to, 0, []byte("nonsense")); !errors.Is(err, cluster.ErrMalformed) || !strings.Contains(err.Error(), `"nonsense"`) {
					t.Errorf("a letter that cannot be read: %v", err)
				}
				if err := from.Send(ctx, to, 0, []byte("too early")); err == nil || errors.Is(err, cluster.ErrMalformed) {
					t.Errorf("a letter that is not taken now: %v", err)
				}
				if answer, err := from.Ask(ctx, to, []byte("why")); err != nil || string(answer) != "to "+from.Self()+": why" {
					t.Errorf("%q %v", answer, err)
				}
				if _, err := from.Ask(ctx, to, []byte("nonsense")); !errors.Is(err, cluster.ErrMalformed) {
					t.Errorf("a question that cannot be read: %v", err)
				}
			}
			if err := a.Send(ctx, "c", 0, []byte("letter")); !errors.Is(err, ErrAway) {
				t.Errorf("a letter to nobody: %v", err)
			}
			if fmt.Sprint(ca.letters, cb.letters) != "[b: letter] [a: letter]" {
				t.Errorf("%q %q", ca.letters, cb.letters)
			}
			if err := b.Leave(ctx); err != nil {
				t.Error(err)
			}
			until(t, "b has left", a, func() bool { return len(a.Agents()) == 1 })
			if k := a.KnownAgents(); len(k) != 2 || k[0].State != cluster.AgentAlive || k[1].State != cluster.AgentLeft || k[0].Since.IsZero() || k[1].Since.Before(k[0].Since) {
				t.Errorf("who a knows: %+v", k)
			}
			if err := a.Send(ctx, "b", 0, []byte("letter")); !errors.Is(err, ErrAway) {
				t.Errorf("a letter to one that has left: %v", err)
			}
		})
	}
}

// One that lets go without a goodbye is suspected, and then dead; when it is back with other data, that is seen. An
// agent is told to wait, and then that it is banned: no letter and no question of it gets through any more. The other
// direction stays open.
func TestG05_whoIsBannedIsNotHeard(t *testing.T) {
	ctx := t.Context()
	by := authority(t)
	a := open(t, "a", by)
	join(t, a, 7)
	b := open(t, "b", by, a)
	cb := join(t, b, 8)
	until(t, "two peers", a, func() bool { return len(a.Agents()) == 2 })
	var wait *cluster.WaitError
	if err := a.Send(ctx, "b", 0, []byte("too much")); !errors.As(err, &wait) || wait.Wait != 7*time.Second {
		t.Errorf("over the quota: %v", err)
	}
	if err := a.Send(ctx, "b", 0, []byte("flood")); err == nil || errors.Is(err, cluster.ErrMalformed) {
		t.Errorf("the letter too much: %v", err)
	}
	until(t, "a ban", a, func() bool {
		err := a.Send(ctx, "b", 0, []byte("letter"))
		return errors.Is(err, cluster.ErrBanned) && strings.Contains(err.Error(), "it floods")
	})
	if _, err := a.Ask(ctx, "b", []byte("why")); !errors.Is(err, cluster.ErrBanned) {
		t.Errorf("a question of one that is banned: %v", err)
	}
	if err := b.Send(ctx, "a", 0, []byte("letter")); err != nil {
		t.Errorf("a letter to one that is banned: %v", err)
	}
	if len(cb.letters) > 0 {
		t.Errorf("letters of one that is banned: %q", cb.letters)
	}
}

func TestASeatThatIsGoneAndComesBack(t *testing.T) {
	a := open(t, "a", nil)
	join(t, a, 1)
	b := open(t, "b", nil, a)
	join(t, b, 2)
	until(t, "two peers", a, func() bool { return len(a.Agents()) == 2 })
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	until(t, "b is suspected", a, func() bool { return a.KnownAgents()[1].State == cluster.AgentSuspected })
	until(t, "b is dead", a, func() bool { k := a.KnownAgents(); return len(a.Agents()) == 1 && k[1].State == cluster.AgentDead })
	b = open(t, "b", nil, a)
	join(t, b, 3)
	until(t, "b is back", a, func() bool { p := a.Agents(); return len(p) == 2 && p[1].Store == 3 })
	if k := a.KnownAgents(); len(k) != 2 || k[1].State != cluster.AgentAlive {
		t.Errorf("who a knows: %+v", k)
	}
}

// A name has one owner: the second agent is refused, and where two groups of one name meet one of the two is lost.
func TestG04_oneNameOneSeat(t *testing.T) {
	a := open(t, "a", nil)
	join(t, a, 1)
	if err := open(t, "a", nil, a).Join(t.Context(), 2, new(clerk)); !errors.Is(err, membership.ErrNameInUse) {
		t.Errorf("a second one: %v", err)
	}
	apart := open(t, "a", nil)
	join(t, apart, 2)
	bridge := open(t, "b", nil, a, apart)
	join(t, bridge, 3)
	var lost *Seat
	select {
	case <-a.Lost():
		lost = a
	case <-apart.Lost():
		lost = apart
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
func TestG06_anotherCrawlsFile(t *testing.T) {
	a := open(t, "a", authority(t))
	join(t, a, 1)
	for name, by := range map[string]*identity.Authority{"another crawl's": authority(t), "none": nil} {
		err := open(t, "b", by, a).Join(t.Context(), 2, new(clerk))
		if !errors.Is(err, membership.ErrOtherKey) || !strings.Contains(err.Error(), "orbweaver ca") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A port that is taken is an error before any agent joins, for letters, and when this one joins, for gossip.
func TestPortsInUse(t *testing.T) {
	a := open(t, "a", nil)
	join(t, a, 1)
	o := a.o
	o.ID, o.Post = "b", a.transport.Addr()
	if _, err := Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), "does another agent run here?") {
		t.Errorf("the port for letters: %v", err)
	}
	o.Post, o.Gossip = netip.MustParseAddrPort("127.0.0.1:0"), a.group.Load().Self().GossipAddr
	b, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Join(t.Context(), 1, new(clerk)); err == nil || !strings.Contains(err.Error(), "give another --gossip") {
		t.Errorf("the port for gossip: %v", err)
	}
	if err := errors.Join(b.Leave(t.Context()), b.Close()); err != nil {
		t.Error(err)
	}
}

// All faults of Options are told at once.
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
		{Options{ID: "b", Gossip: remote, Post: remote, Identity: id, Capacity: 2000, Join: []string{"x", "192.0.2.1:0"}},
			`that of agent a, and this is to be b|capacity 2000|"x" is no|"192.0.2.1:0" is no`},
		{Options{ID: "b", Gossip: remote, Post: here, Join: []string{"192.0.2.7:1"}}, "192.0.2.1:1: without certificates|192.0.2.7:1: without"},
		{Options{ID: "b", Gossip: netip.MustParseAddrPort("0.0.0.0:1"), Post: here}, "0.0.0.0:1: the others must be able to reach it"},
	} {
		err := c.o.WithDefaults().Validate()
		for word := range strings.SplitSeq(c.words, "|") {
			if !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), word) {
				t.Errorf("%+v lacks %q: %v", c.o, word, err)
			}
		}
	}
	if err := (Options{ID: "a", Gossip: remote, Post: remote, Identity: id}).WithDefaults().Validate(); err != nil {
		t.Error(err)
	}
}
