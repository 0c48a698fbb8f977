package consensus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"orbweaver/internal/vfs"
)

// things are what agents own.
const things = 24

// testCluster is some agents that do nothing but hold leases, in virtual time.
type testCluster struct {
	t     *testing.T
	rng   *rand.Rand // the test's alone
	names []string
	log   *slog.Logger

	mu      sync.Mutex
	late    *rand.Rand
	latency time.Duration // mean of a message
	cut     map[[2]string]bool
	blind   map[[2]string]bool
	running map[string]*testAgent
	disks   map[string]*vfs.Mem
	data    map[string]int // which data an agent has: grows when its disk is lost
	members []string       // those that begin the log
}

// testAgent acts by views as the engine does.
type testAgent struct {
	*testCluster
	name, line string
	node       *Node
	stop       context.CancelFunc
	done       sync.WaitGroup

	mu      sync.Mutex
	leaving bool
	acts    uint64
	count   int
	view    []string
	owned   map[int]time.Time // from when on it may use what it owns
}

func newTestCluster(t *testing.T, seed uint64, agents int) *testCluster {
	t.Helper()
	c := &testCluster{
		t: t, rng: rand.New(rand.NewPCG(seed, 1)), late: rand.New(rand.NewPCG(seed, 2)), latency: 5 * time.Millisecond,
		log: slog.New(slog.DiscardHandler), cut: map[[2]string]bool{}, blind: map[[2]string]bool{},
		running: map[string]*testAgent{}, disks: map[string]*vfs.Mem{}, data: map[string]int{},
	}
	for i := range agents {
		name := fmt.Sprintf("a%d", i)
		c.names = append(c.names, name)
		c.disks[name] = vfs.NewMem(uint64(i))
	}
	c.members = slices.Clone(c.names)
	return c
}

func (c *testCluster) lineAt(name string) string { return fmt.Sprintf("%s/%d", name, c.data[name]) }

// start starts an agent with what its disk has.
func (c *testCluster) start(name string) *testAgent {
	c.t.Helper()
	c.mu.Lock()
	a := &testAgent{testCluster: c, name: name, line: c.lineAt(name), owned: map[int]time.Time{}}
	disk := c.disks[name]
	c.mu.Unlock()
	if err := disk.MkdirAll("d"); err != nil {
		c.t.Fatal(err)
	}
	var err error
	a.node, err = Open(Options{
		FS: disk, File: "d/consensus", Self: a.line, Ask: a.ask, Retry: retryAfterASecond, Log: c.log.With("agent", name),
	})
	if err != nil {
		c.t.Fatal(err)
	}
	if err := a.node.Start(c.t.Context()); err != nil {
		c.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(c.t.Context())
	a.stop = stop
	c.mu.Lock()
	c.running[name] = a
	c.mu.Unlock()
	a.done.Go(func() { a.act(ctx) })
	return a
}

func (c *testCluster) startAll() {
	for _, name := range c.names {
		c.start(name)
	}
}

func retryAfterASecond(ctx context.Context, err error) error {
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return err
	}
}

// act wishes for what membership says, and takes views.
func (a *testAgent) act(ctx context.Context) {
	tick := time.NewTicker(300 * time.Millisecond)
	defer tick.Stop()
	for {
		present := a.present()
		w := Wish{Present: present}
		c := a.testCluster
		c.mu.Lock()
		var members []string
		for _, name := range c.members {
			members = append(members, c.lineAt(name))
		}
		c.mu.Unlock()
		if !slices.ContainsFunc(members, func(line string) bool { return !slices.Contains(present, line) }) {
			w.Found = members
		}
		if len(a.node.Voters()) > 0 || len(w.Found) > 0 {
			w.View, _ = json.Marshal(present) //nolint:errchkjson // strings
		}
		a.mu.Lock()
		w.Base = a.acts
		a.mu.Unlock()
		a.node.Wish(w)
		a.take(time.Now())
		select {
		case <-tick.C:
		case <-a.node.Changed():
		case <-ctx.Done():
			return
		}
	}
}

// take acts by the last view.
func (a *testAgent) take(now time.Time) {
	index, count, content := a.node.View()
	a.mu.Lock()
	defer a.mu.Unlock()
	if index == a.acts {
		return
	}
	var next []string
	if err := json.Unmarshal(content, &next); err != nil {
		a.t.Error(err)
		return
	}
	for i := range things {
		was := len(a.view) > 0 && ownerAmong(a.view, i) == a.line && count == a.count+1
		if ownerAmong(next, i) != a.line {
			delete(a.owned, i)
		} else if _, has := a.owned[i]; !has || !was {
			a.owned[i] = now.Add(Takeover)
		}
	}
	a.acts, a.count, a.view = index, count, next
	a.node.Acts(index)
}

func ownerAmong(lines []string, thing int) string {
	rng := rand.New(rand.NewPCG(uint64(thing), uint64(len(lines))))
	return lines[rng.IntN(len(lines))]
}

