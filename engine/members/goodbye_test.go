package members_test

import (
	"bytes"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/members/memberstest"
)

// leave has some agents take their leave at one moment, and returns how long the slowest took.
func (w *town) leave(names ...string) (slowest time.Duration) {
	w.t.Helper()
	var all sync.WaitGroup
	var mu sync.Mutex
	for _, id := range names {
		r := w.agents[id]
		delete(w.agents, id)
		all.Go(func() {
			began := time.Now()
			err := r.Leave(w.t.Context())
			mu.Lock()
			defer mu.Unlock()
			if slowest = max(slowest, time.Since(began)); err != nil {
				w.t.Errorf("%s: %v", id, err)
			}
		})
	}
	all.Wait()
	return slowest
}

// Who leaves tells those who stay, often enough for all to know that it is not dead, be they few, and be some of what is said lost. If nobody stays there
// is nobody to tell, and nothing is waited for.
func TestManyLeaveAtOnce(t *testing.T) {
	for _, c := range []struct {
		agents, leave int
		most          time.Duration
	}{
		{5, 3, 4 * time.Second}, {5, 4, 5 * time.Second}, {2, 1, 6 * time.Second},
		{5, 5, 6 * time.Second}, {2, 2, 6 * time.Second}, {1, 1, time.Second},
	} {
		for seed := range uint64(10) {
			synctest.Test(t, func(t *testing.T) {
				w := newTown(t, seed)
				defer w.close()
				w.populate(c.agents)
				time.Sleep(time.Duration(seed) * 97 * time.Millisecond)
				w.net.Lose(0.1)
				var names []string
				for n := range c.leave {
					names = append(names, name(c.agents-1-n))
				}
				if took := w.leave(names...); took > c.most {
					t.Errorf("%d of %d leave: it took %v", c.leave, c.agents, took)
				}
				w.net.Lose(0)
				time.Sleep(10 * time.Second) // so long a death takes
				if !w.agree() {
					t.Errorf("%d of %d leave: no agreement: %s", c.leave, c.agents, w.views())
				}
				for id, r := range w.agents {
					gone := r.View().Gone
					if len(gone) != c.leave {
						t.Errorf("%s has %d agents gone of %d", id, len(gone), c.leave)
					}
					for _, g := range gone {
						if !g.Left {
							t.Errorf("%s takes %s for dead", id, g.Agent.ID)
						}
					}
				}
			})
		}
	}
}

// Who leaves says that it will, and then that it has, as often as any news are said.
func TestWhoLeavesSaysSoOftenEnough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, 1)
		defer w.close()
		w.populate(5)
		time.Sleep(20 * time.Second) // no other news
		var n atomic.Int64
		w.net.Tap(func(d memberstest.Datagram) {
			if d.From == place(3) && bytes.Contains(d.Bytes, []byte(name(3)+"@")) {
				n.Add(1)
			}
		})
		if took := w.leave(name(3)); took > 3*time.Second || n.Load() < 2*12 {
			t.Errorf("%d datagrams in %v", n.Load(), took)
		}
	})
}

// Who leaves a moment after the others does not wait for those who cannot hear it any more.
func TestTheLastOneLeaves(t *testing.T) {
	for late := range 12 {
		synctest.Test(t, func(t *testing.T) {
			w := newTown(t, uint64(late))
			defer w.close()
			w.populate(3)
			last := w.agents[name(2)]
			delete(w.agents, name(2))
			var all sync.WaitGroup
			all.Go(func() {
				time.Sleep(time.Duration(late) * 250 * time.Millisecond)
				began := time.Now()
				if err := last.Leave(t.Context()); err != nil || time.Since(began) > 4*time.Second {
					t.Errorf("%d quarters of a second later: %v, %v", late, time.Since(began), err)
				}
			})
			if took := w.leave(name(0), name(1)); took > 4*time.Second {
				t.Errorf("%d quarters of a second before: %v", late, took)
			}
			all.Wait()
		})
	}
}
