package memberstest

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
)

// Transport is one agent's end of a Network. Shut it down to play a death: nothing more comes from there.
type Transport struct {
	net     *Network
	at      netip.AddrPort
	packets chan *memberlist.Packet
	streams chan net.Conn
	down    context.Context //nolint:containedctx // the life of the Transport
	close   context.CancelFunc

	mu   sync.Mutex
	thaw time.Time
}

// inboxMax is how many datagrams, and streams, wait for an agent; more are lost, as in a socket's buffer.
const inboxMax = 4096

func newTransport(n *Network, at netip.AddrPort) *Transport {
	t := &Transport{net: n, at: at, packets: make(chan *memberlist.Packet, inboxMax), streams: make(chan net.Conn, inboxMax)}
	t.down, t.close = context.WithCancel(context.Background()) //nolint:forbidigo // it lives until Shutdown
	return t
}

// Freeze plays an agent that is not scheduled: for so long nothing comes from it and nothing reaches it, and nothing is lost.
func (t *Transport) Freeze(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.thaw = time.Now().Add(d)
}

func (t *Transport) frozenFor() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return max(0, time.Until(t.thaw))
}

func (t *Transport) take(p *memberlist.Packet) {
	select {
	case t.packets <- p:
	default:
	}
}

// FinalAdvertiseAddr is the address that the Transport was opened with.
func (t *Transport) FinalAdvertiseAddr(string, int) (net.IP, int, error) {
	return net.IP(t.at.Addr().AsSlice()), int(t.at.Port()), nil
}

// WriteTo sends a datagram, which it copies.
func (t *Transport) WriteTo(b []byte, addr string) (time.Time, error) {
	to, err := netip.ParseAddrPort(addr)
	if err == nil {
		err = t.down.Err()
	}
	if err == nil {
		t.net.send(t, to, b)
	}
	return time.Now(), err
}

// WriteToAddress does the same.
func (t *Transport) WriteToAddress(b []byte, a memberlist.Address) (time.Time, error) {
	return t.WriteTo(b, a.Addr)
}

// PacketCh gives what arrives.
func (t *Transport) PacketCh() <-chan *memberlist.Packet { return t.packets }

// DialTimeout opens a stream. Where nobody listens it is refused; where the way is cut it takes until the timeout.
func (t *Transport) DialTimeout(addr string, timeout time.Duration) (net.Conn, error) {
	to, err := netip.ParseAddrPort(addr)
	if err != nil {
		return nil, err
	}
	other, open := t.net.way(t, to)
	if !open {
		t.wait(timeout)
		return nil, fmt.Errorf("memberstest: %v to %v: %w", t.at, to, os.ErrDeadlineExceeded)
	}
	if other == nil || t.down.Err() != nil {
		return nil, fmt.Errorf("memberstest: %v to %v: connection refused", t.at, to)
	}
	a, b := net.Pipe()
	near, far := newConn(a, t, other), newConn(b, other, t)
	select {
	case other.streams <- far:
		return near, nil
	default:
		_, _ = near.Close(), far.Close()
		return nil, fmt.Errorf("memberstest: %v to %v: connection refused", t.at, to)
	}
}

// DialAddressTimeout does the same.
func (t *Transport) DialAddressTimeout(a memberlist.Address, timeout time.Duration) (net.Conn, error) {
	return t.DialTimeout(a.Addr, timeout)
}

// StreamCh gives streams that others opened.
func (t *Transport) StreamCh() <-chan net.Conn { return t.streams }

// Shutdown closes the address and its streams.
func (t *Transport) Shutdown() error {
	t.close()
	t.net.close(t)
	for {
		select {
		case c := <-t.streams:
			_ = c.Close()
		default:
			return nil
		}
	}
}

// wait waits, but not beyond Shutdown.
func (t *Transport) wait(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.down.Done():
	}
}

// conn is one end of a stream.
type conn struct {
	net.Conn
	from, to *Transport
	untie    func() bool

	mu       sync.Mutex
	deadline time.Time
}

func newConn(c net.Conn, from, to *Transport) *conn {
	return &conn{Conn: c, from: from, to: to, untie: context.AfterFunc(from.down, func() { _ = c.Close() })}
}

// Write sends when the way there allows it.
func (c *conn) Write(b []byte) (int, error) {
	wait, open := c.from.net.pause(c.from, c.to, len(b))
	c.mu.Lock()
	deadline := c.deadline
	c.mu.Unlock()
	if !open {
		wait = time.Hour
	}
	if !deadline.IsZero() && wait >= time.Until(deadline) {
		c.from.wait(time.Until(deadline))
		return 0, os.ErrDeadlineExceeded
	}
	if wait > 0 {
		c.from.wait(wait)
	}
	return c.Conn.Write(b)
}

// SetDeadline bounds Read and Write.
func (c *conn) SetDeadline(t time.Time) error {
	c.mu.Lock()
	c.deadline = t
	c.mu.Unlock()
	return c.Conn.SetDeadline(t)
}

// Close ends the stream for both.
func (c *conn) Close() error {
	c.untie()
	return c.Conn.Close()
}

// RemoteAddr is the other agent.
func (c *conn) RemoteAddr() net.Addr { return address(c.to.at) }

// LocalAddr is this one.
func (c *conn) LocalAddr() net.Addr { return address(c.from.at) }
