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

// contactSeeds tries the seeds one after the other until one answers. It is no error if none does.
func (s *Service) contactSeeds(ctx context.Context) (contacted bool, err error) {
	for _, seed := range s.seedAddrs() {
		err := s.exchangeState(seed)
		switch {
		case errors.Is(err, ErrOtherCrawl) || errors.Is(err, ErrOtherKey):
			return false, err
		case err == nil && s.livingCount() > 0:
			return true, nil
		case ctx.Err() != nil:
			return false, context.Cause(ctx)
		}
	}
	if len(s.o.Seeds) > 0 {
		s.o.Log.Info("no seed answers; trying again in the background", "seeds", s.o.Seeds)
	}
	return false, nil
}

// rejoin contacts missing agents until the Service is closed or lost. Memberlist forgets dead agents, so two sides of a
// partition would never meet again (M4).
func (s *Service) rejoin(exchanged bool) {
	timer := time.NewTimer(s.o.Timings.RejoinInterval)
	defer timer.Stop()
	admitted := s.admitted
	if exchanged {
		admitted = nil
	}
	for {
		pause := s.o.Timings.RejoinInterval
		if s.livingCount() == 0 {
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
			s.exchangeWithMember()
			continue
		case <-s.suspected:
			// Memberlist refutes by gossip, and its queue may lose a message: it restarts its message numbers when it is
			// empty, and of two messages with one number and one length it drops one. A member that learns the
			// refutation in a full exchange gossips it again.
			s.exchangeWithMember()
			continue
		case <-timer.C:
		}
		if at, ok := s.missingAddr(s.seedAddrs()); ok {
			_ = s.exchangeState(at) // the next round tries again
		}
	}
}

// exchangeState exchanges the full state with the process at an address. Memberlist joins errors as text, so the text
// shows which error of this package is inside.
func (s *Service) exchangeState(at netip.AddrPort) error {
	_, err := s.list.Join([]string{at.String()})
	switch {
	case err == nil:
		return nil
	case strings.Contains(err.Error(), ErrOtherCrawl.Error()):
		return fmt.Errorf("%w: the agent at %v: %w", ErrOtherCrawl, at, err)
	case strings.Contains(err.Error(), ErrOtherKey.Error()):
		return fmt.Errorf("%w: the agent at %v: %w: give all agents of a crawl files from one `orbweaver ca`, or none",
			ErrOtherKey, at, err)
	}
	return fmt.Errorf("membership: %v: %w", at, err)
}

// exchangeWithMember exchanges the full state with a random reachable member. A process that was admitted a moment ago
// may have missed changes of that moment, and other agents may have missed it.
func (s *Service) exchangeWithMember() {
	st := &s.state
	st.mu.Lock()
	var at []netip.AddrPort
	for _, p := range st.table.living {
		if p.stage == member && p.unreachableSince.IsZero() {
			at = append(at, p.agent.GossipAddr)
		}
	}
	st.mu.Unlock()
	if len(at) > 0 {
		_ = s.exchangeState(at[rand.IntN(len(at))]) // memberlist's regular exchange follows in any case
	}
}

// livingCount is the number of other living processes.
func (s *Service) livingCount() int {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	return len(s.state.table.living)
}

// seedAddrs returns the addresses of the seeds, without this agent's own.
func (s *Service) seedAddrs() (addrs []netip.AddrPort) {
	for _, seed := range s.o.Seeds {
		a, err := netip.ParseAddrPort(seed)
		if a = netip.AddrPortFrom(a.Addr().Unmap(), a.Port()); err == nil && a != s.o.Self.GossipAddr {
			addrs = append(addrs, a)
		}
	}
	return addrs
}

// rejoinersPerAddr is about how many agents try each missing address in a RejoinInterval. In a larger group each agent
// tries with a lower probability.
const rejoinersPerAddr = 8

// missingAddr picks an address where an agent is expected but not known: a seed, or the address of a dead agent.
func (s *Service) missingAddr(seeds []netip.AddrPort) (netip.AddrPort, bool) {
	st := &s.state
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
