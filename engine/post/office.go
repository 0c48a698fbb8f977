package post

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
	"google.golang.org/grpc"

	"orbweaver/engine/post/identity"
)

// Office sends letters to other agents and receives theirs. Make it with Listen. It is safe for concurrent use.
type Office struct {
	opt         Options
	tls         atomic.Pointer[tls.Config] // nil in plain text
	codec       *codec
	packer      *packer
	pool        *buffers
	listener    listener
	server      *grpc.Server
	served      chan error
	memory      *semaphore.Weighted
	counters    counters
	generations generations
	bans        bans
	lobby       lobby
	conns       *crowd
	inbox       inbox

	ctx context.Context //nolint:containedctx // the life of the Office, which that of every connection is a part of
	end context.CancelFunc

	mu    sync.Mutex
	links map[string]*link
	work  sync.WaitGroup // sessions
}

// Listen opens an Office that takes letters until Close.
func Listen(ctx context.Context, o Options) (*Office, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	off := &Office{
		opt: o, pool: new(buffers), served: make(chan error, 1), memory: semaphore.NewWeighted(int64(o.MemoryMax)), conns: newCrowd(o.PeersMax),
		counters:    counters{peers: make(map[string]*tally)},
		generations: generations{newest: maps.Clone(o.Generations), shown: make(map[string]map[*showing]bool), save: o.SaveGenerations, log: o.Log},
		bans:        bans{until: make(map[string]time.Time), why: make(map[string]string)},
		inbox:       inbox{of: make(map[string]*delivery)},
		links:       make(map[string]*link),
	}
	off.codec = &codec{off.pool}
	if off.generations.newest == nil {
		off.generations.newest = make(map[string]uint64)
	}
	if !o.Plain {
		off.tls.Store(tlsOf(o.Identity))
		if _, err := off.generations.renew(o.Self, identity.Generation(o.Identity.Certificate.Leaf)); err != nil {
			return nil, fmt.Errorf("post: %w", err)
		}
	}
	if off.packer, err = newPacker(off.pool, runtime.GOMAXPROCS(0)); err != nil {
		return nil, fmt.Errorf("post: %w", err)
	}
	if off.listener, err = o.Network.Listen(ctx, o.Addr); err != nil {
		return nil, errors.Join(fmt.Errorf("post: %w", err), off.packer.close())
	}
	off.ctx, off.end = context.WithCancel(ctx)
	off.server = off.newServer(&security{off, nil})
	off.server.RegisterService(service(), off)
	go func() { off.served <- off.server.Serve(guests{off.listener}) }()
	return off, nil
}

// Renew takes another certificate of this agent, by the same authority, for connections from now on. Other agents that see it refuse the one before
// it. Connections to others end and are made again, so that they see it soon.
func (o *Office) Renew(id *identity.Identity) error {
	now := o.opt.Identity
	switch {
	case now == nil:
		return fmt.Errorf("post: %w: there are no certificates in plain text", ErrIdentity)
	case id.ID != now.ID:
		return fmt.Errorf("post: %w: the certificate is that of agent %s, and this is %s", ErrIdentity, id.ID, now.ID)
	case id.Crawl != now.Crawl || !id.Authority.Equal(now.Authority):
		return fmt.Errorf("post: %w: the certificate is of another authority: stop all agents and start them with files of the new one", ErrIdentity)
	}
	changed, err := o.generations.renew(id.ID, identity.Generation(id.Certificate.Leaf))
	if err != nil {
		return fmt.Errorf("post: %w", err)
	}
	if !changed {
		return nil
	}
	o.tls.Store(tlsOf(id))
	o.mu.Lock()
	links := o.links
	if links != nil { // else it is closed
		o.links = make(map[string]*link)
	}
	o.mu.Unlock()
	for _, l := range links {
		l.retire()
	}
	return nil
}

// Addr is where it listens.
func (o *Office) Addr() netip.AddrPort {
	addr, err := netip.ParseAddrPort(o.listener.Addr().String())
	if err != nil {
		return o.opt.Addr
	}
	return netip.AddrPortFrom(addr.Addr().Unmap(), addr.Port())
}

