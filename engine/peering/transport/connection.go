package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/metadata"

	"orbweaver/engine/peering/transport/transportpb"
)

// connection makes the calls to one peer. gRPC connects when a call needs it, and again when the connection has broken.
type connection struct {
	peer        Peer
	opt         *Options
	auth        *authenticator
	incarnation uint64 // of this agent
	conn        *grpc.ClientConn
	client      transportpb.TransportClient
	metadata    metadata.MD
	sockets     socketSet
	inFlight    chan struct{} // capacity Window: each Deliver call holds a place
	closed      chan struct{}
	closeOnce   func()

	mu       sync.Mutex
	fault    error                                 // what connecting failed with last, if that is known
	waiting  map[*context.CancelCauseFunc]struct{} // each ends the waiting of a waitReady
	capacity int                                   // see proved
}

func newConnection(o *Options, auth *authenticator, to Peer, incarnation uint64) (*connection, error) {
	c := &connection{
		peer: to, opt: o, auth: auth, incarnation: incarnation,
		metadata: metadata.Pairs(crawlKey, o.Crawl, senderKey, o.Self, receiverKey, to.ID),
		inFlight: make(chan struct{}, o.Window), closed: make(chan struct{}),
		waiting: make(map[*context.CancelCauseFunc]struct{}),
	}
	c.closeOnce = sync.OnceFunc(func() {
		close(c.closed)
		c.sockets.closeAll()
		_ = c.conn.Close() // it fails only if it is closed
	})
	var err error
	if c.conn, err = newClient(to, o.BatchMax, c.dial, &handshaker{auth, c.handshake}); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	c.client = transportpb.NewTransportClient(c.conn)
	return c, nil
}

// close ends all calls, which fail.
func (c *connection) close() { c.closeOnce() }

func (c *connection) isClosed() bool {
	select {
	case <-c.closed:
		return true
	default:
		return false
	}
}

// dial connects. gRPC calls it.
func (c *connection) dial(ctx context.Context) (net.Conn, error) {
	conn, err := c.opt.Network.Dial(ctx, c.peer.Addr)
	if err != nil {
		c.setFault(err)
		return nil, err
	}
	return c.sockets.add(conn)
}

// handshake follows dial. gRPC calls it.
func (c *connection) handshake(ctx context.Context, raw net.Conn) (net.Conn, error) {
	if c.auth.plain {
		return raw, nil
	}
	conn, capacity, err := c.auth.connect(ctx, raw, c.peer)
	if err != nil {
		c.setFault(err)
		return nil, err
	}
	conn.onAlert = func(alert error) {
		c.setFault(fmt.Errorf("%w: %s does not accept the certificate of this agent: %w", ErrIdentity, c.peer.ID, alert))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.capacity = capacity
	return conn, nil
}

// setFault keeps what connecting failed with: gRPC does not tell it to waitReady. A fault that is final ends the
// waiting, since gRPC reports no change of state when it fails again.
func (c *connection) setFault(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fault = err
	if isFinal(err) {
		for end := range c.waiting {
			(*end)(err)
		}
	}
}

// beginWaiting gives a context that ends after Patience, or at a final fault.
func (c *connection) beginWaiting(ctx context.Context) (_ context.Context, end func()) {
	timeout := fmt.Errorf("no connection to %s in %v", c.peer.Addr, c.opt.Patience)
	ctx, cancel := context.WithTimeoutCause(ctx, c.opt.Patience, timeout)
	ctx, endByFault := context.WithCancelCause(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting[&endByFault] = struct{}{}
	return ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.waiting, &endByFault)
		cancel()
	}
}

func (c *connection) lastFault() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.fault
}

// proved is the largest capacity that the certificate of the peer allows; 0 if it has shown none.
func (c *connection) proved() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.capacity
}

// waitReady waits for the connection, for Patience at most.
func (c *connection) waitReady(ctx context.Context) error {
	if c.conn.GetState() == connectivity.Ready {
		return nil
	}
	ctx, end := c.beginWaiting(ctx)
	defer end()
	for {
		state := c.conn.GetState()
		fault := c.lastFault()
		switch {
		case state == connectivity.Ready:
			c.setFault(nil)
			return nil
		case state == connectivity.Shutdown:
			return ErrClosed
		case state == connectivity.Idle:
			c.conn.Connect()
		case state == connectivity.TransientFailure && isFinal(fault):
			return fault
		}
		if c.conn.WaitForStateChange(ctx, state) {
			continue
		}
		cause := context.Cause(ctx)
		fault = c.lastFault()
		switch {
		case isFinal(cause):
			return cause
		case fault != nil:
			return fmt.Errorf("%w: %w: %w", ErrUnreachable, cause, fault)
		}
		return fmt.Errorf("%w: %w", ErrUnreachable, cause)
	}
}

// deliver is Send.
func (c *connection) deliver(ctx context.Context, sequence uint64, content []byte) error {
	if err := c.waitReady(ctx); err != nil {
		return err
	}
	select {
	case c.inFlight <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("%w: the batch was not sent: %w", ErrUnreachable, context.Cause(ctx))
	case <-c.closed:
		return ErrClosed
	}
	defer func() { <-c.inFlight }()
	batch := &transportpb.Batch{Incarnation: c.incarnation, Sequence: sequence, Content: content}
	return c.explain(ctx, c.callDeliver(ctx, batch))
}

// callDeliver makes the call. Its error is one of this package.
func (c *connection) callDeliver(ctx context.Context, batch *transportpb.Batch) error {
	ctx, cancel := context.WithCancel(metadata.NewOutgoingContext(ctx, c.metadata))
	defer cancel() // it frees the stream if Send fails
	stream, err := c.client.Deliver(ctx)
	if err != nil {
		return errorOf(err, false)
	}
	if err := stream.Send(batch); err != nil && !errors.Is(err, io.EOF) { // after io.EOF CloseAndRecv returns the status
		return errorOf(err, true)
	}
	if _, err := stream.CloseAndRecv(); err != nil {
		return errorOf(err, true)
	}
	return nil
}

// explain adds to an error of a call that got no answer why that is so.
func (c *connection) explain(ctx context.Context, err error) error {
	switch {
	case !errors.Is(err, ErrUnknown) && !errors.Is(err, ErrUnreachable):
		return err
	case c.isClosed():
		return fmt.Errorf("%w: %w", err, ErrClosed)
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %w", err, context.Cause(ctx))
	}
	return err
}

// call is Call.
func (c *connection) call(ctx context.Context, kind byte, content []byte) ([]byte, error) {
	if err := c.waitReady(ctx); err != nil {
		return nil, err
	}
	response, err := c.client.Call(
		metadata.NewOutgoingContext(ctx, c.metadata), &transportpb.Request{Kind: uint32(kind), Content: content},
	)
	if err != nil {
		return nil, c.explain(ctx, errorOf(err, true))
	}
	return response.GetContent(), nil
}
