package post

import (
	"fmt"
	"net"
	"net/netip"
	"sync"
)

// lobby bounds the connections that have not shown who they are: so many in all, and so many from one source, so that no source takes all places.
type lobby struct {
	mu  sync.Mutex
	all int
	of  map[netip.Prefix]int // by source: an IPv4 address, or the /64 of an IPv6 address
}

// enter takes a place, which leave gives back.
func (l *lobby) enter(from net.Addr) (leave func(), err error) {
	source := sourceOf(from)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all >= strangersMax {
		return nil, fmt.Errorf("%d others have not shown who they are", l.all)
	}
	if l.of[source] >= strangersOfOne {
		return nil, fmt.Errorf("%d others of %v have not shown who they are", l.of[source], source)
	}
	if l.of == nil {
		l.of = make(map[netip.Prefix]int)
	}
	l.all++
	l.of[source]++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.all--
		if l.of[source]--; l.of[source] == 0 {
			delete(l.of, source)
		}
	}, nil
}

// sourceOf is what counts as one source; that of all addresses that cannot be read is the zero value.
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
