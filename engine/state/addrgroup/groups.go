package addrgroup

import (
	"net/netip"
	"sync"
	"time"

	"orbweaver/engine/net/politeness"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/state/settings"
)

// Groups say under which address key a site has its place. They are safe for concurrent use.
type Groups struct {
	rules *settings.HostRules
	keys  politeness.AddrKeys

	shared sharedAddrs

	mu      sync.RWMutex
	learned map[netip.Addr]string // address keys of hosts that are in a group by their name, and the group
}

// learnedMax is the largest number of addresses that are learned. More hosts of a group are in it alone.
const learnedMax = 1 << 20

// New returns the groups of the rules. Addresses without a group have the keys of keys.
func New(rules *settings.HostRules, keys politeness.AddrKeys) *Groups {
	return &Groups{
		rules: rules, keys: keys, learned: make(map[netip.Addr]string),
		shared: sharedAddrs{due: make(map[netip.Addr]time.Time)},
	}
}

// KeyOf returns the address key of a site at an address. key is the one under which it has its place: then it is not in
// use by another site. Only a Visit may ask, because it holds that key.
func (g *Groups) KeyOf(s *filter.HostSettings, addr, key netip.Addr) netip.Addr {
	if !g.AreSet() && !politeness.IsGroupKey(key) {
		return key
	}
	own := g.keys.KeyOf(addr)
	if name := g.groupOf(s, addr, own, key); name != "" {
		return politeness.GroupKey(name)
	}
	return own
}

// KeyOfAddr returns the key of an address alone. A Visit finds out whether its site belongs elsewhere.
func (g *Groups) KeyOfAddr(addr netip.Addr) netip.Addr { return g.keys.KeyOf(addr) }

// SharedAddr returns the key of the address of a site of a group, if its group comes from its name: other groups may
// have sites at that address, and other agents sites that are in no group. The zero value says that there are none.
func (g *Groups) SharedAddr(addr, key netip.Addr) (own netip.Addr) {
	if politeness.IsGroupKey(key) && g.rules.GroupAt(addr) == "" {
		own = g.keys.KeyOf(addr)
	}
	return own
}

// groupOf returns the group of a site, and learns it for the other sites of its address. Only a Visit that holds the
// address may teach it: in any other, one of these sites may be in an exchange. So the site first goes to its address.
func (g *Groups) groupOf(s *filter.HostSettings, addr, own, key netip.Addr) string {
	if at := g.rules.GroupAt(addr); at != "" {
		return at
	}
	name, hasRoom := g.learnedAt(own)
	isLearned := name != "" && g.exists(name)
	switch {
	case s.Group != "" && isLearned, s.Group != "" && !hasRoom:
		return s.Group
	case s.Group != "" && key != own:
		return ""
	case s.Group != "":
		g.learn(own, s.Group)
		return s.Group
	case isLearned:
		return name
	default:
		return ""
	}
}

// learnedAt returns the group that was learned for an address, "" for none, and whether another one can be learned.
func (g *Groups) learnedAt(own netip.Addr) (name string, hasRoom bool) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	name, has := g.learned[own]
	return name, has || len(g.learned) < learnedMax
}

// exists reports whether a rule names a group.
func (g *Groups) exists(name string) bool {
	_, ok := g.rules.Groups()[politeness.GroupKey(name)]
	return ok
}

func (g *Groups) learn(own netip.Addr, name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, has := g.learned[own]; has || len(g.learned) < learnedMax {
		g.learned[own] = name
	}
}

// Restore learns the address of a site that an earlier run has placed under a key, and returns the key of the address
// alone. The site may have no address.
func (g *Groups) Restore(s *filter.HostSettings, addr, key netip.Addr) netip.Addr {
	if !politeness.IsGroupKey(key) {
		return key
	}
	own := g.keys.KeyOf(addr)
	if s.Group != "" && key == politeness.GroupKey(s.Group) {
		g.learn(own, s.Group)
	}
	return own
}

// AreSet reports whether there are groups.
func (g *Groups) AreSet() bool { return len(g.rules.Groups()) > 0 }

// Name returns the name of the group whose key is given; "" if the key is that of an address.
func (g *Groups) Name(key netip.Addr) string {
	if !politeness.IsGroupKey(key) {
		return ""
	}
	return g.rules.Groups()[key].Name
}

// Delay returns the delay of the group whose key is given; 0 if the key is that of an address.
func (g *Groups) Delay(key netip.Addr) time.Duration { return g.rules.Groups()[key].Delay }

// Groups that have hosts at the same address by their names have places of their own in the workbench. So the workbench
// does not keep their requests to that address apart, and sharedAddrs does.

// sharedAddrs are addresses that a site of a group contacts, or that must not be contacted yet. It is safe for
// concurrent use.
type sharedAddrs struct {
	mu      sync.Mutex
	due     map[netip.Addr]time.Time // zero while there is an exchange
	sweepAt int                      // number of addresses at which those that are due are removed
}

const (
	sweepLeast = 64
	// inUseWait is after what time a site asks again for an address that is in an exchange.
	inUseWait = time.Second
)

// BeginExchange reports whether a site of a group may contact an address (see SharedAddr) now. If not, retryAt is when
// to ask again.
func (g *Groups) BeginExchange(own netip.Addr, now time.Time) (ok bool, retryAt time.Time) {
	s := &g.shared
	s.mu.Lock()
	defer s.mu.Unlock()
	due, known := s.due[own]
	switch {
	case known && due.IsZero():
		return false, now.Add(inUseWait)
	case due.After(now):
		return false, due
	}
	if !known && len(s.due) >= s.sweepAt {
		for addr, due := range s.due {
			if !due.IsZero() && !due.After(now) {
				delete(s.due, addr)
			}
		}
		s.sweepAt = max(2*len(s.due), sweepLeast)
	}
	s.due[own] = time.Time{}
	return true, time.Time{}
}

// EndExchange ends what BeginExchange began. Nothing contacts the address before due.
func (g *Groups) EndExchange(own netip.Addr, due, now time.Time) {
	s := &g.shared
	s.mu.Lock()
	defer s.mu.Unlock()
	if due.After(now) {
		s.due[own] = due
	} else {
		delete(s.due, own)
	}
}
