package post

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"

	"orbweaver/engine/post/identity"
)

// This file is the one door of letters to the network. Only literal addresses pass it.

// checkAddr returns a fault unless the address may be connected to.
func checkAddr(addr netip.AddrPort, plain bool) error {
	switch ip := addr.Addr().Unmap(); {
	case !ip.IsValid() || addr.Port() == 0 || ip.IsUnspecified() || ip.IsMulticast():
		return fmt.Errorf("%w: %s is no address of an agent", ErrUnreachable, addr)
	case plain && !ip.IsLoopback():
		return fmt.Errorf("%w: %s is not on loopback, and this agent has no certificates: make them (\"orbweaver ca init\")", ErrIdentity, addr)
	}
	return nil
}

// connect is the one function that connects.
func (o *Office) connect(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
	if err := checkAddr(addr, o.opt.Plain); err != nil {
		return nil, err
	}
	return o.opt.Network.Dial(ctx, addr)
}

// Network is what an Office stands on. The addresses are literal, and on loopback if the Office is Plain.
type Network interface {
	Listen(ctx context.Context, addr netip.AddrPort) (net.Listener, error)
	Dial(ctx context.Context, addr netip.AddrPort) (net.Conn, error)
}

// listener is what an Office listens with.
type listener = net.Listener

// guests takes connections whose ends are noticed.
type guests struct{ listener }

// Accept implements net.Listener.
func (g guests) Accept() (net.Conn, error) {
	conn, err := g.listener.Accept()
	if err != nil {
		return nil, err
	}
	return &guest{Conn: conn}, nil
}

// tcp is the network of life.
type tcp struct{}

// Listen implements Network.
func (tcp) Listen(ctx context.Context, addr netip.AddrPort) (net.Listener, error) {
	config := net.ListenConfig{KeepAliveConfig: keepAlive()}
	return config.Listen(ctx, "tcp", addr.String())
}

// Dial implements Network.
func (tcp) Dial(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
	d := net.Dialer{KeepAliveConfig: keepAlive()}
	return d.DialContext(ctx, "tcp", addr.String())
}

// keepAlive lets the kernel notice a machine that is gone within ten seconds or so.
func keepAlive() net.KeepAliveConfig {
	return net.KeepAliveConfig{Enable: true, Idle: 4 * time.Second, Interval: 2 * time.Second, Count: 3}
}

// newClient makes the connection of a link. It connects when somebody wants to send, and after a failure by gRPC's own back-off, until
// nobody has wanted to for a while: an open session is somebody. gRPC's keepalive stays off: it closes connections to peers that are merely
// slow (TCP_USER_TIMEOUT counts a closed window too); beats are ours.
func (o *Office) newClient(l *link) (*grpc.ClientConn, error) {
	return grpc.NewClient("passthrough:///"+l.peer.Addr.String(),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			conn, err := o.connect(ctx, l.peer.Addr)
			if err != nil {
				l.note(err)
				return nil, err
			}
			return l.hold(conn)
		}),
		grpc.WithTransportCredentials(l.credentials()),
		grpc.WithAuthority(identity.ServerName), grpc.WithNoProxy(), grpc.WithDisableRetry(), grpc.WithDisableServiceConfig(), grpc.WithDisableHealthCheck(),
		grpc.WithUserAgent("orbweaver"), grpc.WithIdleTimeout(rest),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 200 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 5 * time.Second},
			MinConnectTimeout: helloPatience,
		}),
		grpc.WithStaticStreamWindowSize(streamWindow), grpc.WithStaticConnWindowSize(connWindow),
		grpc.WithMaxHeaderListSize(headersMax),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(o.codec), grpc.MaxCallRecvMsgSize(o.opt.BatchMax+headMax), grpc.MaxCallSendMsgSize(batchLimit+headMax)),
	)
}

// frameMax is how long nothing may come of a sender that was asked whether it lives. gRPC counts whole frames of HTTP/2, 16 KiB, which take a slow
// line so many seconds.
const frameMax = 30 * time.Second

// What a connection buffers of what nobody has read, in bytes.
const (
	streamWindow = 256 << 10
	connWindow   = 512 << 10
	headersMax   = 8 << 10
)

// newServer makes the side that is called.
func (o *Office) newServer(c credentials.TransportCredentials) *grpc.Server {
	return grpc.NewServer(grpc.Creds(c), grpc.ForceServerCodecV2(o.codec), grpc.WaitForHandlers(true),
		grpc.MaxRecvMsgSize(o.opt.BatchMax+headMax), grpc.MaxSendMsgSize(batchLimit+headMax),
		grpc.StaticStreamWindowSize(streamWindow), grpc.StaticConnWindowSize(connWindow),
		grpc.MaxConcurrentStreams(asksMax+2), grpc.MaxHeaderListSize(headersMax), grpc.ConnectionTimeout(helloPatience),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: 10 * time.Second, Timeout: frameMax}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 5 * time.Second, PermitWithoutStream: true}))
}
