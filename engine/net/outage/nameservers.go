package outage

import (
	"context"
	"fmt"
	"net/netip"
	"sync/atomic"
	"time"

	"orbweaver/dnsres"
)

// NameServers watches all name servers together. It logs when none of them answers any more, and when one answers
// again.
type NameServers struct {
	detector outageDetector
	warn     func(msg string, args ...any)
	Down     atomic.Bool
	isHijack atomic.Bool // it was logged
}

// NewNameServers returns the NameServers of a resolver, which may be an outageDetector, as dnsres.Resolver is.
// warn logs warnings with key-value fields.
func NewNameServers(r any, warn func(msg string, args ...any)) *NameServers {
	detector, ok := r.(outageDetector)
	if !ok {
		detector = noDetector{}
	}
	return &NameServers{detector: detector, warn: warn}
}

// Check asks the resolver and reports whether no name server answers. It updates Down and logs a change.
func (n *NameServers) Check() bool {
	health := n.detector.Health()
	switch down := health.Down; {
	case !n.Down.CompareAndSwap(!down, down): // no change
	case down:
		n.warn("no name server answers: hosts without an address wait and are tried again every 10 s; "+
			"check the network and --resolver",
			"servers", fmt.Sprint(health.Servers), "since", health.FailingSince.UTC().Format(time.RFC3339))
	default:
		n.warn("the name servers answer again", "servers", fmt.Sprint(health.Servers))
	}
	return health.Down
}

// CheckHijack finds out, once, whether the name servers answer names that do not exist, and logs a warning if they do.
func (n *NameServers) CheckHijack(ctx context.Context) {
	if n.detector.CheckHijack(ctx); n.isHijack.Load() {
		return
	}
	if addr := n.Hijack(); addr.IsValid() && n.isHijack.CompareAndSwap(false, true) {
		n.warn("the name servers give names that do not exist an address: the archive will have pages of hosts that do "+
			"not exist; name other servers with --resolver", "address", addr.String())
	}
}

// Hijack is the address that the name servers give to names that do not exist; not valid if they give none.
func (n *NameServers) Hijack() netip.Addr { return n.detector.Health().Hijack }

// Servers are the name servers that are asked; none if the resolver asks none.
func (n *NameServers) Servers() []netip.AddrPort { return n.detector.Health().Servers }

// Stats are the counters of the resolver.
func (n *NameServers) Stats() dnsres.Stats { return n.detector.Stats() }

// Silent returns the name servers and when they began to fail: they have given no usable reply since. A zero time says
// that the last reply was usable, or that the failures may be those of single names.
func (n *NameServers) Silent() (servers []netip.AddrPort, since time.Time) {
	health := n.detector.Health()
	if !health.Down && health.HasAnswered {
		return health.Servers, time.Time{}
	}
	return health.Servers, health.FailingSince
}

// noDetector is for a resolver that cannot detect an outage.
type noDetector struct{}

// Health returns that of a resolver without name servers.
func (noDetector) Health() dnsres.Health { return dnsres.Health{} }

// Stats returns no counters.
func (noDetector) Stats() dnsres.Stats { return dnsres.Stats{} }

// CheckHijack asks nothing.
func (noDetector) CheckHijack(context.Context) {}

// outageDetector is implemented by a resolver that knows whether the name servers themselves fail.
type outageDetector interface {
	Health() dnsres.Health
	Stats() dnsres.Stats
	CheckHijack(ctx context.Context)
}
