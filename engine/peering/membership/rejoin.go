package membership

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// rejoinPeriod is how long the address of a dead agent is tried.
const rejoinPeriod = 24 * time.Hour

// rejoiner contacts agents by address: the seeds during Join, later the missing agents.
type rejoiner struct{ s *Service }

// contactSeeds tries the seeds one after the other until one answers. It is no error if none does.
func (r rejoiner) contactSeeds(ctx context.Context) (contacted bool, err error) {
	for _, seed := range r.seedAddrs(ctx) {
		err := r.exchangeState(seed)
		switch {
		case errors.Is(err, ErrOtherCrawl) || errors.Is(err, ErrOtherKey):
			return false, err
		case err == nil && r.livingCount() > 0:
			return true, nil
		case ctx.Err() != nil:
			return false, context.Cause(ctx)
		}
	}
	if len(r.s.o.Seeds) > 0 {
		r.s.o.Log.Info("no seed answers; trying again in the background", "seeds", r.s.o.Seeds)
	}
	return false, nil
}

// loop contacts missing agents until the Service is closed or lost. Memberlist forgets dead agents, so two sides of a
// partition would never meet again (M4).
func (r rejoiner) loop(exchanged bool) {
	s := r.s
	timer := time.NewTimer(s.o.Timings.RejoinInterval)
	defer timer.Stop()
	admitted := s.admitted
	if exchanged {
		admitted = nil
	}
	for {
		pause := s.o.Timings.RejoinInterval
		if r.livingCount() == 0 {
			pause /= 5
		}
		timer.Reset(pause*3/4 + rand.N(pause/2)) // so that agents do not try at the same moment
		select {
		case <-s.ctx.Done():
			return
		case <-s.lost:
			return
		case <-admitted:
			admitted = nil
			r.exchangeWithMember()
			continue
		case <-s.suspected:
			// Memberlist refutes by gossip, and its queue may lose a message: it restarts its message numbers when it is
			// empty, and of two messages with one number and one length it drops one. A member that learns the
			// refutation in a full exchange gossips it again.
			r.exchangeWithMember()
			continue
		case <-timer.C:
		}
		if at, ok := r.missingAddr(r.seedAddrs(s.ctx)); ok {
			_ = r.exchangeState(at) // the next round tries again
		}
	}
}

// exchangeState exchanges the full state with the process at an address. Memberlist joins errors as text, so the text
// shows which error of this package is inside.
func (r rejoiner) exchangeState(at netip.AddrPort) error {
	_, err := r.s.list.Join([]string{at.String()})
	switch {
	case err == nil:
		return nil
	case strings.Contains(err.Error(), ErrOtherCrawl.Error()):
		return fmt.Errorf("%w: the agent at %v: %w: check --join", ErrOtherCrawl, at, err)
	case strings.Contains(err.Error(), ErrOtherKey.Error()):
		return fmt.Errorf("%w: the agent at %v: %w: give all agents of a crawl files from one `orbweaver ca`, or none",
			ErrOtherKey, at, err)
	}
	return fmt.Errorf("membership: %v: %w", at, err)
}

// exchangeWithMember exchanges the full state with a random reachable member. A process that was admitted a moment ago
// may have missed changes of that moment, and other agents may have missed it.
func (r rejoiner) exchangeWithMember() {
	st := &r.s.state
	st.mu.Lock()
	var at []netip.AddrPort
	for _, p := range st.table.living {
		if p.stage == member && p.unreachableSince.IsZero() {
			at = append(at, p.agent.GossipAddr)
		}
	}
	st.mu.Unlock()
	if len(at) > 0 {
		_ = r.exchangeState(at[rand.IntN(len(at))]) // memberlist's regular exchange follows in any case
	}
}

// livingCount is the number of other living processes.
func (r rejoiner) livingCount() int {
	r.s.state.mu.Lock()
	defer r.s.state.mu.Unlock()
	return len(r.s.state.table.living)
}

// seedAddrs returns the addresses of the seeds, without this agent's own.
func (r rejoiner) seedAddrs(ctx context.Context) (addrs []netip.AddrPort) {
	o := &r.s.o
	for _, seed := range o.Seeds {
		a, err := netip.ParseAddrPort(seed)
		if err == nil {
			addrs = append(addrs, a)
			continue
		}
		found, err := o.Resolve(ctx, seed)
		if err != nil {
			o.Log.Warn("cannot resolve a seed", "seed", seed, "error", err)
		}
		addrs = append(addrs, found...)
	}
	for i, a := range addrs {
		addrs[i] = netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
	}
	return slices.DeleteFunc(addrs, func(a netip.AddrPort) bool { return a == o.Self.GossipAddr })
}

// rejoinersPerAddr is about how many agents try each missing address in a RejoinInterval. In a larger group each agent
// tries with a lower probability.
const rejoinersPerAddr = 8

// missingAddr picks an address where an agent is expected but not known: a seed, or the address of a dead agent.
func (r rejoiner) missingAddr(seeds []netip.AddrPort) (netip.AddrPort, bool) {
	st := &r.s.state
	st.mu.Lock()
	defer st.mu.Unlock()
	now, t := time.Now(), st.table
	var missing []netip.AddrPort
	for _, at := range seeds {
		if !t.hasProcessAt(at) {
			missing = append(missing, at)
		}
	}
	for _, p := range t.pastMembers() {
		at := p.Agent.GossipAddr
		if !p.HasLeft && now.Sub(p.At) < rejoinPeriod && !t.hasProcessAt(at) && !slices.Contains(missing, at) {
			missing = append(missing, at)
		}
	}
	if len(missing) == 0 || rand.IntN(1+len(t.living)) >= rejoinersPerAddr*len(missing) {
		return netip.AddrPort{}, false
	}
	return missing[rand.IntN(len(missing))], true
}
