package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"golang.org/x/sync/semaphore"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	grpcpeer "google.golang.org/grpc/peer"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"

	"orbweaver/engine/peering"
	"orbweaver/engine/peering/identity"
	"orbweaver/engine/peering/transport/transportpb"
)

// Metadata of each call.
const (
	crawlKey    = "orbweaver-crawl"
	senderKey   = "orbweaver-sender"
	receiverKey = "orbweaver-receiver"
)

// server answers the calls of other agents.
type server struct {
	transportpb.UnimplementedTransportServer

	opt      *Options
	peers    *peerTable
	bans     *banList
	refusals *refusals
	memory   *semaphore.Weighted
}

// Deliver implements transportpb.TransportServer.
func (s *server) Deliver(stream grpc.ClientStreamingServer[transportpb.Batch, transportpb.Acknowledgement]) error {
	ctx := stream.Context()
	p, err := s.admit(ctx)
	if err != nil {
		return statusOf(err)
	}
	release, err := acquire(ctx, p.batches)
	if err != nil {
		return statusOf(err)
	}
	defer release()
	batch, err := s.readBatch(stream, p)
	if err != nil {
		return statusOf(err)
	}
	defer s.memory.Release(int64(len(batch.GetContent())))
	err = p.received.once(ctx, batch.GetIncarnation(), batch.GetSequence(), func() error {
		return s.opt.Receive(ctx, p.id, batch.GetContent())
	})
	if err != nil {
		s.noteBan(p, err)
		return statusOf(err)
	}
	return stream.SendAndClose(&transportpb.Acknowledgement{})
}

// readBatch reads the batch of a call. One batch of each peer is read at a time, so that batches that wait for memory
// are bounded. The caller gives the memory back.
func (s *server) readBatch(
	stream grpc.ClientStreamingServer[transportpb.Batch, transportpb.Acknowledgement], p *peerState,
) (*transportpb.Batch, error) {
	ctx := stream.Context()
	release, err := acquire(ctx, p.reading)
	if err != nil {
		return nil, err
	}
	defer release()
	batch, err := stream.Recv()
	if err == nil && len(batch.GetContent()) > s.opt.BatchMax {
		err = fmt.Errorf("%w: a batch of %d bytes", errTooLong, len(batch.GetContent()))
	}
	if err != nil {
		if !isBreach(err) {
			return nil, err
		}
		return nil, s.punish(ctx, p.id, err)
	}
	return batch, s.memory.Acquire(ctx, int64(len(batch.GetContent())))
}

// Call implements transportpb.TransportServer.
func (s *server) Call(ctx context.Context, request *transportpb.Request) (*transportpb.Response, error) {
	if c, ok := ctx.Value(unaryKey{}).(*unaryCall); ok {
		c.handled = true
	}
	p, err := s.admit(ctx)
	if err != nil {
		return nil, statusOf(err)
	}
	size := len(request.GetContent())
	if size > s.opt.BatchMax || request.GetKind() > 255 {
		err := fmt.Errorf("%w: a request of kind %d and %d bytes", errMalformed, request.GetKind(), size)
		return nil, statusOf(s.punish(ctx, p.id, err))
	}
	release, err := acquire(ctx, p.calls)
	if err != nil {
		return nil, statusOf(err)
	}
	defer release()
	if err := s.memory.Acquire(ctx, int64(size)); err != nil {
		return nil, statusOf(err)
	}
	defer s.memory.Release(int64(size))
	if s.opt.Respond == nil {
		return nil, statusOf(fmt.Errorf("%w: this agent answers no requests", peering.ErrMalformed))
	}
	response, err := s.opt.Respond(ctx, p.id, byte(request.GetKind()), request.GetContent())
	if err == nil && len(response) > s.opt.BatchMax {
		err = fmt.Errorf("a response of %d bytes, want at most %d", len(response), s.opt.BatchMax)
	}
	if err != nil {
		s.noteBan(p, err)
		return nil, statusOf(err)
	}
	return &transportpb.Response{Content: response}, nil
}

// noteBan bans an agent that Receive or Respond has banned: nothing of it is read for BanTime.
func (s *server) noteBan(p *peerState, err error) {
	if errors.Is(err, peering.ErrBanned) {
		s.bans.add(p.id, shortText(err), time.Now().Add(s.opt.BanTime))
		p.disconnect()
	}
}

