package transport

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"sync"

	"golang.org/x/sync/semaphore"
	"google.golang.org/grpc"

	"orbweaver/engine/peering"
	"orbweaver/engine/peering/identity"
	"orbweaver/engine/peering/transport/transportpb"
)

// Transport sends batches and requests to other agents and receives theirs. Open makes it. It is safe for concurrent
// use.
type Transport struct {
	opt         Options
	incarnation uint64 // random: see transportpb.Batch
	auth        *authenticator
	peers       *peerTable
	bans        *banList
	refusals    *refusals
	listener    listener
	server      *grpc.Server
	served      chan error // receives once, when the server ends

	mu          sync.Mutex
	connections map[string]*connection // guarded by mu: by peer name; nil when closed
}

// Open listens, and accepts batches and requests until Close.
func Open(ctx context.Context, o Options) (*Transport, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	t := &Transport{
		opt: o, peers: newPeerTable(o.Window, o.PeersMax), bans: new(banList), refusals: &refusals{log: o.Log},
		served: make(chan error, 1), connections: make(map[string]*connection),
	}
	if t.incarnation, err = randomNumber(); err != nil {
		return nil, fmt.Errorf("transport: %w", err)
	}
	if t.auth, err = newAuthenticator(&t.opt, t.refusals); err != nil {
		return nil, fmt.Errorf("transport: %w", err)
	}
	if t.listener, err = o.Network.Listen(ctx, o.Addr); err != nil {
		return nil, fmt.Errorf("transport: %w", err)
	}
	s := &server{
		opt: &t.opt, peers: t.peers, bans: t.bans, refusals: t.refusals,
		memory: semaphore.NewWeighted(int64(o.MemoryMax)),
	}
	t.server = newServer(o.BatchMax, o.Window+callsMax+spareStreams, &handshaker{auth: t.auth}, unaryWatch{s})
	transportpb.RegisterTransportServer(t.server, s)
	go func() { t.served <- t.server.Serve(acceptor{t.listener}) }()
	return t, nil
}

// spareStreams are calls that a sender has given up while the receiver still ends them.
const spareStreams = 4

func randomNumber() (uint64, error) {
	var b [8]byte
	_, err := rand.Read(b[:])
	return binary.LittleEndian.Uint64(b[:]), err
}

// Addr is where the Transport listens.
func (t *Transport) Addr() netip.AddrPort {
	addr, err := netip.ParseAddrPort(t.listener.Addr().String())
	if err != nil {
		return t.opt.Addr
	}
	return netip.AddrPortFrom(addr.Addr().Unmap(), addr.Port())
}

// Renew takes another certificate of this agent, by the same authority, for further connections. Agents that see it
// refuse the one before it. Connections to peers end and are made again, so that the peers see it soon.
func (t *Transport) Renew(id *identity.Identity) error {
	now := t.opt.Identity
	switch {
	case now == nil:
		return fmt.Errorf("transport: %w: there are no certificates in plain text", ErrIdentity)
	case id.ID != now.ID:
		return fmt.Errorf("transport: %w: the certificate is that of agent %s, and this is %s", ErrIdentity, id.ID, now.ID)
	case id.Crawl != now.Crawl || !id.Authority.Equal(now.Authority):
		return fmt.Errorf("transport: %w: the certificate is of another authority: "+
			"stop all agents and start them with files of the new one", ErrIdentity)
	}
	changed, err := t.auth.renew(id)
	if err != nil {
		return fmt.Errorf("transport: %w", err)
	}
	if !changed {
		return nil
	}
	t.mu.Lock()
	connections := t.connections
	if connections != nil {
		t.connections = make(map[string]*connection)
	}
	t.mu.Unlock()
	for _, c := range connections {
		c.close()
	}
	return nil
}

// Close ends all connections. Sends and Calls in progress fail. Close waits until Receive and Respond have returned. A
// second call does nothing.
func (t *Transport) Close() error {
	t.mu.Lock()
	connections := t.connections
	t.connections = nil
	t.mu.Unlock()
	if connections == nil {
		return nil
	}
	t.refusals.close()
	for _, c := range connections {
		c.close()
	}
	t.server.Stop()
	if err := <-t.served; err != nil && !errors.Is(err, grpc.ErrServerStopped) {
		return fmt.Errorf("transport: %w", err)
	}
	return nil
}

