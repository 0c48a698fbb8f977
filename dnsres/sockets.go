package dnsres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"github.com/miekg/dns"
)

// sockets asks questions over UDP for a Resolver. A socket has one question at a time. While many questions are in
// flight, a socket whose question had its reply is used again. doc.go says what this means for a forger.
type sockets struct {
	dial DialFunc

	mu       sync.Mutex
	inFlight int       // questions that have begun and not ended
	idle     []*socket // no more than the most questions that were in flight; empty below reuseFrom
}

const (
	reuseFrom    = 64              // questions in flight from which sockets are used again
	socketLife   = 5 * time.Second // a socket is not used again after this time, as long as a question without a reply
	socketsUsage = 64              // questions of a socket
)

// socket is a UDP socket that is connected to a server. It belongs to one question at a time.
type socket struct {
	conn   net.Conn
	server *upstream
	opened time.Time
	uses   int

	question [512]byte
	buf      [4096]byte // of a reply: more than the advertised size, which some servers ignore
}

// exchange sends msg and returns the first reply to it. It returns at the deadline, or when ctx ends. It ignores
// datagrams that are no reply to msg: they may be forged, and the true reply may still arrive.
func (s *sockets) exchange(ctx context.Context, msg *dns.Msg, server *upstream, deadline time.Time) (*dns.Msg, error) {
	sock := s.begin(server, time.Now())
	for {
		isFresh := sock == nil
		if isFresh {
			dialling, cancel := context.WithDeadline(ctx, deadline)
			conn, err := s.dial(dialling, "udp", server.addr.String())
			cancel()
			if err != nil {
				s.end(nil)
				return nil, fmt.Errorf("dnsres: dialling %v: %w", server.addr, err)
			}
			sock = &socket{conn: conn, server: server, opened: time.Now()}
		}
		reply, isSent, err := sock.roundTrip(ctx, msg, deadline)
		switch {
		case err == nil && reply.isOnly && ctx.Err() == nil:
			s.end(sock)
			return reply.msg, nil
		case !isSent && !isFresh && ctx.Err() == nil:
			// The address of this machine may have changed since the socket was opened.
			_ = sock.conn.Close()
			sock = nil
			continue
		}
		_ = sock.conn.Close()
		s.end(nil)
		return reply.msg, err
	}
}

// begin counts a question, and returns a random idle socket for it, nil if there is none.
func (s *sockets) begin(server *upstream, now time.Time) (sock *socket) {
	var unused *socket
	s.mu.Lock()
	s.inFlight++
	for n := len(s.idle); n > 0 && sock == nil; n-- {
		i := rand.IntN(n)
		s.idle[i], s.idle[n-1] = s.idle[n-1], s.idle[i]
		if x := s.idle[n-1]; x.server == server && now.Sub(x.opened) < socketLife {
			sock = x
			s.remove(n - 1)
		}
	}
	// The idle sockets are of other servers, or old. The new one takes the place of one of them.
	if n := len(s.idle); sock == nil && n > 0 {
		unused = s.idle[n-1]
		s.remove(n - 1)
	}
	s.mu.Unlock()
	if unused != nil {
		_ = unused.conn.Close()
	}
	return sock
}

// remove removes an idle socket. The caller holds mu.
func (s *sockets) remove(i int) {
	last := len(s.idle) - 1
	s.idle[i], s.idle[last] = s.idle[last], nil
	s.idle = s.idle[:last]
}

// end counts the end of a question. It takes its socket, if it can be used again. When few questions are in flight, it
// closes all idle sockets.
func (s *sockets) end(sock *socket) {
	var unused []*socket
	s.mu.Lock()
	s.inFlight--
	if sock != nil && sock.uses < socketsUsage {
		s.idle = append(s.idle, sock)
		sock = nil
	}
	if s.inFlight < reuseFrom {
		unused, s.idle = s.idle, nil
	}
	s.mu.Unlock()
	if sock != nil {
		_ = sock.conn.Close()
	}
	for _, u := range unused {
		_ = u.conn.Close()
	}
}

// heardReply is a reply over UDP.
type heardReply struct {
	msg    *dns.Msg
	isOnly bool // it is whole, repeats the question, and no other datagram came before it
}