// uses are the things that the agent may use now.
func (a *testAgent) uses(now time.Time) (all []int) {
	if a.node.Holds(now) <= 0 {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.leaving {
		return nil
	}
	for i, from := range a.owned {
		if !now.Before(from) {
			all = append(all, i)
		}
	}
	return all
}

func (a *testAgent) present() (lines []string) {
	a.testCluster.mu.Lock()
	defer a.testCluster.mu.Unlock()
	for _, name := range a.names {
		if other := a.running[name]; other != nil && (name == a.name || !a.blind[[2]string{a.name, name}]) {
			lines = append(lines, other.line)
		}
	}
	if !slices.Contains(lines, a.line) {
		lines = append(lines, a.line)
	}
	return lines
}

func (a *testAgent) ask(ctx context.Context, line string, question []byte) ([]byte, error) {
	c := a.testCluster
	c.mu.Lock()
	var to *testAgent
	for _, other := range c.running {
		if other.line == line {
			to = other
		}
	}
	alive := c.running[a.name] == a
	c.mu.Unlock()
	if to == nil || !alive {
		return nil, errors.New("not there")
	}
	if err := c.travel(ctx, a.name, to.name); err != nil {
		return nil, err
	}
	answer, err := to.node.Answer(ctx, a.name, question)
	if err != nil {
		return nil, err
	}
	return answer, c.travel(ctx, to.name, a.name)
}

func (c *testCluster) travel(ctx context.Context, from, to string) error {
	c.mu.Lock()
	cut, wait := c.cut[[2]string{from, to}], time.Duration(c.late.ExpFloat64()*float64(c.latency))
	c.mu.Unlock()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	if cut {
		<-ctx.Done()
		return ctx.Err()
	}
	return nil
}

// end kills an agent, or stops it in order.
func (c *testCluster) end(name string, orderly bool) {
	c.mu.Lock()
	a := c.running[name]
	c.mu.Unlock()
	a.mu.Lock()
	a.leaving = true
	a.mu.Unlock()
	if orderly {
		ctx, cancel := context.WithTimeout(c.t.Context(), 5*time.Second)
		_ = a.node.Leave(ctx) // or it is lost, and the others find that out
		cancel()
	}
	a.stop()
	c.mu.Lock()
	delete(c.running, name)
	c.mu.Unlock()
	a.done.Wait()
	if err := a.node.Close(); err != nil {
		c.t.Error(err)
	}
	c.mu.Lock()
	if c.rng.IntN(2) == 0 {
		c.disks[name] = c.disks[name].CrashClone(c.rng)
	} else {
		c.disks[name] = c.disks[name].LostClone(1)
	}
	c.mu.Unlock()
}

// lose kills an agent and its disk.
func (c *testCluster) lose(name string) {
	c.end(name, false)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.data[name]++
	c.disks[name] = vfs.NewMem(uint64(c.data[name]))
}

func (c *testCluster) endAll() {
	for _, name := range c.names {
		if c.running[name] != nil {
			c.end(name, false)
		}
	}
}

// link sets what two agents can say to each other, and whether the first thinks that the second is there.
func (c *testCluster) link(a, b string, cut, blind bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut[[2]string{a, b}], c.blind[[2]string{a, b}] = cut, blind && a != b
}

// split cuts the agents in two; membership finds out when the second call says so.
func (c *testCluster) split(left, right []string, blind bool) {
	for _, a := range left {
		for _, b := range right {
			c.link(a, b, true, blind)
			c.link(b, a, true, blind)
		}
	}
}

func (c *testCluster) mend() {
	for _, a := range c.names {
		for _, b := range c.names {
			c.link(a, b, false, false)
		}
	}
}

// users says which agents use each thing now, and which agents use any.
func (c *testCluster) users() (of map[int][]string, all []string) {
	of = map[int][]string{}
	now := time.Now()
	c.mu.Lock()
	var running []*testAgent
	for _, name := range c.names {
		if a := c.running[name]; a != nil {
			running = append(running, a)
		}
	}
	c.mu.Unlock()
	for _, a := range running {
		mine := a.uses(now)
		if len(mine) > 0 {
			all = append(all, a.name)
		}
		for _, i := range mine {
			of[i] = append(of[i], a.name)
		}
	}
	return of, all
}

// holders are the agents that have a lease.
func (c *testCluster) holders() (names []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range c.names {
		if a := c.running[name]; a != nil && a.node.Holds(time.Now()) > 0 {
			names = append(names, name)
		}
	}
	return names
}

// within waits until some agents and no others have leases.
func (c *testCluster) within(limit time.Duration, names ...string) time.Duration {
	c.t.Helper()
	began := time.Now()
	for !slices.Equal(c.holders(), names) {
		if time.Since(began) > limit {
			c.t.Fatalf("after %v these have leases: %v, want %v", limit, c.holders(), names)
		}
		time.Sleep(50 * time.Millisecond)
	}
	return time.Since(began)
}

// watch looks ten times a second whether a thing has two users, until the returned function is called.
func (c *testCluster) watch() (stop func() (used, moments int)) {
	ctx, end := context.WithCancel(c.t.Context())
	var loop sync.WaitGroup
	used, moments := 0, 0
	loop.Go(func() {
		for ctx.Err() == nil {
			of, all := c.users()
			for thing, users := range of {
				if len(users) > 1 {
					c.t.Errorf("%d is used by %v", thing, users)
					return
				}
			}
			if moments++; len(all) > 0 {
				used++
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
	return func() (int, int) {
		end()
		loop.Wait()
		return used, moments
	}
}
