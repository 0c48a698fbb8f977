package post

import (
	"context"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"
)

// codec hands frames through as they are: a message of gRPC is *outgoing on its way out and *incoming on its way in.
type codec struct{ pool mem.BufferPool }

// outgoing is a frame: what comes before its load, and the load, which gRPC frees.
type outgoing struct {
	head []byte
	body mem.Buffer // nil for none
}

// incoming is a frame in one piece. Who has received it frees it.
type incoming struct{ frame mem.Buffer }

func (f *incoming) free() {
	if f.frame != nil {
		f.frame.Free()
		f.frame = nil
	}
}

// Marshal implements encoding.CodecV2.
func (c *codec) Marshal(v any) (mem.BufferSlice, error) {
	f, ok := v.(*outgoing)
	if !ok {
		return nil, fmt.Errorf("BUG: post: a frame of type %T", v)
	}
	if f.body == nil {
		return mem.BufferSlice{mem.SliceBuffer(f.head)}, nil
	}
	return mem.BufferSlice{mem.SliceBuffer(f.head), f.body}, nil
}

// Unmarshal implements encoding.CodecV2.
func (c *codec) Unmarshal(data mem.BufferSlice, v any) error {
	f, ok := v.(*incoming)
	if !ok {
		return fmt.Errorf("BUG: post: a frame of type %T", v)
	}
	f.free()
	f.frame = data.MaterializeToBuffer(c.pool)
	return nil
}

// Name implements encoding.CodecV2: the subtype of the content.
func (*codec) Name() string { return "orbweaver" }

// Names of the service on the wire. They are the same in all versions of the protocol.
const (
	serviceName   = "orbweaver.Post"
	lettersMethod = "/" + serviceName + "/Letters"
	askMethod     = "/" + serviceName + "/Ask"
)

// server is what gRPC calls. The service is described by hand: there are two methods, and both speak frames.
type server interface {
	letters(stream grpc.ServerStream) error
	ask(ctx context.Context, read func(any) error) (*outgoing, error)
}

func service() *grpc.ServiceDesc {
	return &grpc.ServiceDesc{
		ServiceName: serviceName,
		HandlerType: (*server)(nil),
		Streams:     []grpc.StreamDesc{lettersStream()},
		Methods: []grpc.MethodDesc{{MethodName: "Ask", Handler: func(srv any, ctx context.Context, read func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			return srv.(server).ask(ctx, read)
		}}},
	}
}

func lettersStream() grpc.StreamDesc {
	return grpc.StreamDesc{
		StreamName: "Letters", ServerStreams: true, ClientStreams: true,
		Handler: func(srv any, stream grpc.ServerStream) error { return srv.(server).letters(stream) },
	}
}
