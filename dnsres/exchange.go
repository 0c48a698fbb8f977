package dnsres

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// Exchanger sends a question to a server and returns the reply. It returns when a reply has arrived or ctx is done; the
// Resolver sets a deadline. A reply over UDP may be truncated. An Exchanger must be safe for concurrent use, and must
// not keep or change msg.
type Exchanger interface {
	Exchange(ctx context.Context, msg *dns.Msg, upstream netip.AddrPort, tcp bool) (*dns.Msg, error)
}

// asker is an Exchanger for one network. It returns at the deadline.
type asker interface {
	exchange(ctx context.Context, msg *dns.Msg, up *upstream, deadline time.Time) (*dns.Msg, error)
}

// limited is the asker of an Exchanger.
type limited struct {
	x   Exchanger
	tcp bool
}

func (l limited) exchange(ctx context.Context, msg *dns.Msg, up *upstream, deadline time.Time) (*dns.Msg, error) {
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	return l.x.Exchange(ctx, msg, up.addr, l.tcp)
}

// DialFunc opens a connection; network is "udp" or "tcp". A net.Dialer's DialContext is one.
type DialFunc func(ctx context.Context, network, addr string) (net.Conn, error)

// NetExchanger is an Exchanger that asks over sockets that Dial opens.
type NetExchanger struct {
	Dial DialFunc
}

// Exchange sends msg over a socket of its own and returns the first reply to it. A Resolver calls it for TCP alone: it
// uses UDP sockets again.
func (x NetExchanger) Exchange(ctx context.Context, msg *dns.Msg, server netip.AddrPort, tcp bool) (*dns.Msg, error) {
	if tcp {
		return exchangeTCP(ctx, x.Dial, msg, server)
	}
	deadline, isSet := ctx.Deadline()
	if !isSet {
		deadline = time.Now().Add(Options{}.WithDefaults().Timeout)
	}
	return (&sockets{dial: x.Dial}).exchange(ctx, msg, &upstream{addr: server}, deadline)
}

// roundTrip sends a question and waits for its reply. If that takes long, it sends the question again. isSent is false
// if the question was not sent.
func (k *socket) roundTrip(
	ctx context.Context, msg *dns.Msg, deadline time.Time,
) (reply heardReply, isSent bool, err error) {
	packed, err := msg.PackBuffer(k.question[:])
	if err != nil {
		return reply, false, fmt.Errorf("dnsres: packing a question: %w", err)
	}
	k.uses++
	// An error here means that the connection is closed; then the read returns an error.
	stop := context.AfterFunc(ctx, func() { _ = k.conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	resends := &k.server.resends
	began, wait, sent := time.Now(), resends.wait(), 0
	for mayResend := true; ; {
		until := deadline
		if again := time.Now().Add(wait); mayResend && sent < resendTimes && again.Before(deadline) {
			until = again
		}
		if err := k.conn.SetDeadline(until); err != nil {
			return reply, sent > 0, fmt.Errorf("dnsres: %v: %w", k.server.addr, err)
		}
		if ctx.Err() != nil { // the deadline that AfterFunc set may be the one before
			return reply, sent > 0, ctx.Err()
		}
		if mayResend {
			if _, err := k.conn.Write(packed); err != nil {
				return reply, sent > 0, fmt.Errorf("dnsres: asking %v: %w", k.server.addr, err)
			}
			sent++
		}
		reply, err = readDatagrams(k.conn, msg, k.buf[:])
		switch {
		case err == nil:
			resends.replied(time.Since(began), sent == 1)
			reply.isOnly = reply.isOnly && sent == 1 // otherwise another reply may come
			return reply, true, nil
		case until.Equal(deadline) || ctx.Err() != nil || !errors.Is(err, os.ErrDeadlineExceeded):
			return reply, true, fmt.Errorf("dnsres: reply of %v: %w", k.server.addr, err)
		}
		wait *= 2
		mayResend = resends.mayResend()
	}
}

// exchangeTCP asks over a connection of its own.
func exchangeTCP(ctx context.Context, dial DialFunc, msg *dns.Msg, upstream netip.AddrPort) (*dns.Msg, error) {
	packed, err := msg.Pack()
	if err != nil {
		return nil, fmt.Errorf("dnsres: packing a question: %w", err)
	}
	packed = append(binary.BigEndian.AppendUint16(make([]byte, 0, len(packed)+2), uint16(len(packed))), packed...)
	conn, err := dial(ctx, "tcp", upstream.String())
	if err != nil {
		return nil, fmt.Errorf("dnsres: dialling %v: %w", upstream, err)
	}
	defer conn.Close() //nolint:errcheck // nothing was left to write
	if deadline, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(deadline); err != nil {
			return nil, fmt.Errorf("dnsres: %v: %w", upstream, err)
		}
	}
	// An error here means that the connection is closed; then the read returns an error.
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := conn.Write(packed); err != nil {
		return nil, fmt.Errorf("dnsres: asking %v: %w", upstream, err)
	}
	reply, err := readStream(conn)
	if err != nil {
		return nil, fmt.Errorf("dnsres: reply of %v: %w", upstream, err)
	}
	return reply, nil
}

func readStream(conn io.Reader) (*dns.Msg, error) {
	var size [2]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return nil, err
	}
	buf := make([]byte, binary.BigEndian.Uint16(size[:]))
	if _, err := io.ReadFull(conn, buf); err != nil {
		return nil, err
	}
	reply := new(dns.Msg)
	return reply, reply.Unpack(buf)
}

