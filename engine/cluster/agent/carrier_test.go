package agent

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/cluster/ownership"
)

// circleOfSome is the circle of n agents, of which the first is this one.
func circleOfSome(t testing.TB, n int) *ownership.View {
	t.Helper()
	var all []ownership.Agent
	for i := range n {
		all = append(all, ownership.Agent{ID: fmt.Sprintf("a%02d", i), Capacity: 1 + i%3})
	}
	c, err := ownership.NewView(all, nil, 0, "a00")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Whenever a letter begins to wait for company, it leaves when the others of its agent do: a whole number of periods
// after the beginning. The period grows with the number of agents, up to two seconds.
func TestLettersLeaveAtTheSameMoments(t *testing.T) {
	for n, period := range map[int]time.Duration{
		1: 250 * time.Millisecond, 2: 250 * time.Millisecond, 4: 750 * time.Millisecond, 8: 1750 * time.Millisecond, 9: 2 * time.Second, 40: 2 * time.Second,
	} {
		synctest.Test(t, func(t *testing.T) {
			p, rng := &agent{views: ownership.NewTimeline(peerGrace), sendEpoch: time.Now()}, rand.New(rand.NewPCG(1, uint64(n)))
			p.views.Store(circleOfSome(t, n))
			for range 100 {
				wait := p.linger()
				if wait <= 0 || wait > period {
					t.Fatalf("%d agents: a letter waits for %v", n, wait)
				}
				time.Sleep(wait)
				if past := time.Since(p.sendEpoch) % period; past != 0 {
					t.Fatalf("%d agents: a letter leaves %v after the moment", n, past)
				}
				time.Sleep(time.Duration(rng.Int64N(int64(2 * period))))
			}
		})
	}
}
