package members

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

// soughtFor is how long an agent that was taken for dead is looked for, at the address that it had.
const soughtFor = 24 * time.Hour

// firstContact tries the seeds one after the other until one answers. Nobody at all is no error.
func (g *Group) firstContact(ctx context.Context) (met bool, err error) {
	for _, seed := range g.seeds(ctx) {
		err := g.visit(seed)
		switch {
		case errors.Is(err, ErrCrawl) || errors.Is(err, ErrKey):
			return false, err
		case err == nil && g.company() > 0:
			return true, nil
		case ctx.Err() != nil:
			return false, context.Cause(ctx)
		}
	}
	if len(g.o.Seeds) > 0 {
		g.o.Log.Info("no other agent answers yet; looking on", "seeds", g.o.Seeds)
	}
	return false, nil
}

// seek looks for agents that are missing, as long as the Group lives: memberlist forgets the dead, and two sides of a partition that has
// healed would never find each other.
func (g *Group) seek(greeted bool) {
	timer := time.NewTimer(g.o.Timings.Seek)
	defer timer.Stop()
	claimed := g.claimed
	if greeted {
		claimed = nil
	}
	for {
		pause := g.o.Timings.Seek
		if g.company() == 0 {
			pause /= 5
		}
		timer.Reset(pause*3/4 + rand.N(pause/2)) // not all at the same moment
		select {
		case <-g.ctx.Done():
			return
		case <-g.lost:
			return
		case <-claimed:
			claimed = nil
			g.greet()
			continue
		case <-g.refuting:
			// Its broadcast may be lost: memberlist's queue numbers messages anew when it runs empty, and of two of one number and length it
			// drops one. One that is told in person passes it on.
			g.greet()
			continue
		case <-timer.C:
		}
		if at, ok := g.missing(g.seeds(g.ctx)); ok {
			_ = g.visit(at) // it is tried again
		}
	}
}

// visit exchanges all that both sides know with the process at an address.
func (g *Group) visit(at netip.AddrPort) error {
	_, err := g.list.Join([]string{at.String()})
	switch {
	case err == nil:
		return nil
	case strings.Contains(err.Error(), ErrCrawl.Error()):
		return fmt.Errorf("%w: the agent at %v: %w: check --join", ErrCrawl, at, err)
	case isKeyFault(err.Error()):
		return fmt.Errorf("%w: %v does not understand us: give all agents of a crawl files that one `orbweaver ca` made, or none: %w", ErrKey, at, err)
	}
	return fmt.Errorf("members: %v: %w", at, err)
}

// greet exchanges all with one of the others, since who came a moment ago may have missed what was said in that moment, and so may they.
func (g *Group) greet() {
	g.mu.Lock()
	var at []netip.AddrPort
	for _, p := range g.roster.living {
		if p.stage == member && p.doubted.IsZero() {
			at = append(at, p.agent.Gossip)
		}
	}
	g.mu.Unlock()
	if len(at) > 0 {
		_ = g.visit(at[rand.IntN(len(at))]) // the regular exchange comes later in any case
	}
}

// company is how many other processes live.
func (g *Group) company() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.roster.living)
}

// seeds are the addresses of the seeds.
func (g *Group) seeds(ctx context.Context) (addrs []netip.AddrPort) {
	for _, seed := range g.o.Seeds {
		a, err := netip.ParseAddrPort(seed)
		if err == nil {
			addrs = append(addrs, a)
			continue
		}
		found, err := g.o.Resolve(ctx, seed)
		if err != nil {
			g.o.Log.Warn("a seed has no address", "seed", seed, "error", err)
		}
		addrs = append(addrs, found...)
	}
	for i, a := range addrs {
		addrs[i] = netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
	}
	return slices.DeleteFunc(addrs, func(a netip.AddrPort) bool { return a == g.o.Self.Gossip })
}

// seekers is how many agents look for each one that is missing in each Seek, about: in larger groups chance decides who does.
const seekers = 8

// missing draws one of the addresses where an agent should be and is not known to be: a seed, or where one died.
func (g *Group) missing(seeds []netip.AddrPort) (netip.AddrPort, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now, r := time.Now(), g.roster
	var away []netip.AddrPort
	for _, at := range seeds {
		if !r.lives(at) {
			away = append(away, at)
		}
	}
	for _, gone := range r.absent() {
		if !gone.Left && now.Sub(gone.When) < soughtFor && !r.lives(gone.Agent.Gossip) && !slices.Contains(away, gone.Agent.Gossip) {
			away = append(away, gone.Agent.Gossip)
		}
	}
	if len(away) == 0 || rand.IntN(1+len(r.living)) >= seekers*len(away) {
		return netip.AddrPort{}, false
	}
	return away[rand.IntN(len(away))], true
}
