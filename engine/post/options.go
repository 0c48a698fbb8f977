package post

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"time"

	"orbweaver/engine/post/identity"
)

// Peer is another agent, and the address where it listens.
type Peer struct {
	ID   string
	Addr netip.AddrPort
}

// Options says who an Office is and what it does with what arrives. What is zero has the default that is said.
type Options struct {
	Self  string // name of this agent; "" for that of the Identity
	Crawl string // name of the crawl; "" for that of the Identity
	Addr  netip.AddrPort

	Identity *identity.Identity // needed unless Plain
	Plain    bool               // no certificates: everybody is who it says, and everybody is on loopback

	// Generations are the newest certificates that were seen of agents before this one was started, by name. SaveGenerations is called, one call at a time, with those
	// that are known when there is a newer one; when it returns nil they are durable. nil keeps them in memory alone.
	Generations     map[string]uint64
	SaveGenerations func(newest map[string]uint64) error

	// Receive takes a batch of another agent. When it returns nil the batch is durable here, and the sender is told so. It borrows the batch.
	// Calls for one sender are begun in the order in which its batches arrived, and up to Window of them are under way at once. An error may be
	// a *Quota or wrap ErrRefused; any other means that it may go better another time. ctx ends when the sender is gone or the Office closes.
	Receive func(ctx context.Context, from string, batch []byte) error
	// Answer answers a question of another agent, up to asksMax at once for each. It borrows the question and gives the answer, of at
	// most BatchMax bytes. nil refuses all questions.
	Answer func(ctx context.Context, from string, kind byte, question []byte) ([]byte, error)

	BatchMax  int           // longest batch, question or answer, in bytes; default 1 MiB, at most 64 MiB
	Window    int           // batches of one sender that are in this process at once; default 4, at most 64
	MemoryMax int           // bytes of all batches in this process that others sent; default 64 MiB, at least BatchMax
	PeersMax  int           // agents that are known at once, and a quarter of the connections taken; default 1024
	Patience  time.Duration // how long Send and Ask try to connect; default 10 s
	BanTime   time.Duration // how long a peer that breaks the protocol is not spoken with; default 1 min
	Log       *slog.Logger  // is told of refusals, each kind once in ten seconds at most; nil for nobody

	// Network, when it is not nil, takes the place of TCP.
	Network Network

	// Oldest and Newest are the versions of the protocol that are spoken, 1 to 255; default those of this build. Tests are of other times.
	Oldest, Newest int

	versions versions // the same
}

// Bounds and beats that nobody has to choose.
const (
	versionLowest  = 1
	versionHighest = 1

	asksMax        = 8                // questions of one agent that are under way at once
	helloPatience  = 10 * time.Second // for a handshake, and then for a hello
	strangersMax   = 256              // connections that have not shown who they are, at once
	strangersOfOne = 32               // of these from one source
	beatEvery      = 3 * time.Second  // how often a receiver says that it lives
	silenceMax     = 9 * time.Second  // after which a receiver is taken for dead
	rest           = 5 * time.Second  // after a refusal, before the peer is asked again
	sayEvery       = 10 * time.Second // refusals of one kind
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
	o.Oldest, o.Newest = orElse(o.Oldest, versionLowest), orElse(o.Newest, max(o.Oldest, versionHighest))
	o.versions = versions{byte(min(o.Oldest, 255)), byte(min(o.Newest, 255))}
	if o.Network == nil {
		o.Network = tcp{}
	}
	return o, o.fault()
}

// fault joins everything that is wrong.
func (o *Options) fault() error {
	var faults []error
	add := func(format string, args ...any) { faults = append(faults, fmt.Errorf("post: "+format, args...)) }
	for _, name := range []string{o.Self, o.Crawl} {
		if err := identity.CheckName(name); err != nil {
			add("%w", err)
		}
	}
	switch {
	case o.Plain && o.Identity != nil:
		add("plain text and an identity: one or the other")
	case o.Plain && !o.Addr.Addr().Unmap().IsLoopback():
		add("without certificates only loopback is listened on, and %s is not: make certificates (\"orbweaver ca init\")", o.Addr)
	case !o.Plain && o.Identity == nil:
		add("no identity: make one (\"orbweaver ca issue\"), or ask for plain text on loopback")
	case !o.Plain && (o.Self != o.Identity.ID || o.Crawl != o.Identity.Crawl):
		add("the certificate is for agent %s of crawl %s, this is %s of %s", o.Identity.ID, o.Identity.Crawl, o.Self, o.Crawl)
	}
	if !o.Addr.IsValid() {
		add("no address to listen on")
	}
	if o.Receive == nil {
		add("nobody receives")
	}
	if o.BatchMax < 1 || o.BatchMax > batchLimit || o.Window < 1 || o.Window > windowMax || o.MemoryMax < o.BatchMax || o.PeersMax < 1 {
		add("batches of %d bytes, window %d, memory %d, peers %d: want at most %d and %d, memory for one batch, and a peer", o.BatchMax, o.Window, o.MemoryMax, o.PeersMax, batchLimit, windowMax)
	}
	if o.Oldest < 1 || o.Newest < o.Oldest || o.Newest > 255 {
		add("versions %d to %d: want 1 to 255", o.Oldest, o.Newest)
	}
	if o.Patience < 0 || o.BanTime < 0 {
		add("patience of %v, bans of %v: want more than nothing", o.Patience, o.BanTime)
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