// admit finds out which agent makes a call, and refuses those that may not.
func (s *server) admit(ctx context.Context) (*peerState, error) {
	r, addr := remoteOf(ctx)
	sender := metadataOf(ctx, senderKey)
	p, err := s.identify(ctx, r, sender)
	if err == nil {
		err = p.use(r)
		r.counted.Store(true)
		return p, err
	}
	r.counted.Store(true)
	s.refusals.add(refusalOf(err, RefusedMalformed), orElse(r.id, sender), addr, err)
	return nil, err
}

// identify checks what the metadata of a call says against the certificate of the connection.
func (s *server) identify(ctx context.Context, r *remote, sender string) (*peerState, error) {
	crawl, receiver := metadataOf(ctx, crawlKey), metadataOf(ctx, receiverKey)
	nameErr := identity.CheckName(sender)
	switch {
	case crawl != s.opt.Crawl:
		return nil, fmt.Errorf("%w: this is crawl %s, not %.64q", ErrIdentity, s.opt.Crawl, crawl)
	case receiver != s.opt.Self:
		return nil, fmt.Errorf("%w: this is agent %s, not %.64q", ErrIdentity, s.opt.Self, receiver)
	case nameErr != nil:
		return nil, fmt.Errorf("%w: %w", ErrIdentity, nameErr)
	case sender == s.opt.Self:
		return nil, fmt.Errorf("%w: the sender has the name of this agent, %s: names must differ", ErrIdentity, sender)
	case !s.opt.Plain && sender != r.id:
		return nil, fmt.Errorf("%w: the sender says that it is %s, and has the certificate of %s", ErrIdentity, sender, r.id)
	}
	if err := s.bans.check(sender); err != nil {
		return nil, err
	}
	return s.peers.get(sender)
}

// isBreach tells a message that breaks the protocol from a connection that broke, and from a sender that stopped
// waiting. The context is no help: gRPC ends it in all these cases.
func isBreach(err error) bool {
	switch status.Code(err) {
	case codes.Internal, codes.ResourceExhausted, codes.Unimplemented:
		return true
	}
	return err == io.EOF || errors.Is(err, errTooLong) //nolint:errorlint // io.EOF is a stream without a batch
}

// punish counts a breach of the protocol, bans the agent for a time and closes its connection. err is that of gRPC, or
// of this package. It returns the error for the agent.
func (s *server) punish(ctx context.Context, id string, err error) error {
	r, addr := remoteOf(ctx)
	switch {
	case errors.Is(err, errTooLong), errors.Is(err, errMalformed):
	case status.Code(err) == codes.ResourceExhausted:
		err = fmt.Errorf("%w: %s", errTooLong, status.Convert(err).Message())
	case err == io.EOF: //nolint:errorlint // a stream without a batch
		err = fmt.Errorf("%w: a call without a batch", errMalformed)
	default:
		err = fmt.Errorf("%w: %s", errMalformed, status.Convert(err).Message())
	}
	r.counted.Store(true)
	id = orElse(r.id, id)
	s.refusals.add(refusalOf(err, RefusedMalformed), id, addr, err)
	if id != "" {
		s.bans.add(id, shortText(err), time.Now().Add(s.opt.BanTime))
	}
	r.close()
	return err
}

func remoteOf(ctx context.Context) (*remote, net.Addr) {
	p, _ := grpcpeer.FromContext(ctx)
	return p.AuthInfo.(*remote), p.Addr
}

func metadataOf(ctx context.Context, key string) string {
	if values := metadata.ValueFromIncomingContext(ctx, key); len(values) == 1 {
		return values[0]
	}
	return ""
}

// unaryWatch notices calls whose message gRPC refuses before it calls the method. It implements stats.Handler.
type unaryWatch struct{ server *server }

type unaryKey struct{}

// unaryCall tells whether the method was called.
type unaryCall struct{ handled bool }

// TagRPC implements stats.Handler.
func (unaryWatch) TagRPC(ctx context.Context, info *stats.RPCTagInfo) context.Context {
	if info.FullMethodName != transportpb.Transport_Call_FullMethodName {
		return ctx
	}
	return context.WithValue(ctx, unaryKey{}, new(unaryCall))
}

// HandleRPC implements stats.Handler.
func (w unaryWatch) HandleRPC(ctx context.Context, event stats.RPCStats) {
	end, ok := event.(*stats.End)
	if !ok || end.Error == nil || !isBreach(end.Error) {
		return
	}
	if c, ok := ctx.Value(unaryKey{}).(*unaryCall); ok && !c.handled {
		_ = w.server.punish(ctx, metadataOf(ctx, senderKey), end.Error)
	}
}

// TagConn implements stats.Handler.
func (unaryWatch) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// HandleConn implements stats.Handler.
func (unaryWatch) HandleConn(context.Context, stats.ConnStats) {}
