package transport

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"orbweaver/engine/peering"
	"orbweaver/engine/peering/transport/transportpb"
)

// A peer that does not have the service, since it speaks another version of the protocol or is no agent at all, is told
// apart from one that is down.
func TestG07_aPeerWithoutTheService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, true)
		a, _ := c.agent("a", Options{})
		b, toB := c.agent("b", Options{})
		at := Peer{"b", addrAfter(toB.Addr)}
		serveBeside(t, c, b, at, func(*grpc.Server) {})
		if err := send(t, a, at, []byte("batch")); !errors.Is(err, ErrVersion) {
			t.Error(err)
		}
		if _, err := a.Call(t.Context(), at, 1, nil); !errors.Is(err, ErrVersion) {
			t.Error(err)
		}
	})
}

// serveBeside runs another server with the certificate and the settings of an agent.
func serveBeside(t *testing.T, c *cluster, as *Transport, at Peer, register func(*grpc.Server)) {
	t.Helper()
	other := &server{opt: &as.opt, peers: as.peers, bans: as.bans, refusals: as.refusals}
	s := newServer(as.opt.BatchMax, 16, &handshaker{auth: as.auth}, unaryWatch{other})
	register(s)
	l, err := c.Listen(t.Context(), at.Addr)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Serve(acceptor{l}) }()
	t.Cleanup(s.Stop)
}

// hostileServer answers calls as a test likes.
type hostileServer struct {
	transportpb.UnimplementedTransportServer
	deliver func(stream grpc.ClientStreamingServer[transportpb.Batch, transportpb.Acknowledgement]) error
	respond func() (*transportpb.Response, error)
}

func (h *hostileServer) Deliver(
	stream grpc.ClientStreamingServer[transportpb.Batch, transportpb.Acknowledgement],
) error {
	return h.deliver(stream)
}

func (h *hostileServer) Call(context.Context, *transportpb.Request) (*transportpb.Response, error) {
	return h.respond()
}

// A receiver that breaks the protocol makes Send and Call fail. None of it is taken for an acknowledgement, or for a
// refusal that would make the sender drop the batch.
func TestG05_aReceiverThatBreaksTheProtocol(t *testing.T) {
	type stream = grpc.ClientStreamingServer[transportpb.Batch, transportpb.Acknowledgement]
	for name, c := range map[string]struct {
		deliver func(s stream) error
		want    error
	}{
		"an end without an acknowledgement": {func(stream) error { return nil }, ErrUnknown},
		"two acknowledgements": {func(s stream) error {
			return errors.Join(s.SendMsg(new(transportpb.Acknowledgement)), s.SendMsg(new(transportpb.Acknowledgement)))
		}, ErrUnknown},
		"a status without a meaning": {func(stream) error { return status.Error(codes.DataLoss, "no") }, ErrUnknown},
		"a quota without a wait": {func(stream) error {
			return status.Error(codes.ResourceExhausted, "no")
		}, peering.ErrMalformed},
		"a long text": {func(stream) error {
			return status.Error(codes.FailedPrecondition, strings.Repeat("x", 4000))
		}, ErrFailed},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cl := newCluster(t, false)
				a, _ := cl.agent("a", Options{})
				b, toB := cl.agent("b", Options{})
				at := Peer{"hostile", addrAfter(toB.Addr)}
				h := &hostileServer{deliver: c.deliver, respond: func() (*transportpb.Response, error) {
					return &transportpb.Response{Content: make([]byte, 1<<20)}, nil
				}}
				serveBeside(t, cl, b, at, func(s *grpc.Server) { transportpb.RegisterTransportServer(s, h) })
				err := send(t, a, at, []byte("batch"))
				if !errors.Is(err, c.want) || len(err.Error()) > 400 {
					t.Errorf("%v, want %v", err, c.want)
				}
				if n := inFlight(a, "hostile"); n != 0 {
					t.Errorf("%d batches in flight", n)
				}
				if response, err := a.Call(t.Context(), at, 1, nil); len(response) != 1<<20 {
					t.Errorf("%d bytes, %v", len(response), err)
				}
			})
		})
	}
}
