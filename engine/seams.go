package engine

import (
	"context"
	"log/slog"
	"net/netip"
	"time"

	"orbweaver/dnsres"
	"orbweaver/engine/clock"
	"orbweaver/engine/cluster"
	"orbweaver/engine/fetch"
	"orbweaver/internal/vfs"
)

// Seams are the joints to the outside world: all that a simulated world replaces.
type Seams struct {
	// FS is the disk.
	FS vfs.FS
	// Dialer makes connections to web servers and proxies, and decides which addresses may be reached.
	Dialer fetch.Dialer
	// Resolver turns names into addresses.
	Resolver Resolver
	// Allowed says whether an address and port may be connected to, or a proxy be asked for them, with an error that
	// wraps addrguard.ErrBlockedAddress or addrguard.ErrBlockedPort; nil if everything may.
	Allowed func(netip.AddrPort) error
	// Peering is the way to the other agents; nil for a crawl alone.
	Peering cluster.Network
	// Usage gives this process's CPU time and peak resident memory; nil where nobody asks.
	Usage func() (cpu time.Duration, rssPeak int64)
	// Boot tells which run of the machine this is; nil where nobody knows.
	Boot clock.Boot
	// Log takes what an operator should read.
	Log *slog.Logger
}

// Resolver is the seam to the name system; dnsres.Resolver and dnsres.Hashed are its implementations.
type Resolver interface {
	Resolve(ctx context.Context, name string) dnsres.Answer
}
