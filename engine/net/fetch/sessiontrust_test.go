package fetch

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/internal/outcome"
	"orbweaver/internal/vfs"
)

// rotatingServer shows the certificate that it has at the time, and takes sessions or declines them.
type rotatingServer struct {
	*Target
	now     atomic.Pointer[tls.Config]
	version uint16
}

func newRotatingServer(t *testing.T, version uint16) *rotatingServer {
	t.Helper()
	s := &rotatingServer{version: version}
	s.Target = serveTLS(t, &tls.Config{
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return s.now.Load(), nil },
	})
	return s
}

// takesSessions makes the server accept sessions that it has given, and give others.
func (s *rotatingServer) takesSessions(cert tls.Certificate) {
	config := overHTTP1(cert, s.version)
	config.SetSessionTicketKeys([][32]byte{{1}})
	s.now.Store(config)
}

// declinesSessions makes the server do whole handshakes, and give no session.
func (s *rotatingServer) declinesSessions(cert tls.Certificate) {
	config := overHTTP1(cert, s.version)
	config.SessionTicketsDisabled = true
	s.now.Store(config)
}

// sessionsAnd returns Sessions, and a function that moves all of them to the file if isOnDisk.
func sessionsAnd(t *testing.T, isOnDisk bool) (s *Sessions, settle func()) {
	t.Helper()
	s = NewSessions(10_000, vfs.Disk(), t.TempDir()+"/sessions")
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, func() {
		if isOnDisk { // another server takes all of the memory
			s.put(xxh3.Uint128{Lo: 1}, session{bytes: 10_000})
		}
	}
}

// A server that shows a certificate that does not verify has no session from then on, whatever it showed before.
func TestSessions_aFaultyCertificateEndsTheTrust(t *testing.T) {
	ca := newAuthority(t)
	good, expired := ca.issue(t, time.Hour, "a.example"), ca.issue(t, -time.Hour, "a.example")
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		for _, isOnDisk := range []bool{false, true} {
			for _, p := range []struct{ declined, last TLSMode }{
				{TLSTolerant, TLSTolerant}, {TLSTolerant, TLSStrict}, {TLSStrict, TLSTolerant}, {TLSStrict, TLSStrict},
			} {
				server, o := newRotatingServer(t, version), testOptions()
				sessions, settle := sessionsAnd(t, isOnDisk)
				o.RootCAs, o.Sessions = ca.pool(), sessions
				server.takesSessions(good)
				visit(t, o, server.Target)
				settle()
				server.declinesSessions(expired)
				for range 2 {
					visitExpired(t, o, p.declined, server.Target)
				}
				server.takesSessions(expired)
				visitExpired(t, o, p.last, server.Target)
				if t.Failed() {
					t.Fatalf("TLS %x, sessions on disk: %v, policies %+v", version, isOnDisk, p)
				}
			}
		}
	}
}

// visitExpired fetches a target whose certificate has expired.
func visitExpired(t *testing.T, o Options, policy TLSMode, target *Target) {
	t.Helper()
	want := outcome.OK
	if o.TLS = policy; policy == TLSStrict {
		want = outcome.TLSFault
	}
	fetchOnce(t, o, LoopbackOnly(), target, func(p *Page) {
		if facts := p.Connection.TLS; p.Outcome != want || facts.Resumed || facts.Fault != "expired" {
			t.Errorf("%v %q, resumed: %v, fault %q", p.Outcome, p.Err, facts.Resumed, facts.Fault)
		}
	})
}

