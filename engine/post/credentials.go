package post

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc/credentials"

	"orbweaver/engine/post/identity"
)

// tlsOf is what both ends ask of each other: TLS 1.3, and a certificate of the crawl's authority. Tickets are off: every connection shows its
// certificate anew, and nothing of an earlier one can be played back.
func tlsOf(id *identity.Identity) *tls.Config {
	pool := x509.NewCertPool()
	pool.AddCert(id.Authority)
	return &tls.Config{
		MinVersion: tls.VersionTLS13, NextProtos: []string{"h2"}, SessionTicketsDisabled: true,
		Certificates: []tls.Certificate{id.Certificate},
		ServerName:   identity.ServerName, RootCAs: pool,
		ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool,
	}
}

// holder is who holds the other end of a connection, as far as it has shown.
type holder struct {
	credentials.CommonAuthInfo

	id      string // by its certificate; "" in plain text
	conn    net.Conn
	settled atomic.Bool // its hello was taken, or it is counted why not
}

// AuthType implements credentials.AuthInfo.
func (*holder) AuthType() string { return "orbweaver" }

// security is both ends of credentials.TransportCredentials. One of link and nil is a client's.
type security struct {
	office *Office
	link   *link
}

func (l *link) credentials() credentials.TransportCredentials { return &security{l.office, l} }

// ServerHandshake implements credentials.TransportCredentials.
func (s *security) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	o := s.office
	out, err := o.lobby.enter(raw.RemoteAddr())
	if err != nil {
		o.refused(RefusedCrowd, "", raw.RemoteAddr(), err)
		return nil, nil, errors.Join(err, raw.Close())
	}
	conn, id, leaveShown, err := o.takeIn(raw)
	out()
	if err != nil {
		o.refused(reasonOf(err), id, raw.RemoteAddr(), err)
		return nil, nil, errors.Join(err, raw.Close())
	}
	leave, err := o.conns.enter(id)
	if err != nil {
		leaveShown()
		o.refused(RefusedCrowd, id, raw.RemoteAddr(), err)
		return nil, nil, errors.Join(err, raw.Close())
	}
	h := &holder{id: id, conn: raw, CommonAuthInfo: credentials.CommonAuthInfo{SecurityLevel: s.level()}}
	raw.(*guest).onLeaving(func() {
		leave()
		leaveShown()
		if !h.settled.Load() && !o.closed() {
			o.refused(RefusedSilent, id, raw.RemoteAddr(), errors.New("the connection ended without a hello that was taken"))
		}
	})
	return conn, h, nil
}

// takeIn finds out which agent has connected. leave must be called when the connection has ended.
func (o *Office) takeIn(raw net.Conn) (conn net.Conn, id string, leave func(), err error) {
	if o.opt.Plain {
		if !isLoopback(raw.RemoteAddr()) {
			return nil, "", nil, fmt.Errorf("%w: not from loopback, and this agent has no certificates", ErrIdentity)
		}
		return raw, "", func() {}, nil
	}
	secure := tls.Server(raw, o.tls.Load())
	if err := secure.Handshake(); err != nil {
		return nil, "", nil, err
	}
	id, generation, err := o.verify(secure.ConnectionState())
	if err != nil {
		return nil, id, nil, err
	}
	leave, err = o.generations.enter(id, generation, func() {
		o.refused(RefusedReplaced, id, raw.RemoteAddr(), errReplaced)
		_ = raw.Close() // its reader ends
	})
	return secure, id, leave, err
}

// verify reads the names in a certificate whose signature package tls has checked, and its generation.
func (o *Office) verify(s tls.ConnectionState) (id string, generation uint64, err error) {
	leaf := s.PeerCertificates[0]
	crawl, id, err := identity.Of(leaf)
	switch {
	case s.NegotiatedProtocol != "h2":
		return id, 0, fmt.Errorf("%w: it does not speak HTTP/2", errMalformed)
	case err != nil:
		return "", 0, fmt.Errorf("%w: %w", ErrIdentity, err)
	case crawl != o.opt.Crawl:
		return id, 0, fmt.Errorf("%w: %s is an agent of crawl %s, this is crawl %s", ErrIdentity, id, crawl, o.opt.Crawl)
	case id == o.opt.Self:
		return id, 0, fmt.Errorf("%w: it bears the name of this agent, %s: a name is for one agent", ErrIdentity, id)
	}
	return id, identity.Generation(leaf), nil
}

