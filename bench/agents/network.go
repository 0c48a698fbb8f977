package agents

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"orbweaver/internal/trial/load"
)

// network is where the agents of a run live, and what happens to it.
type network interface {
	// place gives agent k its addresses and, if it lives elsewhere, the way to run commands there.
	place(ctx context.Context, f *fleet, a *agent, k int) error
	// complete adds to the arguments of an agent those by which it finds the others.
	complete(f *fleet, a *agent, args []string) []string
	// serve starts the web that the agents crawl.
	serve(ctx context.Context, f *fleet, args []string) (*load.Child, error)
	// step does what is due.
	step(ctx context.Context, f *fleet, now time.Time) error
	// checkPlayed returns an error if the run ended before everything had happened to the network.
	checkPlayed(f *fleet) error
	// report adds to a run what the web's log says about the network.
	report(f *fleet, r *Run, begun time.Time) error
	// close removes the network.
	close()
}

// loopback is the network of agents that share the loopback of this machine. Nothing happens to it.
type loopback struct{ ports *ports }

func newLoopback() *loopback { return &loopback{newPorts()} }

func (l *loopback) place(ctx context.Context, f *fleet, a *agent, _ int) (err error) {
	if !f.p.peering() {
		return nil
	}
	if a.gossip, err = l.ports.free(ctx); err != nil {
		return err
	}
	a.post, err = l.ports.free(ctx)
	return err
}

func (l *loopback) complete(f *fleet, a *agent, args []string) []string {
	if !f.p.peering() { // it would refuse what is for one of several agents
		ofAgents := func(arg string) bool { return strings.HasPrefix(arg, "--agent") }
		return append(args, slices.DeleteFunc(slices.Clone(f.o.Pass), ofAgents)...)
	}
	args = append(args, f.o.Pass...)
	args = append(args, "--agent", a.id, "--agent-plain", "--gossip", a.gossip, "--agent-listen", a.post,
		"--capacity", fmt.Sprint(a.capacity))
	first := 0
	for _, b := range f.agents {
		if !f.late(b) {
			first++
		}
		if b != a && (!f.late(b) || f.late(a)) { // an agent that comes later cannot be joined
			args = append(args, "--join", b.gossip)
		}
	}
	if a.lives > 0 || f.late(a) {
		first = 1
	}
	return append(args, "--agents", fmt.Sprint(first))
}

func (l *loopback) serve(ctx context.Context, f *fleet, args []string) (*load.Child, error) {
	return load.StartChild(ctx, f.o.Program, f.p.world, f.p.agents, args...)
}

func (l *loopback) step(context.Context, *fleet, time.Time) error { return nil }

func (l *loopback) checkPlayed(*fleet) error { return nil }

func (l *loopback) report(*fleet, *Run, time.Time) error { return nil }

func (l *loopback) close() {}
