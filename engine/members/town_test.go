package members_test

import (
	"bytes"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/members"
	"orbweaver/engine/members/memberstest"
)

// town is a group of agents on a network inside the process. Make it inside a synctest bubble.
type town struct {
	t       *testing.T
	net     *memberstest.Network
	agents  map[string]*resident
	others  []*members.Group
	options func(*members.Options)
}

// resident is one process of an agent.
type resident struct {
	*members.Group
	line *memberstest.Transport
	at   netip.AddrPort
}

func newTown(t *testing.T, seed uint64) *town {
	n := memberstest.New(seed)
	n.Delay(200*time.Microsecond, 2*time.Millisecond)
	return &town{t: t, net: n, agents: map[string]*resident{}}
}

// place is the address of the nth agent.
func place(n int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, byte(n >> 8), byte(n)}), 7946)
}

func name(n int) string { return fmt.Sprintf("agent-%04d", n) }

// options of the nth agent.
func (w *town) make(id string, at netip.AddrPort, incarnation uint64, seeds ...netip.AddrPort) (members.Options, *memberstest.Transport) {
	line, err := w.net.Transport(at)
	if err != nil {
		w.t.Fatal(err)
	}
	o := members.Options{
		Self:      members.Agent{ID: id, Gossip: at, Post: netip.AddrPortFrom(at.Addr(), 7947), Incarnation: incarnation, Crawl: "a crawl", Version: 1},
		Transport: line,
	}
	for _, s := range seeds {
		o.Seeds = append(o.Seeds, s.String())
	}
	if w.options != nil {
		w.options(&o)
	}
	return o, line
}

// join starts an agent, and fails the test if it may not.
func (w *town) join(id string, at netip.AddrPort, incarnation uint64, seeds ...netip.AddrPort) *resident {
	w.t.Helper()
	o, line := w.make(id, at, incarnation, seeds...)
	g, err := members.Join(w.t.Context(), o)
	if err != nil {
		w.t.Fatalf("%s at %v: %v", id, at, err)
	}
	r := &resident{g, line, at}
	w.agents[id] = r
	return r
}

// populate starts agents 0 to n-1; all know the address of the first.
func (w *town) populate(n int) {
	w.t.Helper()
	w.join(name(0), place(0), 1)
	for i := 1; i < n; i++ {
		w.join(name(i), place(i), 1, place(0))
	}
	if took, ok := w.agreeWithin(30 * time.Second); !ok {
		w.t.Fatalf("no agreement %v after %d joined: %s", took, n, w.views())
	}
}

// stranger starts an agent that is not one of the town; it is closed with it.
func (w *town) stranger(o members.Options) *members.Group {
	w.t.Helper()
	g, err := members.Join(w.t.Context(), o)
	if err != nil {
		w.t.Fatal(err)
	}
	w.others = append(w.others, g)
	return g
}

// kill ends a process without a word.
func (w *town) kill(id string) {
	if err := w.agents[id].Close(); err != nil {
		w.t.Error(err)
	}
	delete(w.agents, id)
}

// close ends all, and waits for memberlist, whose goroutines end by themselves.
func (w *town) close() {
	for id := range w.agents {
		w.kill(id)
	}
	for _, g := range w.others {
		if err := g.Close(); err != nil {
			w.t.Error(err)
		}
	}
	time.Sleep(30 * time.Second)
}

func ids(v *members.View) (names []string) {
	for _, a := range v.Agents {
		names = append(names, a.ID)
	}
	return names
}

// agree says whether all see those who live, and nobody else.
func (w *town) agree() bool {
	want := make([]string, 0, len(w.agents))
	for id := range w.agents {
		want = append(want, id)
	}
	slices.Sort(want)
	for _, r := range w.agents {
		v := r.View()
		if !slices.Equal(ids(v), want) {
			return false
		}
		for _, a := range v.Agents {
			if a != w.agents[a.ID].Self() {
				return false
			}
		}
	}
	return true
}

// agreeWithin waits for agreement, looking every 10 ms of virtual time.
func (w *town) agreeWithin(limit time.Duration) (time.Duration, bool) {
	began := time.Now()
	for !w.agree() {
		if time.Since(began) > limit {
			return time.Since(began), false
		}
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
	}
	return time.Since(began), true
}

// views prints what each agent sees.
func (w *town) views() string {
	var b bytes.Buffer
	for id, r := range w.agents {
		fmt.Fprintf(&b, "\n%s: %v", id, ids(r.View()))
	}
	return b.String()
}
