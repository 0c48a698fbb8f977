package transport

import (
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"orbweaver/engine/peering"
)

// handshakeLimit bounds the connections that have not shown a certificate, in all and for each source. So one source
// cannot occupy all places.
type handshakeLimit struct {
	mu       sync.Mutex
	all      int
	bySource map[netip.Prefix]int // an IPv4 address, or the /64 of an IPv6 address
}

// enter counts a connection until leave is called.
func (l *handshakeLimit) enter(from net.Addr) (leave func(), err error) {
	source := sourceOf(from)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all >= handshakesMax {
		return nil, fmt.Errorf("%w: %d connections have shown no certificate yet", errTooMany, l.all)
	}
	if l.bySource[source] >= handshakesPerSource {
		return nil, fmt.Errorf("%w: %d connections of %v have shown no certificate yet",
			errTooMany, l.bySource[source], source)
	}
	if l.bySource == nil {
		l.bySource = make(map[netip.Prefix]int)
	}
	l.all++
	l.bySource[source]++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.all--
		if l.bySource[source]--; l.bySource[source] == 0 {
			delete(l.bySource, source)
		}
	}, nil
}

// sourceOf is what counts as one source. All addresses that cannot be parsed are one source, the zero value.
func sourceOf(from net.Addr) netip.Prefix {
	addr, err := netip.ParseAddrPort(from.String())
	if err != nil {
		return netip.Prefix{}
	}
	ip, bits := addr.Addr().Unmap(), 32
	if ip.Is6() {
		bits = 64
	}
	source, err := ip.WithZone("").Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return source
}

// connsPerAgent is one connection in use, and others whose loss this end has not noticed yet.
const connsPerAgent = 4

// connLimit bounds the accepted connections, of one agent and in all.
type connLimit struct {
	mu     sync.Mutex
	byID   map[string]int // in plain text all connections count for ""
	all    int
	allMax int
}

func newConnLimit(peers int) *connLimit {
	return &connLimit{byID: make(map[string]int), allMax: peers * connsPerAgent}
}

// enter counts a connection until leave is called.
func (l *connLimit) enter(id string) (leave func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all >= l.allMax || id != "" && l.byID[id] >= connsPerAgent {
		return nil, fmt.Errorf("%w: the agent has %d connections, all agents have %d", errTooMany, l.byID[id], l.all)
	}
	l.all++
	l.byID[id]++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.all--
		if l.byID[id]--; l.byID[id] == 0 {
			delete(l.byID, id)
		}
	}, nil
}

// banList holds the agents whose messages are refused. Ended bans are removed when another begins.
type banList struct {
	mu   sync.Mutex
	bans map[string]ban
}

type ban struct {
	until  time.Time
	reason string
}

func (b *banList) add(id, reason string, until time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	for other, old := range b.bans {
		if now.After(old.until) {
			delete(b.bans, other)
		}
	}
	if b.bans == nil {
		b.bans = make(map[string]ban)
	}
	b.bans[id] = ban{until, reason}
}

// check returns an error that wraps peering.ErrBanned if the agent is banned.
func (b *banList) check(id string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	remaining := time.Until(b.bans[id].until)
	if remaining <= 0 {
		return nil
	}
	return fmt.Errorf("%w: for another %v: %s", peering.ErrBanned, remaining.Round(time.Second), b.bans[id].reason)
}