// Send sends a batch and returns nil when it is durable at the peer. Up to Window batches to one peer are in flight at
// once; further ones wait, as long as a slow peer takes. If there is no connection, and none can be made within
// Patience, Send fails. It does not repeat anything by itself.
//
// The sequence tells the batch from all others to this peer. A caller that sends a batch again gives it the same
// sequence, and the peer recognises it, if it is one of the last receivedMax batches. With sequence 0 it does not.
//
// Send borrows the batch. Its errors wrap those of this package, or are a *peering.WaitError; that of ctx is wrapped
// if ctx ended.
func (t *Transport) Send(ctx context.Context, to Peer, sequence uint64, batch []byte) error {
	if len(batch) > t.opt.BatchMax {
		return fmt.Errorf("transport: to %s: %w: a batch of %d bytes, want at most %d",
			to.ID, peering.ErrMalformed, len(batch), t.opt.BatchMax)
	}
	c, err := t.connection(to)
	if err == nil {
		err = c.deliver(ctx, sequence, batch)
	}
	if err != nil {
		return fmt.Errorf("transport: to %s: %w", to.ID, err)
	}
	return nil
}

// Call sends a request of a kind that the two agents agree on, and gives the response. It borrows the request. It waits
// until ctx ends, for a connection until Patience ends.
func (t *Transport) Call(ctx context.Context, to Peer, kind byte, request []byte) (response []byte, err error) {
	if len(request) > t.opt.BatchMax {
		return nil, fmt.Errorf("transport: to %s: %w: a request of %d bytes, want at most %d",
			to.ID, peering.ErrMalformed, len(request), t.opt.BatchMax)
	}
	c, err := t.connection(to)
	if err == nil {
		response, err = c.call(ctx, kind, request)
	}
	if err != nil {
		return nil, fmt.Errorf("transport: to %s: %w", to.ID, err)
	}
	return response, nil
}

// Prove makes sure that the agent at an address holds the certificate of its name. It returns the largest capacity that
// the certificate allows. The proof is the TLS handshake: it does not matter whether the agent accepts calls of this
// one. If there is no proof, the agent is forgotten.
func (t *Transport) Prove(ctx context.Context, to Peer) (capacity int, err error) {
	if t.opt.Plain {
		return 0, fmt.Errorf("transport: %w: there are no certificates in plain text", ErrIdentity)
	}
	c, err := t.connection(to)
	if err == nil {
		if err = c.waitReady(ctx); c.proved() > 0 {
			return c.proved(), nil
		}
		t.Forget(to.ID)
	}
	return 0, fmt.Errorf("transport: to %s: %w", to.ID, err)
}

// Forget closes the connection to a peer, if there is one, and what is known of it. Calls to it fail. A later
// Send connects again.
func (t *Transport) Forget(id string) {
	t.mu.Lock()
	c := t.connections[id]
	delete(t.connections, id)
	t.mu.Unlock()
	t.peers.forget(id)
	if c != nil {
		c.close()
	}
}

// connection finds the connection to a peer, or makes it. A peer that has moved gets a new one.
func (t *Transport) connection(to Peer) (*connection, error) {
	if err := checkAddr(to.Addr, t.opt.Plain); err != nil {
		return nil, err
	}
	c, replaced, err := t.connectionAt(to)
	if replaced != nil {
		replaced.close()
	}
	return c, err
}

// connectionAt is connection, except that it leaves it to the caller to close the connection that was replaced.
func (t *Transport) connectionAt(to Peer) (c, replaced *connection, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.connections == nil {
		return nil, nil, ErrClosed
	}
	before := t.connections[to.ID]
	if before != nil && before.peer == to {
		return before, nil, nil
	}
	if _, err := t.peers.get(to.ID); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	if c, err = newConnection(&t.opt, t.auth, to, t.incarnation); err != nil {
		return nil, nil, err
	}
	t.connections[to.ID] = c
	return c, before, nil
}
