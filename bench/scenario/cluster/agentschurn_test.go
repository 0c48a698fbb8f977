//go:build scenario

package cluster

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/internal/simweb"
	"orbweaver/internal/vfs"
)

// Eight agents join late, stop, are killed and return. They keep the delays of all hosts and of the few addresses that
// these share, and fetch the whole web.
func TestAgents_churnKeepsDelays(t *testing.T) {
	for i := range max(1, seedCount()/3) {
		seed := *testbed.FirstSeed + 780 + uint64(i)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 5))
			synctest.Test(t, func(t *testing.T) {
				b := newTestCluster(t, testbed.SmallWorld(seed, simweb.Plain()), 8)
				b.least = 3
				b.delayGossip(seed, 4*time.Second)
				running := map[string]*agent{}
				start := func(name string) { running[name] = b.start(t.Context(), name) }
				for _, name := range b.names[:3] {
					start(name)
				}
				for _, name := range b.names[3:] {
					time.Sleep(time.Duration(rng.Int64N(int64(8 * time.Second))))
					start(name)
				}
				ends := 0
				for range 16 {
					time.Sleep(time.Duration(rng.Int64N(int64(8 * time.Second))))
					a := running[b.names[rng.IntN(len(b.names))]]
					select {
					case <-a.done:
						continue // it has ended
					default:
					}
					ends++
					switch rng.IntN(3) {
					case 0: // it is back before the others take it for dead
						a.kill(func(disk *vfs.Mem) *vfs.Mem { return disk.CrashClone(rng) })
						time.Sleep(time.Duration(rng.Int64N(int64(4 * time.Second))))
					case 1: // the others take it for dead
						a.kill(func(disk *vfs.Mem) *vfs.Mem { return disk.CrashClone(rng) })
						time.Sleep(8 * time.Second)
						b.hub.remove(a.endpoint)
						time.Sleep(time.Duration(rng.Int64N(int64(10 * time.Second))))
					default:
						a.stop()
						<-a.done
						time.Sleep(time.Duration(rng.Int64N(int64(10 * time.Second))))
					}
					start(a.name)
				}
				b.wait()
				v := b.judge()
				t.Logf("%d pages, %d fetched again, %d ends of agents; %d messages, %d questions",
					v.Fetched, v.Repeated, ends, b.hub.messages, b.hub.questions)
				if v.Coverage != 1 || impolite(v) {
					testbed.FailVerdict(t, v)
				}
			})
		})
	}
}
