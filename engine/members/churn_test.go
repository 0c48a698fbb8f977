package members_test

import (
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/members"
)

func TestAllRestartAtOnce(t *testing.T) {
	seeds := uint64(3)
	if !scenarios || raceEnabled {
		seeds = 1
	}
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) {
			w := newTown(t, seed)
			defer w.close()
			w.populate(20)
			time.Sleep(time.Minute) // numbers grow
			for round := range uint64(2) {
				// One after the other, faster than anybody is missed; half of them elsewhere.
				for n := range 20 {
					w.kill(name(n))
					at := place(n)
					if n%2 == 1 {
						at = place(100*int(round+1) + n)
					}
					other := w.agents[name((n+7)%20)].at
					o, line := w.make(name(n), at, round+2, other)
					g, err := members.Join(t.Context(), o) // elsewhere it takes until the old one is dead
					if err != nil {
						t.Fatalf("%s: %v", name(n), err)
					}
					w.agents[name(n)] = &resident{g, line, at}
				}
				if took, ok := w.agreeWithin(time.Minute); !ok {
					t.Fatalf("round %d: no agreement after %v: %s", round, took, w.views())
				}
			}
		})
	}
}

func TestAllStopAndStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, 1)
		defer w.close()
		w.populate(12)
		time.Sleep(time.Minute)
		for n := range 12 {
			w.kill(name(n))
		}
		for n := range 12 { // each knows the next one, and the first that comes finds nobody
			w.join(name(n), place(n), 2, place((n+1)%12))
		}
		if took, ok := w.agreeWithin(time.Minute); !ok {
			t.Errorf("no agreement after %v: %s", took, w.views())
		}
	})
}

// churn kills, says goodbye or starts one of some agents each second.
type churn struct {
	w    *town
	rng  *rand.Rand
	mu   sync.Mutex
	busy map[string]bool
	up   map[string]*resident
	done sync.WaitGroup
	last int // the latest address
}

func TestG10_churn(t *testing.T) {
	seconds := 3600
	if !scenarios || raceEnabled {
		seconds = 300
	}
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, 1)
		defer w.close()
		w.net.Lose(0.01)
		w.populate(10)
		c := &churn{w: w, rng: rand.New(rand.NewPCG(1, 1)), busy: map[string]bool{}, up: w.agents, last: 100}
		for range seconds {
			c.step(t)
			time.Sleep(time.Second)
		}
		c.done.Wait()
		if took, ok := w.agreeWithin(time.Minute); !ok {
			t.Fatalf("no agreement after %v: %s", took, w.views())
		}
		for id, r := range w.agents {
			if s := r.Stats(); s.Garbled+s.Key+s.Crawl > 0 {
				t.Errorf("%s: %+v", id, s)
			}
		}
	})
}

func (c *churn) step(t *testing.T) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	id := name(1 + c.rng.IntN(11)) // the first stays, for its address
	r, what := c.up[id], c.rng.IntN(3)
	if c.busy[id] || r != nil && len(c.up) < 4 {
		return
	}
	c.busy[id] = true
	act := func() {
		switch what {
		case 0:
			if err := r.Leave(t.Context()); err != nil {
				t.Errorf("%s leaves: %v", id, err)
			}
		default:
			if err := r.Close(); err != nil {
				t.Errorf("%s: %v", id, err)
			}
		}
	}
	if r == nil {
		c.last++
		at, incarnation := place(c.last), uint64(c.last)
		act = func() {
			o, line := c.w.make(id, at, incarnation, place(0))
			g, err := members.Join(t.Context(), o)
			if err != nil {
				t.Errorf("%s joins: %v", id, err)
				return
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			c.up[id] = &resident{g, line, at}
		}
	} else {
		delete(c.up, id)
	}
	c.done.Go(func() {
		act()
		c.mu.Lock()
		defer c.mu.Unlock()
		c.busy[id] = false
	})
}
