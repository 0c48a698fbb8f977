package fetch

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"
)

// ownAddrs are the addresses of this machine's interfaces. They change while a crawl runs, so they are looked up again now and then, by
// whoever asks when it is time; what an operator's router does to them is not seen. Nil has none. Safe for concurrent use.
type ownAddrs struct {
	list  atomic.Pointer[[]netip.Addr]
	again atomic.Int64 // ns from start when the list is to be looked up again
	start time.Time
}

// ownLife is how long the list is believed.
const ownLife = 10 * time.Second

func newOwnAddrs() (*ownAddrs, error) {
	o := &ownAddrs{start: time.Now()}
	o.again.Store(int64(ownLife))
	return o, o.look()
}

// look asks the system.
func (o *ownAddrs) look() error {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return fmt.Errorf("fetch: the addresses of this machine: %w", err)
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

// has says whether ip, unmapped, is one of them.
func (o *ownAddrs) has(ip netip.Addr) bool {
	if o == nil {
		return false
	}
	now := int64(time.Since(o.start))
	if again := o.again.Load(); now >= again && o.again.CompareAndSwap(again, now+int64(ownLife)) {
		_ = o.look() // if it fails, what was known still holds
	}
	return slices.Contains(*o.list.Load(), ip)
}
