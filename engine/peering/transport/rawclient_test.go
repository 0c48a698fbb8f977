package transport

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"orbweaver/engine/peering/identity"
	"orbweaver/engine/peering/transport/transportpb"
)

// rawCodec sends bytes as they are, as a hostile peer may.
type rawCodec struct{}

func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}

func (rawCodec) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}

func (rawCodec) Name() string { return "proto" }

// rawClient makes calls with any content and any metadata.
type rawClient struct {
	t    *testing.T
	conn *grpc.ClientConn
}

// rawClient connects with a certificate, or in plain text.
func (c *cluster) rawClient(t *testing.T, to Peer, id *identity.Identity) *rawClient {
	t.Helper()
	if id == nil {
		return c.rawClientWith(t, to, insecure.NewCredentials())
	}
	return c.rawClientWith(t, to, credentials.NewTLS(tlsConfig(id)))
}

func (c *cluster) rawClientWith(t *testing.T, to Peer, with credentials.TransportCredentials) *rawClient {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///"+to.Addr.String(), grpc.WithTransportCredentials(with),
		grpc.WithAuthority(identity.ServerName), grpc.WithDisableRetry(),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return c.Dial(ctx, to.Addr) }),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(rawCodec{})))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &rawClient{t, conn}
}

// tlsWithout is a client that has no certificate, and does not check that of the server.
func tlsWithout(version uint16) *tls.Config {
	return &tls.Config{
		InsecureSkipVerify: true, //nolint:gosec // a hostile client
		MinVersion:         version, MaxVersion: version, NextProtos: []string{"h2"},
	}
}

// names are the metadata of a call.
func names(crawl, sender, receiver string) metadata.MD {
	return metadata.Pairs(crawlKey, crawl, senderKey, sender, receiverKey, receiver)
}

func (r *rawClient) context(md metadata.MD) context.Context {
	ctx, cancel := context.WithTimeout(metadata.NewOutgoingContext(r.t.Context(), md), 30*time.Second)
	r.t.Cleanup(cancel)
	return ctx
}

// begin begins a Deliver call.
func (r *rawClient) begin(md metadata.MD) (grpc.ClientStream, error) {
	desc := transportpb.Transport_ServiceDesc.Streams[0]
	return r.conn.NewStream(r.context(md), &desc, transportpb.Transport_Deliver_FullMethodName)
}

// deliver makes a Deliver call with some messages and gives the error that it ends with.
func (r *rawClient) deliver(md metadata.MD, messages ...[]byte) error {
	stream, err := r.begin(md)
	if err != nil {
		return err
	}
	for _, m := range messages {
		_ = stream.SendMsg(m) // RecvMsg tells why it failed
	}
	_ = stream.CloseSend()
	var answer []byte
	if err := stream.RecvMsg(&answer); err != nil {
		return err
	}
	if len(answer) > 0 {
		return fmt.Errorf("an answer of %d bytes", len(answer))
	}
	return nil
}

// call makes a Call.
func (r *rawClient) call(md metadata.MD, request []byte) error {
	var response []byte
	return r.conn.Invoke(r.context(md), transportpb.Transport_Call_FullMethodName, request, &response)
}

// marshal is the encoded form of a message.
func marshal(t testing.TB, m proto.Message) []byte {
	t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// batchOf is an encoded batch without a sequence.
func batchOf(t testing.TB, content []byte) []byte {
	t.Helper()
	return marshal(t, &transportpb.Batch{Content: content})
}
