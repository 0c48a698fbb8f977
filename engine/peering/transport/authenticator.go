package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc/credentials"

	"orbweaver/engine/peering"
	"orbweaver/engine/peering/identity"
)

// authenticator decides which agent is at the other end of a connection.
type authenticator struct {
	self, crawl string
	plain       bool
	tls         atomic.Pointer[tls.Config] // nil in plain text
	generations generations
	handshakes  peering.SourceLimit // connections that have not shown a certificate
	conns       *connLimit
	refusals    *refusals
	accepted    atomic.Uint64 // connections so far
}

func newAuthenticator(o *Options, r *refusals) (*authenticator, error) {
	a := &authenticator{
		self: o.Self, crawl: o.Crawl, plain: o.Plain, conns: newConnLimit(o.PeersMax), refusals: r,
		handshakes: peering.SourceLimit{Max: handshakesMax, PerSource: handshakesPerSource},
		generations: generations{
			newest: maps.Clone(o.Generations), open: make(map[string]map[*certified]bool),
			save: o.SaveGenerations, log: o.Log,
		},
	}
	if a.generations.newest == nil {
		a.generations.newest = make(map[string]uint64)
	}
	if o.Plain {
		return a, nil
	}
	_, err := a.renew(o.Identity)
	return a, err
}

// renew takes a certificate of this agent for further connections. It reports whether it differs from the one before.
func (a *authenticator) renew(id *identity.Identity) (changed bool, err error) {
	changed, err = a.generations.renew(a.self, identity.Generation(id.Certificate.Leaf))
	if err == nil && (changed || a.tls.Load() == nil) {
		a.tls.Store(tlsConfig(id))
	}
	return changed, err
}

// tlsConfig is what both ends demand: TLS 1.3, and a certificate of the crawl's authority. Without session tickets each
// connection shows its certificate, and no part of an earlier connection can be replayed.
func tlsConfig(id *identity.Identity) *tls.Config {
	pool := x509.NewCertPool()
	pool.AddCert(id.Authority)
	return &tls.Config{
		MinVersion: tls.VersionTLS13, NextProtos: []string{"h2"}, SessionTicketsDisabled: true,
		Certificates: []tls.Certificate{id.Certificate},
		ServerName:   identity.ServerName, RootCAs: pool,
		ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool,
	}
}

// verify reads the names and the generation in a certificate whose signature package tls has verified.
func (a *authenticator) verify(s tls.ConnectionState) (id string, generation uint64, err error) {
	leaf := s.PeerCertificates[0]
	crawl, id, err := identity.Of(leaf)
	switch {
	case s.NegotiatedProtocol != "h2":
		return id, 0, fmt.Errorf("%w: the connection is not HTTP/2", errMalformed)
	case err != nil:
		return "", 0, fmt.Errorf("%w: %w", ErrIdentity, err)
	case crawl != a.crawl:
		return id, 0, fmt.Errorf("%w: %s is an agent of crawl %s, this is crawl %s", ErrIdentity, id, crawl, a.crawl)
	case id == a.self:
		return id, 0, a.sameName()
	}
	return id, identity.Generation(leaf), nil
}

func (a *authenticator) sameName() error {
	return fmt.Errorf("%w: the other agent has the name of this agent, %s: names must differ", ErrIdentity, a.self)
}

// accept does the handshake of a connection that this agent accepted.
func (a *authenticator) accept(raw *accepted) (net.Conn, credentials.AuthInfo, error) {
	fail := func(id string, err error) (net.Conn, credentials.AuthInfo, error) {
		a.refusals.add(refusalOf(err, RefusedHandshake), id, raw.RemoteAddr(), err)
		return nil, nil, errors.Join(err, raw.Close())
	}
	leave, ok := a.handshakes.Enter(raw.RemoteAddr().String())
	if !ok {
		return fail("", fmt.Errorf("%w: they have shown no certificate yet", errTooMany))
	}
	conn, id, leaveGeneration, err := a.handshake(raw)
	leave()
	if err != nil {
		return fail(id, err)
	}
	leaveConns, err := a.conns.enter(id)
	if err != nil {
		leaveGeneration()
		return fail(id, err)
	}
	r := &remote{
		id: id, number: a.accepted.Add(1), conn: raw,
		CommonAuthInfo: credentials.CommonAuthInfo{SecurityLevel: a.securityLevel()},
	}
	raw.afterClose(func() {
		leaveConns()
		leaveGeneration()
		if !r.counted.Load() {
			a.refusals.add(RefusedSilent, id, raw.RemoteAddr(), errSilent)
		}
	})
	return conn, r, nil
}

