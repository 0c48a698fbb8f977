package membershiptest

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

// Transport is the network interface of one agent. Shutdown simulates a failure of the agent.
type Transport struct {
	net     *Network
	at      netip.AddrPort
	packets chan *memberlist.Packet
	streams chan net.Conn
	down    context.Context //nolint:containedctx // the lifetime of the Transport
	close   context.CancelFunc

	mu          sync.Mutex
	frozenUntil time.Time
}

// maxInbox is the number of datagrams, and of streams, that wait for an agent. More are lost, as in a socket's buffer.
const maxInbox = 4096

func newTransport(n *Network, at netip.AddrPort) *Transport {
	t := &Transport{
		net: n, at: at, packets: make(chan *memberlist.Packet, maxInbox), streams: make(chan net.Conn, maxInbox),
	}
	t.down, t.close = context.WithCancel(context.Background()) //nolint:forbidigo // it lives until Shutdown
	return t
}

// Freeze simulates an agent that does not run for a time. Everything that it sends and receives is delayed until then,
// and nothing is lost.
func (t *Transport) Freeze(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.frozenUntil = time.Now().Add(d)
}

func (t *Transport) frozenFor() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return max(0, time.Until(t.frozenUntil))
}

func (t *Transport) receive(p *memberlist.Packet) {
	select {
	case t.packets <- p:
	default:
	}
}

// FinalAdvertiseAddr implements memberlist.Transport.
func (t *Transport) FinalAdvertiseAddr(string, int) (net.IP, int, error) {
	return net.IP(t.at.Addr().AsSlice()), int(t.at.Port()), nil
}

// WriteTo implements memberlist.Transport. It copies the datagram.
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

// WriteToAddress implements memberlist.NodeAwareTransport.
func (t *Transport) WriteToAddress(b []byte, a memberlist.Address) (time.Time, error) {
	return t.WriteTo(b, a.Addr)
}

// PacketCh implements memberlist.Transport.
func (t *Transport) PacketCh() <-chan *memberlist.Packet { return t.packets }

// DialTimeout implements memberlist.Transport. If no agent has the address, the stream is refused at once. If a
// direction is blocked, DialTimeout fails after the timeout.
func (t *Transport) DialTimeout(addr string, timeout time.Duration) (net.Conn, error) {
	to, err := netip.ParseAddrPort(addr)
	if err != nil {
		return nil, err
	}
	other, open := t.net.connect(t, to)
	if !open {
		t.wait(timeout)
		return nil, fmt.Errorf("membershiptest: %v to %v: %w", t.at, to, os.ErrDeadlineExceeded)
	}
	if other == nil || t.down.Err() != nil {
		return nil, fmt.Errorf("membershiptest: %v to %v: connection refused", t.at, to)
	}
	a, b := net.Pipe()
	near, far := newConn(a, t, other), newConn(b, other, t)
	select {
	case other.streams <- far:
		return near, nil
	default:
		_, _ = near.Close(), far.Close()
		return nil, fmt.Errorf("membershiptest: %v to %v: connection refused", t.at, to)
	}
}

// DialAddressTimeout implements memberlist.NodeAwareTransport.
func (t *Transport) DialAddressTimeout(a memberlist.Address, timeout time.Duration) (net.Conn, error) {
	return t.DialTimeout(a.Addr, timeout)
}

// StreamCh implements memberlist.Transport.
func (t *Transport) StreamCh() <-chan net.Conn { return t.streams }

// Shutdown implements memberlist.Transport. It closes the address and its streams.
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

// wait waits for a time, or until Shutdown.
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
	stop     func() bool

	mu       sync.Mutex
	deadline time.Time
}

func newConn(c net.Conn, from, to *Transport) *conn {
	return &conn{Conn: c, from: from, to: to, stop: context.AfterFunc(from.down, func() { _ = c.Close() })}
}

// Write implements net.Conn. It returns when the bytes have arrived.
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

// SetDeadline implements net.Conn.
func (c *conn) SetDeadline(t time.Time) error {
	c.mu.Lock()
	c.deadline = t
	c.mu.Unlock()
	return c.Conn.SetDeadline(t)
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.stop()
	return c.Conn.Close()
}

// RemoteAddr implements net.Conn.
func (c *conn) RemoteAddr() net.Addr { return address(c.to.at) }

// LocalAddr implements net.Conn.
func (c *conn) LocalAddr() net.Addr { return address(c.from.at) }