// ClientHandshake implements credentials.TransportCredentials.
func (s *security) ClientHandshake(ctx context.Context, _ string, raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	info := credentials.CommonAuthInfo{SecurityLevel: s.level()}
	if s.office.opt.Plain {
		return raw, &holder{CommonAuthInfo: info}, nil
	}
	conn := tls.Client(raw, s.office.tls.Load())
	leave := func() {}
	err := conn.HandshakeContext(ctx)
	if err == nil {
		leave, err = s.meet(conn, raw)
	}
	if err != nil {
		if reasonOf(err) != RefusedHandshake && !errors.Is(err, ErrIdentity) {
			err = fmt.Errorf("%w: %s: %w", ErrIdentity, s.link.peer.ID, err)
		}
		s.link.note(err)
		return nil, nil, errors.Join(err, raw.Close())
	}
	s.link.prove(identity.CapacityOf(conn.ConnectionState().PeerCertificates[0]))
	return &visitor{Conn: conn, link: s.link, leave: sync.OnceFunc(leave)}, &holder{CommonAuthInfo: info, id: s.link.peer.ID}, nil
}

// meet checks which agent this one has connected to. leave must be called when the connection has ended.
func (s *security) meet(conn *tls.Conn, raw net.Conn) (leave func(), err error) {
	id, generation, err := s.office.verify(conn.ConnectionState())
	switch {
	case err != nil:
		return nil, err
	case id != s.link.peer.ID:
		return nil, fmt.Errorf("%w: at %s there is %s, and not %s", ErrIdentity, s.link.peer.Addr, id, s.link.peer.ID)
	}
	return s.office.generations.enter(id, generation, func() { _ = raw.Close() }) // its reader ends
}

// Info implements credentials.TransportCredentials.
func (s *security) Info() credentials.ProtocolInfo {
	if s.office.opt.Plain {
		return credentials.ProtocolInfo{SecurityProtocol: "insecure"}
	}
	return credentials.ProtocolInfo{SecurityProtocol: "tls"}
}

// Clone implements credentials.TransportCredentials.
func (s *security) Clone() credentials.TransportCredentials { return &security{s.office, s.link} }

// OverrideServerName implements credentials.TransportCredentials: the name is the certificate's, always.
func (s *security) OverrideServerName(string) error { return nil }

func (s *security) level() credentials.SecurityLevel {
	if s.office.opt.Plain {
		return credentials.NoSecurity
	}
	return credentials.PrivacyAndIntegrity
}

// guest is a connection that was taken, below TLS. It says once when it is closed, by whomever.
type guest struct {
	net.Conn
	mu     sync.Mutex
	closed bool
	left   func() // nil until it has a place to leave
}

func (g *guest) onLeaving(left func()) {
	g.mu.Lock()
	g.left = left
	closed := g.closed
	g.mu.Unlock()
	if closed {
		left()
	}
}

// Close may be called again.
func (g *guest) Close() error {
	err := g.Conn.Close()
	g.mu.Lock()
	first, left := !g.closed, g.left
	g.closed = true
	g.mu.Unlock()
	if first && left != nil {
		left()
	}
	return err
}

// visitor is a connection that we made. In TLS 1.3 the other end looks at our certificate when our handshake is over: what it
// thinks of it is the first thing that is read.
type visitor struct {
	net.Conn
	link  *link
	leave func() // may be called again
}

// Close may be called again.
func (v *visitor) Close() error {
	v.leave()
	return v.Conn.Close()
}

// Read implements net.Conn.
func (v *visitor) Read(b []byte) (int, error) {
	n, err := v.Conn.Read(b)
	var alert *net.OpError
	if errors.As(err, &alert) && alert.Op == "remote error" {
		v.link.note(fmt.Errorf("%w: %s does not take the certificate of this agent: %w", ErrIdentity, v.link.peer.ID, alert.Err))
	}
	return n, err
}

func isLoopback(a net.Addr) bool {
	addr, err := netip.ParseAddrPort(a.String())
	return err == nil && addr.Addr().Unmap().IsLoopback()
}

// reasonOf sorts what a handshake failed with.
func reasonOf(err error) Refusal {
	var (
		unknown x509.UnknownAuthorityError
		invalid x509.CertificateInvalidError
	)
	switch {
	case errors.Is(err, errReplaced):
		return RefusedReplaced
	case errors.Is(err, ErrIdentity), errors.As(err, &unknown):
		return RefusedIdentity
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return RefusedExpired
	case errors.As(err, &invalid):
		return RefusedIdentity
	}
	return RefusedHandshake
}
