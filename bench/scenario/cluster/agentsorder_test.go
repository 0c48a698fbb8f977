//go:build scenario

package cluster

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
)

// faultKinds are the events that may happen to agents in a random crawl.
type faultKinds struct {
	kills, losses, stops, leaves, late bool // of agents: after a loss the disk does not return
	messages                           bool // are slow, lost, or lost after they arrived, so that they arrive twice
	partitions                         bool // and connections that are broken in one direction
	withQuorum                         bool // the agents run with --quorum
	inOrder                            bool // a leaving agent is not stopped meanwhile
}

// orderlyCases are the events of crawls whose agents join and leave in order. If agents are stopped, no agent joins
// late: it could not ask an agent that is stopped.
var orderlyCases = []struct {
	name string
	faultKinds
}{
	{"leaves, quorum", faultKinds{inOrder: true, leaves: true, late: true, messages: true, withQuorum: true}},
	{"leaves", faultKinds{inOrder: true, leaves: true, late: true, messages: true}},
	{"leaves and stops", faultKinds{inOrder: true, leaves: true, stops: true, messages: true}},
}

// Random crawls of agents that join late and leave permanently, or are stopped for a while, on a network that loses
// messages: nothing is fetched again, and nothing is stored twice.
func TestAgents_joinAndLeaveInOrder(t *testing.T) {
	for i := range seedCount() {
		o := &orderlyCases[i%len(orderlyCases)]
		seed := *testbed.FirstSeed + 1500 + uint64(i)
		t.Run(fmt.Sprintf("%s, seed %d", o.name, seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newChaos(t, seed, o.faultKinds)
				c.awayMax = 10 * time.Minute
				c.run()
			})
		})
	}
}
