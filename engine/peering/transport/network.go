package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/grpclog"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/stats"

	"orbweaver/engine/peering/identity"
)

// This file is the only one of the package that reaches the network. It accepts literal addresses only.

// Network is what a Transport listens on and connects through. The addresses are literal, and on loopback if the
// Transport is Plain.
type Network interface {
	Listen(ctx context.Context, addr netip.AddrPort) (net.Listener, error)
	Dial(ctx context.Context, addr netip.AddrPort) (net.Conn, error)
}

// listener is what a Transport listens with.
type listener = net.Listener

// acceptor makes an accepted of each connection.
type acceptor struct{ listener }

// Accept implements net.Listener.
func (a acceptor) Accept() (net.Conn, error) {
	conn, err := a.listener.Accept()
	if err != nil {
		return nil, err
	}
	return &accepted{Conn: conn}, nil
}

// checkAddr returns an error unless the address may be connected to.
func checkAddr(addr netip.AddrPort, plain bool) error {
	switch ip := addr.Addr().Unmap(); {
	case !ip.IsValid() || addr.Port() == 0 || ip.IsUnspecified() || ip.IsMulticast():
		return fmt.Errorf("%w: %s is no address of an agent", ErrUnreachable, addr)
	case plain && !ip.IsLoopback():
		return fmt.Errorf("%w: %s is not on loopback, and this agent has no certificates: make them (\"orbweaver ca init\")",
			ErrIdentity, addr)
	}
	return nil
}

// tcp is the Network of a Transport that is given none.
type tcp struct{}

// Listen implements Network.
func (tcp) Listen(ctx context.Context, addr netip.AddrPort) (net.Listener, error) {
	config := net.ListenConfig{KeepAliveConfig: kernelKeepAlive()}
	return config.Listen(ctx, "tcp", addr.String())
}

// Dial implements Network.
func (tcp) Dial(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
	d := net.Dialer{KeepAliveConfig: kernelKeepAlive()}
	conn, err := d.DialContext(ctx, "tcp", addr.String())
	if err != nil {
		return nil, err
	}
	return watched(conn)
}

// lostAfter is how long a machine may leave data unacknowledged before it counts as lost. It is as long as membership
// takes to notice a failed agent.
const lostAfter = 9 * time.Second

// watchedConn is a connection that ends when the other machine is lost. It is no *net.TCPConn: gRPC would set a limit
// of its own, keepAliveTimeout, on one.
type watchedConn struct{ net.Conn }

func watched(conn net.Conn) (net.Conn, error) {
	t, ok := conn.(*net.TCPConn)
	if !ok {
		return conn, nil
	}
	raw, err := t.SyscallConn()
	if err == nil {
		err = limitUnacknowledged(raw, lostAfter)
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return watchedConn{conn}, nil
}

// kernelKeepAlive lets the kernel notice within ten seconds that the other machine is lost, if nothing is in flight.
func kernelKeepAlive() net.KeepAliveConfig {
	return net.KeepAliveConfig{Enable: true, Idle: 4 * time.Second, Interval: 2 * time.Second, Count: 3}
}

// Keep-alive of gRPC. Either end asks after keepAliveTime in which it has read nothing, and closes the connection if
// then it reads nothing for keepAliveTimeout. gRPC counts whole HTTP/2 frames of 16 KiB. One of these takes 16 s at
// 1 KiB/s, and such a connection must last.
const (
	keepAliveTime    = 10 * time.Second // the least that gRPC allows a client
	keepAliveTimeout = 25 * time.Second
	noMinimum        = -1 // of the time between two pings; 0 would be the default of gRPC
)

// What a connection buffers of what its reader has not asked for, in bytes. gRPC widens the window of a stream while a
// reader waits for a longer message.
const (
	streamWindow = 64 << 10
	connWindow   = 512 << 10
	headersMax   = 8 << 10
	envelopeMax  = 64 // of a message besides its content
)

// newClient makes the client of one peer. It connects when a call needs it, again after failures by gRPC's back-off,
// and closes a connection that is idle. No call is repeated.
func newClient(
	peer Peer, messageMax int, dial func(ctx context.Context) (net.Conn, error), c credentials.TransportCredentials,
) (*grpc.ClientConn, error) {
	return grpc.NewClient("passthrough:///"+peer.Addr.String(),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return dial(ctx) }),
		grpc.WithTransportCredentials(c), grpc.WithAuthority(identity.ServerName), grpc.WithUserAgent("orbweaver"),
		grpc.WithNoProxy(), grpc.WithDisableRetry(), grpc.WithDisableServiceConfig(), grpc.WithDisableHealthCheck(),
		grpc.WithIdleTimeout(idleTimeout),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: backoff.Config{
				BaseDelay: 200 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 5 * time.Second,
			},
			MinConnectTimeout: handshakePatience,
		}),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: keepAliveTime, Timeout: keepAliveTimeout}),
		grpc.WithStaticStreamWindowSize(streamWindow), grpc.WithStaticConnWindowSize(connWindow),
		grpc.WithMaxHeaderListSize(headersMax),
		grpc.WithDefaultCallOptions(
			grpc.MaxCallRecvMsgSize(messageMax+envelopeMax), grpc.MaxCallSendMsgSize(messageMax+envelopeMax),
		),
	)
}

// newServer makes the server of an agent. A connection has at most streamsMax calls at once.
func newServer(
	messageMax int, streamsMax int, c credentials.TransportCredentials, h stats.Handler,
) *grpc.Server {
	return grpc.NewServer(grpc.Creds(c), grpc.StatsHandler(h), grpc.WaitForHandlers(true),
		grpc.MaxRecvMsgSize(messageMax+envelopeMax), grpc.MaxSendMsgSize(messageMax+envelopeMax),
		grpc.StaticStreamWindowSize(streamWindow), grpc.StaticConnWindowSize(connWindow),
		grpc.MaxConcurrentStreams(uint32(streamsMax)), grpc.MaxHeaderListSize(headersMax),
		grpc.ConnectionTimeout(handshakePatience),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: keepAliveTime, Timeout: keepAliveTimeout}),
		// Pings that waited behind a slow batch arrive at one moment, and so must not count as a breach of the protocol.
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: noMinimum, PermitWithoutStream: true}))
}

// Quiet silences the log of gRPC. That log is one for the whole process and would write to standard error what Send
// returns and Stats counts. A program calls it once, before it opens a Transport.
func Quiet() { grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, io.Discard, io.Discard)) }
