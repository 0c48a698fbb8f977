package dnsres

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// openConns counts the connections of a test that are open.
type openConns struct {
	now, ever int
	writeErr  error  // of the next question on a connection that had one
	extra     []byte // arrives before the next reply, if not nil
}

// countedConn is a connection of openConns to a server that answers each question.
type countedConn struct {
	cannedConn
	all   *openConns
	asked int
}

func (c *countedConn) Close() error {
	c.all.now--
	return nil
}

func (c *countedConn) Write(p []byte) (int, error) {
	if c.asked++; c.asked > 1 && c.all.writeErr != nil {
		return 0, c.all.writeErr
	}
	return c.cannedConn.Write(p)
}

func (o *openConns) dial(t *testing.T) DialFunc {
	return func(context.Context, string, string) (net.Conn, error) {
		o.now++
		o.ever++
		return &countedConn{all: o, cannedConn: cannedConn{reply: func(q []byte) (out [][]byte) {
			if o.extra != nil {
				out, o.extra = append(out, o.extra), nil
			}
			return append(out, answerTo(t, q, func(*dns.Msg) {}))
		}}}, nil
	}
}

// asking asks a server for a name n times, one after the other.
func asking(t *testing.T, s *sockets, server *upstream, n int) {
	t.Helper()
	for range n {
		q := question("a.test.", dns.TypeA, form{true, true})
		reply, err := s.exchange(t.Context(), q, server, time.Now().Add(time.Minute))
		if err != nil || len(reply.Answer) != 1 {
			t.Fatal(reply, err)
		}
	}
}

// servers are two name servers.
func servers() (a, b *upstream) {
	a, b = &upstream{addr: netip.MustParseAddrPort("192.0.2.1:53")}, new(upstream)
	b.addr = netip.MustParseAddrPort("192.0.2.2:53")
	return a, b
}

func TestSockets_areUsedAgainWhileManyQuestionsAreInFlight(t *testing.T) {
	serverA, serverB := servers()
	var open openConns
	s := &sockets{dial: open.dial(t)}
	if asking(t, s, serverA, 20); open.ever != 20 || open.now != 0 {
		t.Errorf("alone, 20 questions had %d sockets, %d are open", open.ever, open.now)
	}
	s.inFlight, open.ever = reuseFrom, 0
	if asking(t, s, serverA, 10*socketsUsage); open.ever != 10 || open.now > 1 {
		t.Errorf("among others, %d questions had %d sockets, %d are open", 10*socketsUsage, open.ever, open.now)
	}
	asking(t, s, serverA, 1)
	if asking(t, s, serverB, 1); open.now != 1 || s.idle[0].server != serverB {
		t.Errorf("%d sockets for a question to one server after one to another", open.now)
	}
	s.inFlight = 0
	if asking(t, s, serverB, 1); open.now != 0 || len(s.idle) != 0 {
		t.Errorf("after the last question %d sockets are open", open.now)
	}
}

func TestSockets_areNotUsedAgainWhenTheyAreOld(t *testing.T) {
	serverA, _ := servers()
	var open openConns
	s := &sockets{dial: open.dial(t), inFlight: reuseFrom}
	asking(t, s, serverA, 1)
	s.idle[0].opened = time.Now().Add(-socketLife)
	if asking(t, s, serverA, 1); open.ever != 2 || open.now != 1 {
		t.Errorf("%d sockets, %d are open", open.ever, open.now)
	}
}

// A forger may have found the port of a socket on which a foreign datagram arrives.
func TestSockets_areNotUsedAgainAfterAForeignDatagram(t *testing.T) {
	serverA, _ := servers()
	var open openConns
	s := &sockets{dial: open.dial(t), inFlight: reuseFrom}
	asking(t, s, serverA, 5)
	open.extra = []byte("forged")
	if asking(t, s, serverA, 1); open.ever != 1 || open.now != 0 {
		t.Errorf("%d sockets, %d are open", open.ever, open.now)
	}
}

// The address of a machine may change between two questions: what is sent from the old one fails.
func TestSockets_aQuestionThatAnOldSocketCannotSendHasANewOne(t *testing.T) {
	serverA, _ := servers()
	var open openConns
	s := &sockets{dial: open.dial(t), inFlight: reuseFrom}
	asking(t, s, serverA, 5)
	open.writeErr = errors.New("no such address")
	if asking(t, s, serverA, 1); open.ever != 2 || open.now != 1 {
		t.Errorf("%d sockets, %d are open", open.ever, open.now)
	}
}

// A dial function may wait until its context ends.
func TestSockets_theDeadlineEndsADial(t *testing.T) {
	serverA, _ := servers()
	s := &sockets{dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	q := question("a.test.", dns.TypeA, form{true, true})
	_, err := s.exchange(t.Context(), q, serverA, time.Now().Add(time.Millisecond))
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}
