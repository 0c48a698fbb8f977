package agent

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/cluster/ownership"
)

// A host that was another agent's rests. If that one gives it away in good order it need not, and yet waits for its
// delay: also a Visit that had left the workbench before this was known there.
func TestPeers_aHostThatCameInOrderWaitsForItsDelayAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := ownership.Agent{ID: "one", Capacity: 1, Store: 1}, ownership.Agent{ID: "two", Capacity: 1, Store: 2}
		both, err := ownership.NewView([]ownership.Agent{one, two}, nil, 0, "one")
		if err != nil {
			t.Fatal(err)
		}
		alone, err := ownership.NewView([]ownership.Agent{one}, nil, 0, "one")
		if err != nil {
			t.Fatal(err)
		}
		theirs := []byte(nil)
		for i := 0; theirs == nil; i++ {
			if host := fmt.Appendf(nil, "http://h%d.test", i); !both.Owns(host) {
				theirs = host
			}
		}
		p := &agent{grace: peerGrace}
		p.leases = newLeases(p, func() time.Duration { return time.Second })
		p.replace(both, time.Now())
		time.Sleep(time.Minute)
		turned := time.Now()
		p.replace(alone, turned)
		if due := p.NotBefore(theirs); !due.Equal(turned.Add(peerGrace)) {
			t.Errorf("it rests until %v", due.Sub(turned))
		}
		p.inOrder.add(theirs, turned.Add(3*time.Second))
		if due := p.NotBefore(theirs); !due.Equal(turned.Add(3 * time.Second)) {
			t.Errorf("it came in order, and may be asked after %v", due.Sub(turned))
		}
		time.Sleep(3 * time.Second)
		if due := p.NotBefore(theirs); !due.IsZero() {
			t.Errorf("its delay has passed, and it is to wait until %v", due.Sub(turned))
		}
	})
}
