//go:build scenario

package cluster

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
)

// perils are what may happen to agents in a story of chaos.
type perils struct {
	kills, losses, stops, leaves, late bool // of agents: losses are kills of which the disk does not come back
	letters                            bool // messages are slow, lost, or lost after they arrived, so that they come twice
	parts                              bool // partitions, and ways that are cut in one direction
	voted                              bool // with a quorum
	order                              bool // the leaving agent is not stopped meanwhile
}

// orderly are what may happen in a story of agents that come and go in good order, by its number.
func orderly(i int) (name string, p perils) {
	switch i % 3 {
	case 0:
		return "leaves, quorum", perils{order: true, leaves: true, late: true, letters: true, voted: true}
	case 1:
		return "leaves", perils{order: true, leaves: true, late: true, letters: true}
	default: // nobody comes late: who comes while another is stopped cannot ask that one
		return "leaves and stops", perils{order: true, leaves: true, stops: true, letters: true}
	}
}

// Random stories of agents that come late and leave permanently, or are stopped for a while, on a network that loses
// messages: nothing is asked for again, and nothing is stored twice.
func TestAgents_comeAndGoInGoodOrder(t *testing.T) {
	for i := range bands() {
		name, p := orderly(i)
		seed := *testbed.FirstSeed + 1500 + uint64(i)
		t.Run(fmt.Sprintf("%s, seed %d", name, seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newChaos(t, seed, p)
				c.away = 10 * time.Minute
				c.tell()
			})
		})
	}
}
