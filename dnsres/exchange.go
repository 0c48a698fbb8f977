package dnsres

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// Exchanger sends one question to one server and gives the reply: the seam between the Resolver and the network.
//
// It returns when a reply has come or ctx is done; the Resolver gives ctx a deadline. A reply over UDP may be
// truncated. It must be safe for concurrent use, and must not keep or change msg.
type Exchanger interface {
	Exchange(ctx context.Context, msg *dns.Msg, upstream netip.AddrPort, tcp bool) (*dns.Msg, error)
}

// DialFunc opens a connection; network is "udp" or "tcp". A net.Dialer's DialContext is one.
type DialFunc func(ctx context.Context, network, addr string) (net.Conn, error)

// NetExchanger asks over connections made by Dial, one for each question, so that each has a source port of its own.
type NetExchanger struct {
	Dial DialFunc
}

// Exchange sends msg and gives the first reply to it. Over UDP, datagrams that are no reply to msg are ignored: they
// may be forged, and the true one may still come.
func (x NetExchanger) Exchange(ctx context.Context, msg *dns.Msg, upstream netip.AddrPort, tcp bool) (*dns.Msg, error) {
	packed, err := msg.Pack()
	if err != nil {
		return nil, fmt.Errorf("dnsres: packing a question: %w", err)
	}
	network := "udp"
	if tcp {
		network = "tcp"
		packed = append(binary.BigEndian.AppendUint16(make([]byte, 0, len(packed)+2), uint16(len(packed))), packed...)
	}
	conn, err := x.Dial(ctx, network, upstream.String())
	if err != nil {
		return nil, fmt.Errorf("dnsres: dialling %v: %w", upstream, err)
	}
	defer conn.Close() //nolint:errcheck // nothing was left to write
	if deadline, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(deadline); err != nil {
			return nil, fmt.Errorf("dnsres: %v: %w", upstream, err)
		}
	}
	// An error here means that the connection is gone, and then reading from it says so.
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := conn.Write(packed); err != nil {
		return nil, fmt.Errorf("dnsres: asking %v: %w", upstream, err)
	}
	var reply *dns.Msg
	if tcp {
		reply, err = readStream(conn)
	} else {
		reply, err = readDatagrams(conn, msg)
	}
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

// datagramsMax is how many foreign datagrams one question puts up with.
const datagramsMax = 1000

func readDatagrams(conn io.Reader, q *dns.Msg) (*dns.Msg, error) {
	buf := make([]byte, 4096) // more than we ask for: some servers do not listen
	for range datagramsMax {
		n, err := conn.Read(buf)
		if err != nil {
			return nil, err
		}
		reply := new(dns.Msg)
		if err := reply.Unpack(buf[:n]); err != nil {
			if n < 12 || !truncatedHeader(buf[:n], q.Id, n == len(buf)) {
				continue
			}
			// Cut in the middle of a record: the header says so, or it is longer than anybody was asked for. That is enough to go on over TCP.
			reply = &dns.Msg{MsgHdr: dns.MsgHdr{Id: q.Id, Response: true, Truncated: true}, Question: q.Question}
		}
		if match(reply, q) != matchesNot {
			return reply, nil
		}
	}
	return nil, fmt.Errorf("%w: %d datagrams and none was the reply", ErrServer, datagramsMax)
}

// truncatedHeader says whether a message's header has our id and is that of a reply which was truncated: it says so itself, unless we
// know better.
func truncatedHeader(b []byte, id uint16, known bool) bool {
	return binary.BigEndian.Uint16(b) == id && b[2]&0x80 != 0 && (known || b[2]&0x02 != 0)
}

type matching uint8

const (
	matchesNot matching = iota
	matchesButCase
	matches
)

// match says whether reply answers q.
func match(reply, q *dns.Msg) matching {
	if !reply.Response || reply.Id != q.Id || len(reply.Question) != 1 || len(q.Question) != 1 {
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
