package dnsres

import (
	"net/netip"
	"sync/atomic"
	"time"
)

// upstream is one recursive server and how it has behaved lately.
type upstream struct {
	addr  netip.AddrPort
	fails atomic.Int32 // exchanges without a reply, in a row
	until atomic.Int64 // asked last until then, Unix nanoseconds
}

func (u *upstream) failed(now time.Time) {
	n := min(u.fails.Add(1), 6)
	u.until.Store(now.Add(time.Second << (n - 1)).UnixNano())
}

func (u *upstream) replied() {
	if u.fails.Load() != 0 {
		u.fails.Store(0)
		u.until.Store(0)
	}
}

// order gives the upstreams in the order in which one question tries them: each takes its turn at being first, and
// those that did not reply lately come last.
func (r *Resolver) order(now time.Time) []*upstream {
	if len(r.ups) == 1 {
		return r.ups
	}
	first := int(r.turn.Add(1) % uint32(len(r.ups)))
	well, sick := make([]*upstream, 0, len(r.ups)), []*upstream(nil)
	for i := range r.ups {
		u := r.ups[(first+i)%len(r.ups)]
		if u.until.Load() > now.UnixNano() {
			sick = append(sick, u)
		} else {
			well = append(well, u)
		}
	}
	return append(well, sick...)
}
