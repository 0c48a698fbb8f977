package post

import (
	"context"
	"crypto/tls"
	"net"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"orbweaver/engine/post/identity"
)

// stranger speaks the protocol by hand, as badly as a test likes.
type stranger struct {
	t    *testing.T
	conn *grpc.ClientConn
}

// stranger connects with the certificate of whoever, or in plain text.
func (v *village) stranger(t *testing.T, to Peer, card *identity.Identity) *stranger {
	t.Helper()
	c := insecure.NewCredentials()
	if card != nil {
		c = credentials.NewTLS(tlsOf(card))
	}
	return v.strangerWith(t, to, c)
}

func (v *village) strangerWith(t *testing.T, to Peer, c credentials.TransportCredentials) *stranger {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///"+to.Addr.String(), grpc.WithTransportCredentials(c), grpc.WithAuthority(identity.ServerName),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return v.Dial(ctx, to.Addr) }),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(&codec{new(buffers)})), grpc.WithDisableRetry())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &stranger{t, conn}
}

// tlsWithout is a client that has no certificate, or does not look at the other's.
func tlsWithout(minimum, maximum uint16) *tls.Config {
	return &tls.Config{InsecureSkipVerify: true, MinVersion: minimum, MaxVersion: maximum, NextProtos: []string{"h2"}} //nolint:gosec // it is the stranger
}

// say opens a stream and sends frames; it gives the stream.
func (s *stranger) say(frames ...[]byte) (grpc.ClientStream, error) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 30*time.Second)
	s.t.Cleanup(cancel)
	desc := lettersStream()
	stream, err := s.conn.NewStream(ctx, &desc, lettersMethod)
	if err != nil {
		return nil, err
	}
	for _, f := range frames {
		_ = stream.SendMsg(&outgoing{head: f}) // reading tells why it failed
	}
	return stream, nil
}

// ends reads until the stream ends, and says with what, and how many frames came.
func (s *stranger) ends(frames ...[]byte) (came int, err error) {
	s.t.Helper()
	stream, err := s.say(frames...)
	if err != nil {
		return 0, err
	}
	for {
		var in incoming
		if err := stream.RecvMsg(&in); err != nil {
			return came, err
		}
		came++
	}
}

func helloOf(crawl, from, to string) []byte {
	h := hello{Versions: versions{1, 1}, Crawl: crawl, From: from, To: to}
	return h.append(nil)
}

func letterOf(number uint64, form byte, size int, body []byte) []byte {
	l := letter{Number: number, load: load{Form: form, Size: size}}
	return append(l.append(nil), body...)
}
