package dnsres

import (
	"net/netip"
	"sync/atomic"
	"time"
)

// upstream is a recursive server with its recent failures.
type upstream struct {
	addr  netip.AddrPort
	fails atomic.Int32 // exchanges without a reply, in a row
	until atomic.Int64 // until this tick, it is tried after the other servers
	edns  extra
	mixed extra // random case in names

	resends resender
}

func (u *upstream) failed(tick int64) {
	n := min(u.fails.Add(1), 6)
	u.until.Store(tick + int64(time.Second<<(n-1)))
}

func (u *upstream) replied() {
	if u.fails.Load() != 0 {
		u.fails.Store(0)
		u.until.Store(0)
	}
}

// order returns the upstreams in the order in which a question tries them. They take turns to be first; those with
// recent failures come last.
func (r *Resolver) order(now time.Time) []*upstream {
	if len(r.ups) == 1 {
		return r.ups
	}
	first := int(r.turn.Add(1) % uint32(len(r.ups)))
	well, sick := make([]*upstream, 0, len(r.ups)), []*upstream(nil)
	for i := range r.ups {
		u := r.ups[(first+i)%len(r.ups)]
		if u.until.Load() > r.tick(now) {
			sick = append(sick, u)
		} else {
			well = append(well, u)
		}
	}
	return append(well, sick...)
}