// Close ends all connections. Sends and Asks under way fail, Receives and Answers under way are waited for, and so are all goroutines.
func (o *Office) Close() error {
	o.mu.Lock()
	o.end()
	links := o.links
	o.links = nil
	o.mu.Unlock()
	for _, l := range links {
		l.close()
	}
	o.work.Wait()
	o.server.Stop()
	var faults []error
	if links != nil { // else it was closed before
		if err := <-o.served; err != nil && !errors.Is(err, grpc.ErrServerStopped) {
			faults = append(faults, fmt.Errorf("post: %w", err))
		}
		faults = append(faults, o.packer.close())
	}
	return errors.Join(faults...)
}

func (o *Office) closed() bool { return o.ctx.Err() != nil }

// Send sends a batch and returns nil when the peer has it durably. Up to Window batches to one peer are under way at once; further ones wait,
// as long as it takes if the peer is slow. If there is no connection, and none can be made within Patience, it fails. It never sends again by
// itself. It borrows the batch. For what it fails with see the errors of this package; that of ctx is wrapped if ctx ended.
func (o *Office) Send(ctx context.Context, to Peer, batch []byte) error {
	if len(batch) > o.opt.BatchMax {
		return fmt.Errorf("post: to %s: %w: a batch of %d bytes, want at most %d", to.ID, ErrRefused, len(batch), o.opt.BatchMax)
	}
	l, err := o.link(to)
	if err == nil {
		if err = l.send(ctx, batch); err != nil {
			l.tally.failed(err)
		}
	}
	if err != nil {
		return fmt.Errorf("post: to %s: %w", to.ID, err)
	}
	return nil
}

// Ask asks a question of a kind that the two agree on. It borrows the question and gives the answer. It waits as long as ctx lets it.
func (o *Office) Ask(ctx context.Context, to Peer, kind byte, question []byte) ([]byte, error) {
	if len(question) > o.opt.BatchMax {
		return nil, fmt.Errorf("post: to %s: %w: a question of %d bytes, want at most %d", to.ID, ErrRefused, len(question), o.opt.BatchMax)
	}
	l, err := o.link(to)
	if err != nil {
		return nil, fmt.Errorf("post: to %s: %w", to.ID, err)
	}
	answer, err := l.ask(ctx, kind, question)
	if err != nil {
		l.tally.failed(err)
		return nil, fmt.Errorf("post: to %s: %w", to.ID, err)
	}
	return answer, nil
}

// Forget closes the connection to a peer, if there is one, and forgets what was counted of it. What is under way fails. A later Send connects anew.
func (o *Office) Forget(id string) {
	o.mu.Lock()
	l := o.links[id]
	delete(o.links, id)
	o.mu.Unlock()
	o.counters.forget(id)
	if l != nil {
		l.close()
	}
}

// Ban does not speak with an agent for BanTime: it ends its connection to us and refuses others. why is told to it.
func (o *Office) Ban(id, why string) {
	o.bans.add(id, why, time.Now().Add(o.opt.BanTime))
	o.inbox.end(id, fmt.Errorf("%w: %s", ErrBanned, why))
}

// link finds the way to a peer, or makes it. A peer that has moved has a new one.
func (o *Office) link(to Peer) (*link, error) {
	if err := checkAddr(to.Addr, o.opt.Plain); err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed() {
		return nil, ErrClosed
	}
	l := o.links[to.ID]
	if l != nil && l.peer == to {
		return l, nil
	}
	tally := o.counters.tally(to.ID, o.opt.PeersMax)
	if tally == nil {
		return nil, fmt.Errorf("%w: there are %d others already", ErrUnreachable, o.opt.PeersMax)
	}
	if l != nil {
		l.retire()
	}
	l, err := newLink(o, to, tally)
	if err != nil {
		return nil, err
	}
	o.links[to.ID] = l
	return l, nil
}
