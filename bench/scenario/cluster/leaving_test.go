//go:build scenario

package cluster

import (
	"errors"
	"fmt"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine/state/cluster"
	"orbweaver/internal/simweb"
)

// An agent starts again while another one leaves, and does not know its members yet. It delivers the backlog for the
// leaving agent all the same: otherwise the crawl would never end.
func TestAgents_aRestartedAgentDeliversToALeavingAgent(t *testing.T) {
	const worlds = 8 // in some, agent-1 finds no URL of agent-0 in time
	hadBacklog := false
	for draw := uint64(0); draw < worlds && !hadBacklog && !t.Failed(); draw++ {
		hadBacklog = restartBesideALeavingAgent(t, *testbed.FirstSeed+845+1000*draw)
	}
	if !hadBacklog {
		t.Errorf("agent-1 had no backlog in %d worlds", worlds)
	}
}

// restartBesideALeavingAgent reports whether agent-1 had a backlog for agent-0 when it stopped.
func restartBesideALeavingAgent(t *testing.T, seed uint64) (hadBacklog bool) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := newTestCluster(t, testbed.SmallWorld(seed, simweb.Plain()), 4)
		running := b.startAll(b.names)
		time.Sleep(10 * time.Second)
		b.hub.setBroken([]string{"agent-1"}, []string{"agent-0"}, true)
		time.Sleep(15 * time.Second)
		running["agent-1"].stop()
		<-running["agent-1"].done
		if hadBacklog = b.final("agent-1").Cluster.URLsWaiting > 0; !hadBacklog {
			b.hub.repairAll()
			b.start(t.Context(), "agent-1")
			b.wait()
			return
		}
		b.loseAgent(running["agent-3"])
		time.Sleep(2 * time.Second) // until all agents have heard of that
		if err := running["agent-0"].leave(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		b.hub.repairAll()
		b.start(t.Context(), "agent-1") // it waits for agent-3 for a while
		b.names = b.names[:3]
		b.wait()
		if v := b.judge(); v.Coverage != 1 || impolite(v) {
			testbed.FailVerdict(t, v)
		}
	})
	return hadBacklog
}

// An agent cannot leave if no other agent can take its hosts. It continues to crawl.
func TestAgents_theLastAgentCannotLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTestCluster(t, testbed.SmallWorld(*testbed.FirstSeed+840, simweb.Plain()), 2)
		b.least = 1
		only := b.start(t.Context(), b.names[0])
		time.Sleep(10 * time.Second)
		if err := only.leave(t.Context()); !errors.Is(err, cluster.ErrNoAgentStays) {
			t.Error(err)
		}
		other := b.start(t.Context(), b.names[1])
		time.Sleep(5 * time.Second)
		b.hub.setEarlierVersion(other.endpoint, true)
		if err := only.leave(t.Context()); !errors.Is(err, cluster.ErrLeaveUnknown) {
			t.Error(err)
		}
		b.hub.setEarlierVersion(other.endpoint, false)
		b.wait()
		if v := b.judge(); v.Coverage != 1 || b.final(b.names[0]).Reason != "complete" {
			testbed.FailVerdict(t, v)
		}
	})
}

// Only the agent that leaves has ever seen a link to these hosts. It sends them to another agent, which is then lost
// with its disk. A third agent has what it sent.
func TestAgents_sentURLsSurviveTheirSender(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const hosts = 30
		s := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{}, Counts: map[string]int{}}
		index := ""
		for h := range hosts {
			name := fmt.Sprintf("h%d.test", h)
			index += "<a href=http://" + name + "/>there</a>\n"
			s.Hosts[name] = testbed.HostWithRobots(60, testbed.AlwaysRespond(404, "", ""))
		}
		s.Hosts["index.test"] = func(_ string, _ int, c net.Conn) { testbed.Respond(c, 200, "", index) }
		b := newScriptedCluster(t, s, 3)
		b.rig.Seeds = []string{"http://index.test/"}
		running := b.startAll(b.names)
		time.Sleep(30 * time.Second)
		left := s.Pages("index.test")[0].Agent
		running[left].mustLeave(t)
		<-running[left].done
		var rest []string
		for _, name := range b.names {
			if name != left {
				rest = append(rest, name)
			}
		}
		time.Sleep(5 * time.Second)
		b.loseAgent(running[rest[0]])
		b.wait()
		s.Done.Wait()
		lost, others := map[string]bool{}, map[string]bool{}
		for _, a := range s.Requests {
			if a.Path == "/" {
				lost[a.Host] = lost[a.Host] || a.Agent == rest[0]
				others[a.Host] = others[a.Host] || a.Agent != rest[0]
			}
		}
		n := 0
		for host := range s.Hosts {
			if lost[host] {
				n++
			}
			if !others[host] {
				t.Errorf("%s is in the archive of the agent that was lost, and nowhere else", host)
			}
		}
		if n < 5 {
			t.Errorf("the lost agent had %d hosts", n)
		}
	})
}
