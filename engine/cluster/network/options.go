package network

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"

	"orbweaver/engine/peering/identity"
	"orbweaver/engine/peering/membership"
)

// Options identify an agent. ID, GossipAddr and MessageAddr have no default.
type Options struct {
	// ID is 1 to 64 letters, digits, dots, hyphens and underscores, the first a letter or digit.
	ID          string
	Capacity    int            // its share, in proportion to the others', 1 to membership.MaxCapacity [1]
	GossipAddr  netip.AddrPort // where it listens for membership, UDP and TCP; port 0 for a free one
	MessageAddr netip.AddrPort // where it listens for messages; port 0 for a free one
	// Settings are those that all agents must have, each as " --NAME VALUE": an agent with other ones is refused.
	Settings string
	Join     []string // gossip addresses of other agents, ADDRESS:PORT; one reachable address is enough

	Identity *identity.Identity // nil: plain text, on loopback alone

	// Generations are the newest generations of the agents' certificates, which SaveGenerations keeps across restarts:
	// see transport.Options. Without them they are kept in memory alone.
	Generations     map[string]uint64
	SaveGenerations func(newest map[string]uint64) error

	Timings membership.Timings // how fast agents talk; zero for the defaults
	Log     *slog.Logger       // nil: no log
}

// plainCrawl is the crawl of all agents that have no certificates.
const plainCrawl = "plain"

// ErrOptions is wrapped by every fault of Options.
var ErrOptions = errors.New("network: bad options")

// WithDefaults returns a copy in which zero fields have their defaults.
func (o Options) WithDefaults() Options {
	if o.Capacity == 0 {
		o.Capacity = 1
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Validate returns all faults joined, each wrapping ErrOptions.
func (o Options) Validate() error {
	var faults []error
	bad := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("%w: %w", ErrOptions, fmt.Errorf(format, args...)))
	}
	if err := identity.CheckName(o.ID); err != nil {
		bad("%w", err)
	}
	if o.Identity != nil && o.ID != o.Identity.ID {
		bad("the file is that of agent %s, and this agent is %s", o.Identity.ID, o.ID)
	}
	if o.Capacity < 1 || o.Capacity > membership.MaxCapacity {
		bad("capacity %d: want 1 to %d", o.Capacity, membership.MaxCapacity)
	}
	if o.Identity != nil && o.Capacity > identity.CapacityOf(o.Identity.Certificate.Leaf) {
		bad("capacity %d: the agent's file allows %d: make a new one (\"orbweaver ca issue %s --capacity %d --force\")",
			o.Capacity, identity.CapacityOf(o.Identity.Certificate.Leaf), o.ID, o.Capacity)
	}
	addrs := []netip.AddrPort{o.GossipAddr, o.MessageAddr}
	for _, join := range o.Join {
		a, err := netip.ParseAddrPort(join)
		if err != nil || a.Port() == 0 {
			bad("%q is no ADDRESS:PORT of an agent", join)
			continue
		}
		addrs = append(addrs, a)
	}
	for _, a := range addrs {
		switch {
		case !a.IsValid() || a.Addr().IsUnspecified():
			bad("%v: the others must be able to reach it: give an address of this machine", a)
		case o.Identity == nil && !a.Addr().Unmap().IsLoopback():
			bad("%v: without certificates agents talk on loopback alone: make some (\"orbweaver ca init\")", a)
		}
	}
	return errors.Join(faults...)
}
