package addrguard

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"
)

// ownAddrs are the addresses of this machine's interfaces. They may change during a crawl, so a check looks them up
// again when the list is old. Address translation on a router is not detected. The zero value has no
// addresses. It is safe for concurrent use.
type ownAddrs struct {
	list       atomic.Pointer[[]netip.Addr]
	nextLookup atomic.Int64 // time of the next lookup, in ns from start
	start      time.Time
}

// ownAddrsLifetime is how long the list is used.
const ownAddrsLifetime = 10 * time.Second

func newOwnAddrs() (*ownAddrs, error) {
	o := &ownAddrs{start: time.Now()}
	o.nextLookup.Store(int64(ownAddrsLifetime))
	return o, o.lookUp()
}

// lookUp asks the system.
func (o *ownAddrs) lookUp() error {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return fmt.Errorf("addrguard: the addresses of this machine: %w", err)
	}
	list := make([]netip.Addr, 0, len(all))
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok {
			if ip, ok := netip.AddrFromSlice(n.IP); ok {
				list = append(list, ip.Unmap())
			}
		}
	}
	o.list.Store(&list)
	return nil
}

// has reports whether ip, unmapped, is one of them.
func (o *ownAddrs) has(ip netip.Addr) bool {
	if o.list.Load() == nil {
		return false
	}
	now := int64(time.Since(o.start))
	if again := o.nextLookup.Load(); now >= again && o.nextLookup.CompareAndSwap(again, now+int64(ownAddrsLifetime)) {
		_ = o.lookUp() // on an error the old list stays in use
	}
	return slices.Contains(*o.list.Load(), ip)
}