var errSilent = errors.New("the connection ended without a call that was admitted")

// handshake finds out which agent has connected. leave must be called when the connection has ended.
func (a *authenticator) handshake(raw *accepted) (conn net.Conn, id string, leave func(), err error) {
	if a.plain {
		if !isLoopback(raw.RemoteAddr()) {
			return nil, "", nil, fmt.Errorf("%w: not from loopback, and this agent has no certificates", ErrIdentity)
		}
		return raw, "", func() {}, nil
	}
	secure := tls.Server(raw, a.tls.Load())
	if err := secure.Handshake(); err != nil {
		return nil, "", nil, err
	}
	id, generation, err := a.verify(secure.ConnectionState())
	if err != nil {
		return nil, id, nil, err
	}
	leave, err = a.generations.enter(id, generation, func() {
		a.refusals.add(RefusedReplaced, id, raw.RemoteAddr(), errReplaced)
		_ = raw.Close() // its reader ends
	})
	return secure, id, leave, err
}

// connect does the handshake of a connection that this agent made to a peer.
func (a *authenticator) connect(ctx context.Context, raw net.Conn, to Peer) (_ *verified, capacity int, err error) {
	conn := tls.Client(raw, a.tls.Load())
	if err := conn.HandshakeContext(ctx); err != nil {
		if refusalOf(err, RefusedHandshake) != RefusedHandshake && !errors.Is(err, ErrIdentity) {
			err = fmt.Errorf("%w: %s: %w", ErrIdentity, to.ID, err)
		}
		return nil, 0, err
	}
	id, generation, err := a.verify(conn.ConnectionState())
	if err != nil {
		return nil, 0, err
	}
	if id != to.ID {
		return nil, 0, fmt.Errorf("%w: at %s there is %s, not %s", ErrIdentity, to.Addr, id, to.ID)
	}
	leave, err := a.generations.enter(id, generation, func() { _ = raw.Close() }) // its reader ends
	if err != nil {
		return nil, 0, err
	}
	return &verified{Conn: conn, onClose: sync.OnceFunc(leave)},
		identity.CapacityOf(conn.ConnectionState().PeerCertificates[0]), nil
}

func (a *authenticator) securityLevel() credentials.SecurityLevel {
	if a.plain {
		return credentials.NoSecurity
	}
	return credentials.PrivacyAndIntegrity
}

// handshaker implements credentials.TransportCredentials by an authenticator.
type handshaker struct {
	auth *authenticator
	// connect does the handshake as a client; nil for a server.
	connect func(ctx context.Context, raw net.Conn) (net.Conn, error)
}

// ServerHandshake implements credentials.TransportCredentials.
func (h *handshaker) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return h.auth.accept(raw.(*accepted))
}

// ClientHandshake implements credentials.TransportCredentials.
func (h *handshaker) ClientHandshake(
	ctx context.Context, _ string, raw net.Conn,
) (net.Conn, credentials.AuthInfo, error) {
	conn, err := h.connect(ctx, raw)
	if err != nil {
		return nil, nil, errors.Join(err, raw.Close())
	}
	return conn, &remote{CommonAuthInfo: credentials.CommonAuthInfo{SecurityLevel: h.auth.securityLevel()}}, nil
}

// Info implements credentials.TransportCredentials.
func (h *handshaker) Info() credentials.ProtocolInfo {
	if h.auth.plain {
		return credentials.ProtocolInfo{SecurityProtocol: "insecure"}
	}
	return credentials.ProtocolInfo{SecurityProtocol: "tls"}
}

// Clone implements credentials.TransportCredentials.
func (h *handshaker) Clone() credentials.TransportCredentials { return &handshaker{h.auth, h.connect} }

// OverrideServerName implements credentials.TransportCredentials. The name is always that of the certificate.
func (h *handshaker) OverrideServerName(string) error { return nil }

func isLoopback(a net.Addr) bool {
	addr, err := netip.ParseAddrPort(a.String())
	return err == nil && addr.Addr().Unmap().IsLoopback()
}
