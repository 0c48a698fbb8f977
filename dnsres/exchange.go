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

// Exchanger sends a question to a server and returns the reply. It returns when a reply has arrived or ctx is done; the
// Resolver sets a deadline. A reply over UDP may be truncated. An Exchanger must be safe for concurrent use, and must
// not keep or change msg.
type Exchanger interface {
	Exchange(ctx context.Context, msg *dns.Msg, upstream netip.AddrPort, tcp bool) (*dns.Msg, error)
}

// DialFunc opens a connection; network is "udp" or "tcp". A net.Dialer's DialContext is one.
type DialFunc func(ctx context.Context, network, addr string) (net.Conn, error)

// NetExchanger is an Exchanger that uses a new connection of Dial for each question, so that each has its own source
// port.
type NetExchanger struct {
	Dial DialFunc
}

// Exchange sends msg and returns the first reply to it. Over UDP it ignores datagrams that are no reply to msg: they
// may be forged, and the true reply may still arrive.
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
	// An error here means that the connection is closed; then the read returns an error.
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

// datagramsMax is the number of ignored datagrams after which a question fails.
const datagramsMax = 1000

func readDatagrams(conn io.Reader, q *dns.Msg) (*dns.Msg, error) {
	buf := make([]byte, 4096) // more than the advertised size: some servers ignore it
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
			// The reply ends in the middle of a record. Its header says so, or it is longer than the advertised size.
			// The caller repeats the question over TCP.
			reply = &dns.Msg{MsgHdr: dns.MsgHdr{Id: q.Id, Response: true, Truncated: true}, Question: q.Question}
		}
		if match(reply, q) != matchesNot {
			return reply, nil
		}
	}
	return nil, fmt.Errorf("%w: %d datagrams and none was the reply", ErrServer, datagramsMax)
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
