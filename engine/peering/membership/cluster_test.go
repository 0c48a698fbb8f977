package membership_test

import (
	"bytes"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/peering/membership"
	"orbweaver/engine/peering/membership/membershiptest"
)

// testCluster is a group of agents on a simulated network. Make it inside a synctest bubble.
type testCluster struct {
	t         *testing.T
	net       *membershiptest.Network
	agents    map[string]*testAgent
	outsiders []*membership.Service
	options   func(*membership.Options) // changes the options of each agent; may be nil
}

// testAgent is one process of an agent.
type testAgent struct {
	*membership.Service
	transport *membershiptest.Transport
	at        netip.AddrPort
}

func newTestCluster(t *testing.T, seed uint64) *testCluster {
	n := membershiptest.New(seed)
	n.Delay(200*time.Microsecond, 2*time.Millisecond)
	return &testCluster{t: t, net: n, agents: map[string]*testAgent{}}
}

// addr is the address of agent n.
func addr(n int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, byte(n >> 8), byte(n)}), 7946)
}

// addrs are the addresses of the agents from first to before end.
func addrs(first, end int) (all []netip.AddrPort) {
	for n := first; n < end; n++ {
		all = append(all, addr(n))
	}
	return all
}

func agentID(n int) string { return fmt.Sprintf("agent-%04d", n) }

// agentOptions returns the options of an agent, with an open transport.
func (c *testCluster) agentOptions(
	id string, at netip.AddrPort, store uint64, seeds ...netip.AddrPort,
) (membership.Options, *membershiptest.Transport) {
	transport, err := c.net.Transport(at)
	if err != nil {
		c.t.Fatal(err)
	}
	o := membership.Options{
		Self: membership.Agent{
			ID: id, GossipAddr: at, MessageAddr: netip.AddrPortFrom(at.Addr(), 7947), Store: store, Crawl: "a crawl",
			MessageVersion: 1,
		},
		Transport: transport,
	}
	for _, s := range seeds {
		o.Seeds = append(o.Seeds, s.String())
	}
	if c.options != nil {
		c.options(&o)
	}
	return o, transport
}

// join starts an agent. It fails the test if the agent cannot join.
func (c *testCluster) join(id string, at netip.AddrPort, store uint64, seeds ...netip.AddrPort) *testAgent {
	c.t.Helper()
	o, transport := c.agentOptions(id, at, store, seeds...)
	s, err := membership.Join(c.t.Context(), o)
	if err != nil {
		c.t.Fatalf("%s at %v: %v", id, at, err)
	}
	a := &testAgent{s, transport, at}
	c.agents[id] = a
	return a
}

// populate starts agents 0 to n-1. The seed of all is agent 0.
func (c *testCluster) populate(n int) {
	c.t.Helper()
	c.join(agentID(0), addr(0), 1)
	for i := 1; i < n; i++ {
		c.join(agentID(i), addr(i), 1, addr(0))
	}
	if took, ok := c.agreeWithin(30 * time.Second); !ok {
		c.t.Fatalf("no equal Views %v after %d joined: %s", took, n, c.views())
	}
}

// joinOutsider starts an agent that does not belong to the cluster. close closes it.
func (c *testCluster) joinOutsider(o membership.Options) *membership.Service {
	c.t.Helper()
	s, err := membership.Join(c.t.Context(), o)
	if err != nil {
		c.t.Fatal(err)
	}
	c.outsiders = append(c.outsiders, s)
	return s
}

// kill ends a process without a leave.
func (c *testCluster) kill(id string) {
	if err := c.agents[id].Close(); err != nil {
		c.t.Error(err)
	}
	delete(c.agents, id)
}

// close ends all agents, and waits in virtual time until memberlist's goroutines have ended.
func (c *testCluster) close() {
	for id := range c.agents {
		c.kill(id)
	}
	for _, s := range c.outsiders {
		if err := s.Close(); err != nil {
			c.t.Error(err)
		}
	}
	time.Sleep(30 * time.Second)
}

func ids(v *membership.View) (all []string) {
	for _, a := range v.Agents {
		all = append(all, a.ID)
	}
	return all
}

// serials returns the Serial of each agent's View.
func (c *testCluster) serials() map[string]uint64 {
	all := map[string]uint64{}
	for id, a := range c.agents {
		all[id] = a.View().Serial
	}
	return all
}

// agree reports whether the View of each agent holds exactly the living agents.
func (c *testCluster) agree() bool {
	want := make([]string, 0, len(c.agents))
	for id := range c.agents {
		want = append(want, id)
	}
	slices.Sort(want)
	for _, r := range c.agents {
		v := r.View()
		if !slices.Equal(ids(v), want) {
			return false
		}
		for _, a := range v.Agents {
			if a != c.agents[a.ID].Self() {
				return false
			}
		}
	}
	return true
}

// agreeWithin waits until all Views are right. It looks every 10 ms of virtual time.
func (c *testCluster) agreeWithin(limit time.Duration) (time.Duration, bool) {
	began := time.Now()
	for !c.agree() {
		if time.Since(began) > limit {
			return time.Since(began), false
		}
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
	}
	return time.Since(began), true
}

// views prints the View of each agent.
func (c *testCluster) views() string {
	var b bytes.Buffer
	for id, a := range c.agents {
		fmt.Fprintf(&b, "\n%s: %v", id, ids(a.View()))
	}
	return b.String()
}