// datagramsMax is the number of ignored datagrams after which a question fails.
const datagramsMax = 1000

// readDatagrams reads datagrams into buf until one is the reply to q.
func readDatagrams(conn io.Reader, q *dns.Msg, buf []byte) (heard heardReply, err error) {
	for i := range datagramsMax {
		n, err := conn.Read(buf)
		if err != nil {
			return heard, err
		}
		reply := new(dns.Msg)
		if err := reply.Unpack(buf[:n]); err != nil {
			if n < 12 || !truncatedHeader(buf[:n], q.Id, n == len(buf)) {
				continue
			}
			// The reply ends in the middle of a record. Its header says so, or it is longer than the advertised size.
			// The caller repeats the question over TCP.
			reply = &dns.Msg{MsgHdr: dns.MsgHdr{Id: q.Id, Response: true, Truncated: true}, Question: q.Question}
		}
		if m := match(reply, q); m != matchesNot {
			return heardReply{reply, m == matches && !reply.Truncated && i == 0}, nil
		}
	}
	return heard, fmt.Errorf("%w: %d datagrams and none was the reply", ErrServer, datagramsMax)
}

// truncatedHeader reports whether the header of a message is that of a truncated reply with our id. known means that
// the message is certainly truncated.
func truncatedHeader(b []byte, id uint16, known bool) bool {
	return binary.BigEndian.Uint16(b) == id && b[2]&0x80 != 0 && (known || b[2]&0x02 != 0)
}

type matching uint8

const (
	matchesNot   matching = iota
	matchesError          // an error without the question, as old servers send it
	matchesButCase
	matches
)

// match compares reply with the question q.
func match(reply, q *dns.Msg) matching {
	if !reply.Response || reply.Id != q.Id || len(q.Question) != 1 {
		return matchesNot
	}
	isError := reply.Rcode != dns.RcodeSuccess && reply.Rcode != dns.RcodeNameError
	if isError && len(reply.Question) == 0 {
		return matchesError
	}
	if len(reply.Question) != 1 {
		return matchesNot
	}
	r, w := reply.Question[0], q.Question[0]
	switch {
	case r.Qtype != w.Qtype || r.Qclass != w.Qclass || !strings.EqualFold(r.Name, w.Name):
		return matchesNot
	case r.Name != w.Name:
		return matchesButCase
	}
	return matches
}
