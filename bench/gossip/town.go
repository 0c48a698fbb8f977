package gossip

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"orbweaver/engine/members"
	"orbweaver/engine/members/memberstest"
)

// town is one group of agents on a network of its own.
type town struct {
	o       *Options
	net     *memberstest.Network
	size    int
	watches sync.WaitGroup

	mu     sync.Mutex
	agents []*agent // by their numbers; one that is dead is nil
	starts uint64
	awaits []*await
	built  bool
	lost   int // living agents that went missing from Views
}

// agent is one process.
type agent struct {
	*members.Group
	done chan struct{} // ends its watch
}

// await is something that all others shall notice: that an agent is gone, or that it is there in a new incarnation.
type await struct {
	id          string
	incarnation uint64 // 0: gone
	began       time.Time
	left        map[*agent]bool
	took        []time.Duration
	all         chan struct{}
}

func id(n int) string { return fmt.Sprintf("agent-%04d", n) }

func place(n int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, byte(n >> 8), byte(n)}), 7946)
}

func newTown(o *Options, size int, seed uint64) *town {
	t := &town{o: o, net: memberstest.New(seed), size: size, agents: make([]*agent, size)}
	// A local network of a data centre.
	t.net.Delay(time.Duration(float64(200*time.Microsecond)*o.Pace), time.Duration(float64(2*time.Millisecond)*o.Pace))
	return t
}

// manyAgents are so many that each need not pass news on as often as in a small group: what one misses comes from hundreds of others.
const manyAgents = 300

// start starts agent n, and waits until it is a member.
func (t *town) start(ctx context.Context, n int, seed int) (*agent, error) {
	line, err := t.net.Transport(place(n))
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	t.starts++
	incarnation := t.starts
	t.mu.Unlock()
	o := members.Options{
		Self:      members.Agent{ID: id(n), Gossip: place(n), Post: netip.AddrPortFrom(place(n).Addr(), 7947), Incarnation: incarnation, Crawl: "simulation"},
		Key:       bytes.Repeat([]byte{1}, members.KeySize),
		Transport: line,
		Timings:   members.Timings{}.Scaled(t.o.Pace),
	}
	if t.size >= manyAgents {
		o.Retells = 4
	}
	if n != seed {
		o.Seeds = []string{place(seed).String()}
	}
	g, err := members.Join(ctx, o)
	if err != nil {
		return nil, err
	}
	a := &agent{g, make(chan struct{})}
	t.mu.Lock()
	t.agents[n] = a
	t.mu.Unlock()
	t.watches.Go(func() { t.watch(a) })
	return a, nil
}

// joinsAtOnce is how many agents come to a group at a time while it is built.
const joinsAtOnce = 16

// build starts all, some at a time, and waits until all know all.
func (t *town) build(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	if _, err := t.start(ctx, 0, 0); err != nil {
		return 0, err
	}
	for from := 1; from < t.size; from += joinsAtOnce {
		errs := make([]error, min(joinsAtOnce, t.size-from))
		var some sync.WaitGroup
		for i := range errs {
			some.Go(func() { _, errs[i] = t.start(ctx, from+i, 0) })
		}
		some.Wait()
		if err := errors.Join(errs...); err != nil {
			return 0, err
		}
	}
	for n := range t.size {
		for a := t.agents[n]; len(a.View().Agents) != t.size; {
			if err := pause(ctx, 10*time.Millisecond); err != nil {
				return 0, fmt.Errorf("gossip: %d of %d know all: %w", n, t.size, err)
			}
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.built = true
	return time.Since(began), nil
}

// watch looks at each View of an agent for what is awaited, and for living agents that are missing.
func (t *town) watch(a *agent) {
	last := a.View()
	for {
		select {
		case <-a.done:
			return
		case <-a.Changed():
		}
		v := a.View()
		t.look(a, v, time.Now())
		t.compare(last, v)
		last = v
	}
}

// compare counts the living who were in one View and are not in the next.
func (t *town) compare(last, v *members.View) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.built {
		return
	}
	for _, was := range last.Agents {
		if gone := (&await{id: was.ID}).seen(v); !gone {
			continue
		}
		for n, a := range t.agents {
			if a != nil && id(n) == was.ID && a.Self() == was {
				t.lost++
			}
		}
	}
}

func (t *town) look(a *agent, v *members.View, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, w := range t.awaits {
		if w.left[a] && w.seen(v) {
			delete(w.left, a)
			w.took = append(w.took, now.Sub(w.began))
		}
	}
	t.awaits = slices.DeleteFunc(t.awaits, func(w *await) bool {
		if len(w.left) == 0 {
			close(w.all)
		}
		return len(w.left) == 0
	})
}

func (w *await) seen(v *members.View) bool {
	i, found := slices.BinarySearchFunc(v.Agents, w.id, func(a members.Agent, id string) int { return strings.Compare(a.ID, id) })
	if w.incarnation == 0 {
		return !found
	}
	return found && v.Agents[i].Incarnation == w.incarnation
}

// expect begins to wait for something.
func (t *town) expect(id string, incarnation uint64, but *agent) *await {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := &await{id: id, incarnation: incarnation, began: time.Now(), left: map[*agent]bool{}, all: make(chan struct{})}
	for _, a := range t.agents {
		if a != nil && a != but {
			w.left[a] = true
		}
	}
	t.awaits = append(t.awaits, w)
	return w
}

// kill ends agent n without a word.
func (t *town) kill(n int) (*await, error) {
	t.mu.Lock()
	a := t.agents[n]
	t.agents[n] = nil
	for _, w := range t.awaits {
		delete(w.left, a) // the dead notice nothing
	}
	t.mu.Unlock()
	w := t.expect(id(n), 0, a)
	close(a.done)
	return w, a.Close()
}

// revive starts agent n again.
func (t *town) revive(ctx context.Context, n int) (*await, error) {
	t.mu.Lock()
	incarnation := t.starts + 1
	t.mu.Unlock()
	w := t.expect(id(n), incarnation, nil)
	_, err := t.start(ctx, n, (n+1)%t.size)
	// Who knew before it was awaited has no news.
	t.mu.Lock()
	living := slices.Clone(t.agents)
	t.mu.Unlock()
	for m, a := range living {
		if a != nil && m != n {
			t.look(a, a.View(), time.Now())
		}
	}
	return w, err
}

// close ends all.
func (t *town) close() (err error) {
	for _, a := range t.agents {
		if a != nil {
			close(a.done)
			err = errors.Join(err, a.Close())
		}
	}
	t.watches.Wait()
	return err
}

// pause waits, but not beyond ctx.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
