package transport

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"time"

	"orbweaver/engine/peering/identity"
)

// Peer is another agent, and the address where it listens.
type Peer struct {
	ID   string
	Addr netip.AddrPort
}

// Options configure a Transport. Zero fields have the defaults that are stated.
type Options struct {
	Self  string // name of this agent; "" for that of the Identity
	Crawl string // name of the crawl; "" for that of the Identity
	Addr  netip.AddrPort

	Identity *identity.Identity // required unless Plain
	Plain    bool               // no certificates: names are not proved, and all agents are on loopback

	// Generations are the newest certificate generations that earlier runs of this agent saw, by agent name.
	// SaveGenerations is called, one call at a time, with all that are known when one of them is new. When it returns
	// nil they are durable. nil keeps them in memory alone.
	Generations     map[string]uint64
	SaveGenerations func(newest map[string]uint64) error

	// Receive takes a batch of another agent. When it returns nil the batch is durable here, and the sender is told so.
	// It borrows the batch. Up to Window calls for one sender run at once. Batches whose Sends did not overlap arrive
	// in the order of the Sends. An error may be a *peering.WaitError or wrap peering.ErrMalformed or ErrBanned; any other
	// error means that it may succeed later. ctx ends when the sender stops waiting, the connection breaks or the
	// Transport closes.
	Receive func(ctx context.Context, from string, batch []byte) error
	// Respond answers a request of another agent, up to callsMax at once for each agent. It borrows the request and
	// gives the response, which has at most BatchMax bytes. nil refuses all requests.
	Respond func(ctx context.Context, from string, kind byte, request []byte) ([]byte, error)

	BatchMax  int           // longest batch, request or response, in bytes; default 1 MiB, at most 64 MiB
	Window    int           // batches in flight to and from each peer; default 4, at most 64
	MemoryMax int           // bytes of all batches and requests in this process that peers sent; default 64 MiB
	PeersMax  int           // agents that are known at once; default 1024
	Patience  time.Duration // how long Send and Call try to connect; default 10 s
	BanTime   time.Duration // how long the messages of a peer that broke the protocol are refused; default 1 min
	Log       *slog.Logger  // receives refusals, each kind at most once in ten seconds; nil for none

	// Network, when it is not nil, replaces TCP.
	Network Network
}

// Bounds that are not configurable.
const (
	batchLimit = 64 << 20 // the largest BatchMax
	windowMax  = 64       // the largest Window

	callsMax            = 8                // requests of one agent that are answered at once
	handshakePatience   = 10 * time.Second // for a handshake
	handshakesMax       = 256              // connections that have not shown a certificate, at once
	handshakesPerSource = 32               // connections of one source among these
	idleTimeout         = time.Minute      // a connection without calls is closed after this
	logPeriod           = 10 * time.Second // the least time between two log lines for one kind of refusal
)

func (o Options) withDefaults() (Options, error) {
	if o.Identity != nil {
		o.Self = orElse(o.Self, o.Identity.ID)
		o.Crawl = orElse(o.Crawl, o.Identity.Crawl)
	}
	o.BatchMax = orElse(o.BatchMax, 1<<20)
	o.Window = orElse(o.Window, 4)
	o.MemoryMax = orElse(o.MemoryMax, max(64<<20, o.BatchMax))
	o.PeersMax = orElse(o.PeersMax, 1024)
	o.Patience = orElse(o.Patience, 10*time.Second)
	o.BanTime = orElse(o.BanTime, time.Minute)
	o.Log = orElse(o.Log, slog.New(slog.DiscardHandler))
	if o.Network == nil {
		o.Network = tcp{}
	}
	return o, o.validate()
}

// validate joins all faults.
func (o *Options) validate() error {
	var faults []error
	add := func(format string, args ...any) { faults = append(faults, fmt.Errorf("transport: "+format, args...)) }
	for _, name := range []string{o.Self, o.Crawl} {
		if err := identity.CheckName(name); err != nil {
			add("%w", err)
		}
	}
	switch {
	case o.Plain && o.Identity != nil:
		add("plain text and an identity: give one or the other")
	case o.Plain && !o.Addr.Addr().Unmap().IsLoopback():
		add("without certificates an agent listens on loopback only, and %s is not: "+
			"make certificates (\"orbweaver ca init\")", o.Addr)
	case !o.Plain && o.Identity == nil:
		add("no identity: make one (\"orbweaver ca issue\"), or ask for plain text on loopback")
	case !o.Plain && (o.Self != o.Identity.ID || o.Crawl != o.Identity.Crawl):
		add("the certificate is for agent %s of crawl %s, this is %s of %s",
			o.Identity.ID, o.Identity.Crawl, o.Self, o.Crawl)
	}
	if !o.Addr.IsValid() {
		add("no address to listen on")
	}
	if o.Receive == nil {
		add("no Receive")
	}
	if o.BatchMax < 1 || o.BatchMax > batchLimit || o.Window < 1 || o.Window > windowMax {
		add("batches of %d bytes, window %d: want 1 to %d, and 1 to %d", o.BatchMax, o.Window, batchLimit, windowMax)
	}
	if o.MemoryMax < o.BatchMax || o.PeersMax < 1 {
		add("memory %d, peers %d: want memory for one batch of %d bytes, and one peer", o.MemoryMax, o.PeersMax, o.BatchMax)
	}
	if o.Patience < 0 || o.BanTime < 0 {
		add("patience of %v, bans of %v: want more than zero", o.Patience, o.BanTime)
	}
	return errors.Join(faults...)
}

func orElse[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}