// A session says what the last whole handshake has shown: with another chain of the server, an earlier session ends.
func TestSessions_anotherChainEndsTheSession(t *testing.T) {
	ca := newAuthority(t)
	old, renewed := ca.issue(t, time.Hour, "a.example"), ca.issue(t, 2*time.Hour, "a.example")
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		for _, isOnDisk := range []bool{false, true} {
			server, o := newRotatingServer(t, version), testOptions()
			sessions, settle := sessionsAnd(t, isOnDisk)
			o.RootCAs, o.TLS, o.Sessions = ca.pool(), TLSStrict, sessions
			server.takesSessions(old)
			visit(t, o, server.Target)
			settle()
			server.declinesSessions(renewed)
			visit(t, o, server.Target)
			server.takesSessions(renewed)
			whole, resumed := visit(t, o, server.Target), visit(t, o, server.Target)
			chain := sha256.Sum256(renewed.Certificate[0])
			if whole.Resumed || whole.Chain != chain || !resumed.Resumed || resumed.Chain != chain {
				t.Errorf("TLS %x, sessions on disk: %v: resumed: %v, chain %x; then %v, %x; want chain %x", version, isOnDisk,
					whole.Resumed, whole.Chain[:4], resumed.Resumed, resumed.Chain[:4], chain[:4])
			}
		}
	}
}

// A server may send a ticket of up to 64 KiB. Above the bound it is not stored, and the page is fetched all the same.
func TestSessions_aLargeTicketIsNotStored(t *testing.T) {
	const largest = 1<<16 - 13 // TLS 1.3 with the largest message that the library reads
	ca := newAuthority(t)
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		for _, size := range []int{ticketMax, ticketMax + 1, 1 << 15, largest} {
			config := overHTTP1(ca.issue(t, time.Hour, "a.example"), version)
			config.SetSessionTicketKeys([][32]byte{{1}})
			config.WrapSession = func(cs tls.ConnectionState, state *tls.SessionState) ([]byte, error) {
				ticket, err := config.EncryptTicket(cs, state)
				padded := append(ticket, make([]byte, size-len(ticket))...)
				return binary.BigEndian.AppendUint16(padded[:size-2], uint16(len(ticket))), err
			}
			config.UnwrapSession = func(ticket []byte, cs tls.ConnectionState) (*tls.SessionState, error) {
				if len(ticket) == 0 { // without a session
					return nil, nil
				}
				return config.DecryptTicket(ticket[:binary.BigEndian.Uint16(ticket[len(ticket)-2:])], cs)
			}
			target, o := serveTLS(t, config), testOptions()
			o.RootCAs, o.TLS, o.Sessions = ca.pool(), TLSStrict, testSessions(1<<17)
			visit(t, o, target)
			second, isStored, s := visit(t, o, target), size <= ticketMax, o.Sessions
			if second.Resumed != isStored || (len(s.mu.held) == 1) != isStored || s.mu.bytes > 3*ticketMax {
				t.Errorf("TLS %x, a ticket of %d bytes: resumed: %v, %d sessions of %d bytes are stored",
					version, size, second.Resumed, len(s.mu.held), s.mu.bytes)
			}
		}
	}
}

// A session that is dropped on its way from memory to the file is not in the file either. Other servers keep theirs.
func TestSessions_aDropReachesTheFile(t *testing.T) {
	ca := newAuthority(t)
	target := serveTLS(t, overHTTP1(ca.issue(t, time.Hour, "a.example"), tls.VersionTLS13))
	o := testOptions()
	o.RootCAs = ca.pool()
	o.Sessions, _ = sessionsAnd(t, false)
	visit(t, o, target)
	server, s := xxh3.Hash128(target.Host), o.Sessions
	one := s.mu.held[server]
	moved := s.replace(xxh3.Uint128{Lo: 1}, session{bytes: 10_000})
	if len(moved) != 1 || moved[0].server != server {
		t.Fatalf("%d sessions left memory", len(moved))
	}
	s.drop(server)
	s.moveToFile(&moved[0])
	if _, ok := s.take(server, time.Now()); ok {
		t.Error("the session was dropped before it was written, and is in the file")
	}
	neighbour := xxh3.Uint128{Hi: server.Hi + 1, Lo: server.Lo}
	if s.spill.write(neighbour, &one) > 0 {
		t.Fatal("there was no room")
	}
	s.drop(server)
	if _, ok := s.take(neighbour, time.Now()); !ok {
		t.Error("the session of another server was dropped")
	}
	if len(s.mu.moving) != 0 {
		t.Errorf("%d sessions are said to be on their way", len(s.mu.moving))
	}
}
