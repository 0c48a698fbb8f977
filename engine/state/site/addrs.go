package site

import (
	"net/netip"
	"slices"
	"time"
)

// AddrsMax is the largest number of addresses of a site. Decode rejects more.
const AddrsMax = 1024

// Addrs are the addresses of the host name of a site.
type Addrs struct {
	list  []netip.Addr // the current one first; nil if the only address is the one that the workbench uses as its key
	until int64        // when the name must be resolved again, Unix nanoseconds; 0 for never
}

// Current returns the current address. key is the address that the workbench uses for the site.
func (a Addrs) Current(key netip.Addr) netip.Addr {
	if len(a.list) > 0 {
		return a.list[0]
	}
	return key
}

// Count returns the number of addresses, at least 1.
func (a Addrs) Count() int { return max(len(a.list), 1) }

// CurrentFirst returns addrs in an order with the current address first, if it is among them: it is the last one that
// worked, or the next one to try. key is the address that the workbench uses for the site.
func (a Addrs) CurrentFirst(addrs []netip.Addr, key netip.Addr) []netip.Addr {
	i := slices.Index(addrs, a.Current(key))
	if i <= 0 {
		return addrs
	}
	return slices.Concat(addrs[i:i+1], addrs[:i], addrs[i+1:])
}

// Expired reports whether the name must be resolved again. Addresses that claim to be valid for more than a day count
// as expired: the clock was set back.
func (a Addrs) Expired(now time.Time) bool {
	return a.until != 0 && (now.UnixNano() > a.until || a.until > now.Add(RobotsLifetime).UnixNano())
}

// Addrs returns the addresses of the host name.
func (s *State) Addrs() Addrs {
	a := Addrs{until: s.addrUntil}
	if s.rare != nil {
		a.list = s.rare.addrs
	}
	return a
}

// SetAddrs stores the addresses of the host name, at most AddrsMax; there must be at least one. The first one becomes
// the current address. until is when the addresses expire; zero for never. key is the address that the workbench uses
// for the site. SetAddrs takes addrs.
func (s *State) SetAddrs(addrs []netip.Addr, key netip.Addr, until time.Time) {
	addrs, s.addrUntil = addrs[:min(len(addrs), AddrsMax)], unixNano(until)
	if len(addrs) < 2 && addrs[0] == key {
		addrs = nil
	}
	s.SetAddrsAndFailures(addrs, s.FailureStreak())
}

// KeepAddr stores the current address beside the key of the workbench, which is about to be another one.
func KeepAddr(s *State, addr netip.Addr) {
	if s.Addrs().list == nil {
		s.SetAddrsAndFailures([]netip.Addr{addr}, s.FailureStreak())
	}
}

// AddrFailures returns how many of the consecutive failures of the site belong to its addresses: a host that has not
// been tried on all of them may be up.
func (s *State) AddrFailures() int { return max(min(int(s.Failures), s.Addrs().Count()-1), 0) }

// HasUntriedAddr reports whether the site has, beside its current address, one that has not failed since it answered.
func (s *State) HasUntriedAddr() bool { return s.AddrFailures() < s.Addrs().Count()-1 }

// RotateAddrs moves the current address to the end and returns the next one. It panics if there is only one address.
func (s *State) RotateAddrs() netip.Addr {
	all := s.Addrs().list
	turned := append(slices.Clone(all[1:]), all[0])
	s.SetAddrsAndFailures(turned, s.FailureStreak())
	return turned[0]
}
