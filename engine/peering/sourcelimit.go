package peering

import (
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"
)

// SourceLimit bounds what other machines open here at a time, in all and from one source, so that no source
// occupies all places.
type SourceLimit struct {
	Max       int
	PerSource int

	mu struct {
		sync.Mutex
		all      int
		bySource map[netip.Prefix]int
	}
}

// Enter counts one more from an address, in the form of net.Addr.String, until leave is called. It is refused at a
// limit.
func (l *SourceLimit) Enter(addr string) (leave func(), ok bool) {
	source := sourceOf(addr)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.all >= l.Max || l.mu.bySource[source] >= l.PerSource {
		return nil, false
	}
	if len(l.mu.bySource) == 0 {
		l.mu.bySource = make(map[netip.Prefix]int)
	}
	l.mu.all++
	l.mu.bySource[source]++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.mu.all--
		if l.mu.bySource[source]--; l.mu.bySource[source] == 0 {
			delete(l.mu.bySource, source)
		}
	}, true
}

// Count is how many have entered and not left.
func (l *SourceLimit) Count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.all
}

// sourceOf is what counts as one source: an IPv4 address, or the /64 of an IPv6 address. All addresses that cannot be
// parsed are one source, the zero value.
func sourceOf(addr string) netip.Prefix {
	parsed, err := netip.ParseAddrPort(addr)
	if err != nil {
		return netip.Prefix{}
	}
	ip, bits := parsed.Addr().Unmap().WithZone(""), 32
	if ip.Is6() {
		bits = 64
	}
	source, _ := ip.Prefix(bits) // cannot fail with this number of bits
	return source
}

// What an agent answers in place of an acceptance. The transport carries these to the sender.
var (
	// ErrMalformed says that a message or question cannot be read. The sender must not send it again.
	ErrMalformed = errors.New("peering: a malformed message")
	// ErrBanned says that an agent takes nothing of another for a time.
	ErrBanned = errors.New("peering: banned")
)

// WaitError says that an agent takes no more messages of another for now. The sender keeps them, and waits before it
// sends the next.
type WaitError struct{ Wait time.Duration }

// Error says for how long.
func (e *WaitError) Error() string {
	return fmt.Sprintf("peering: over the quota: wait for %v", e.Wait)
}
