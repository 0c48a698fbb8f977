package addrgroup

import (
	"net/netip"
	"sync"
	"time"
)

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
