package members

import (
	"errors"
	"fmt"
	"net/netip"
)

// Agent is one process of a crawl, as the others know it.
type Agent struct {
	ID          string         // what the operator calls it: 1 to 64 of a-z A-Z 0-9 . _ -, no two of a crawl alike
	Capacity    int            // 1 to CapacityMax: its share in proportion to the others'
	Gossip      netip.AddrPort // where it listens for membership, UDP and TCP
	Post        netip.AddrPort // where it listens for letters
	Incarnation uint64         // grows with each start, by the caller's word: tells a restarted agent from the old one, and nothing else
	Crawl       string         // which crawl it belongs to, 1 to 64 printable ASCII characters: agents of others are refused
	Version     int            // of the letters' protocol, 0 to 65535: carried, not judged
}

const (
	// CapacityMax bounds capacities: only their proportion counts.
	CapacityMax = 1000
	// nameMax is the longest ID and the longest name of a crawl, in bytes. With it the data of a member stay far under memberlist's 512.
	nameMax = 64
)

// ErrAgent is wrapped by every fault of an Agent.
var ErrAgent = errors.New("members: bad agent")

// faults are all that is wrong with what a caller or a datagram says about an agent. Addresses are checked where they are used.
func (a *Agent) faults() (faults []error) {
	check := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf("%w: %s", ErrAgent, fmt.Sprintf(format, args...)))
		}
	}
	check(isName(a.ID), "identifier %q: want 1 to %d of a-z A-Z 0-9 . _ -", a.ID, nameMax)
	check(a.Capacity >= 1 && a.Capacity <= CapacityMax, "capacity %d: want 1 to %d", a.Capacity, CapacityMax)
	check(isPrintable(a.Crawl), "crawl %q: want 1 to %d printable ASCII characters", a.Crawl, nameMax)
	check(a.Version >= 0 && a.Version <= 1<<16-1, "version %d of the letters: want 0 to 65535", a.Version)
	return faults
}

func isName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return s != "" && len(s) <= nameMax
}

func isPrintable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return s != "" && len(s) <= nameMax
}
