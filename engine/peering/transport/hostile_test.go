package transport

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"orbweaver/engine/peering"
	"orbweaver/engine/peering/transport/transportpb"
)

// A peer that sends what is no message of the protocol, or one above the limit, loses its connection, is counted, and
// is banned for a time. No part of it reaches Receive, and other agents notice nothing.
func TestG05_aPeerThatBreaksTheProtocolIsBanned(t *testing.T) {
	for name, c := range map[string]struct {
		reason   Refusal
		messages [][]byte
	}{
		"no batch":             {RefusedMalformed, nil},
		"noise":                {RefusedMalformed, [][]byte{[]byte("GET / HTTP/1.1\r\n\r\n")}},
		"a field that is cut":  {RefusedMalformed, [][]byte{batchOf(t, []byte("batch"))[:4]}},
		"above the limit":      {RefusedTooLong, [][]byte{batchOf(t, make([]byte, 2<<20))}},
		"a byte above it":      {RefusedTooLong, [][]byte{batchOf(t, make([]byte, 1<<20+1))}},
		"a length that is not": {RefusedMalformed, [][]byte{{0x1a, 0xff, 0xff, 0xff, 0xff, 0x0f}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cl := newCluster(t, true)
				var received atomic.Int64
				b, toB := cl.agent("b", Options{Receive: countCalls(&received)})
				good, _ := cl.agent("good", Options{})
				evil := issue(t, cl.authority, "evil", time.Hour)
				if err := send(t, good, toB, nil); err != nil {
					t.Fatal(err)
				}
				err := cl.rawClient(t, toB, evil).deliver(names("crawl-1", "evil", "b"), c.messages...)
				if err == nil || status.Code(err) == codes.DeadlineExceeded {
					t.Fatal(err)
				}
				synctest.Wait()
				if got := refusedBy(b); got[c.reason] != 1 || received.Load() != 1 {
					t.Errorf("%v, received %d", got, received.Load())
				}
				honest, _ := cl.agent("evil", Options{Identity: evil})
				if err := send(t, honest, toB, nil); !errors.Is(err, peering.ErrBanned) {
					t.Errorf("within the ban: %v", err)
				}
				time.Sleep(2 * time.Minute)
				if err := send(t, honest, toB, nil); err != nil {
					t.Errorf("after the ban: %v", err)
				}
				if err := send(t, good, toB, nil); err != nil {
					t.Errorf("another agent noticed: %v", err)
				}
			})
		})
	}
}

// countCalls is a Receive.
func countCalls(n *atomic.Int64) func(context.Context, string, []byte) error {
	return func(context.Context, string, []byte) error { n.Add(1); return nil }
}

// Requests obey the same rules.
func TestG05_requestsToo(t *testing.T) {
	request := marshal(t, &transportpb.Request{Kind: 1, Content: []byte("x")})
	own := names("crawl-1", "evil", "b")
	for name, c := range map[string]struct {
		reason   Refusal
		metadata metadata.MD
		request  []byte
		ban      bool
	}{
		"cut":             {RefusedMalformed, own, request[:len(request)-1], true},
		"above the limit": {RefusedTooLong, own, marshal(t, &transportpb.Request{Content: make([]byte, 2<<20)}), true},
		"an unknown kind": {RefusedMalformed, own, marshal(t, &transportpb.Request{Kind: 256}), true},
		"another name":    {RefusedIdentity, names("crawl-1", "good", "b"), request, false},
		"no names":        {RefusedIdentity, metadata.MD{}, request, false},
		"well formed":     {-1, own, request, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cl := newCluster(t, true)
				var asked atomic.Int64
				b, toB := cl.agent("b", Options{Respond: func(context.Context, string, byte, []byte) ([]byte, error) {
					asked.Add(1)
					return nil, nil
				}})
				err := cl.rawClient(t, toB, issue(t, cl.authority, "evil", time.Hour)).call(c.metadata, c.request)
				if c.reason < 0 {
					if err != nil || asked.Load() != 1 {
						t.Error(err)
					}
					return
				}
				synctest.Wait()
				if err == nil || asked.Load() != 0 || refusedBy(b)[c.reason] != 1 {
					t.Errorf("%v, asked %d, refused %v", err, asked.Load(), refusedBy(b))
				}
				if banned := b.bans.check("evil") != nil; banned != c.ban {
					t.Errorf("banned: %v", banned)
				}
			})
		})
	}
}

// A peer opens as many connections as it can, and calls without end on each. It has at most connsPerAgent connections,
// and its calls hold no batch in memory before they are admitted. Another agent is served.
func TestG05_aFloodOfCalls(t *testing.T) {
	for name, messages := range map[string][][]byte{"batches": {batchOf(t, noise(1<<20))}, "silence": nil} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cl := newCluster(t, true)
				var running, most atomic.Int64
				b, toB := cl.agent("b", Options{Receive: func(ctx context.Context, from string, _ []byte) error {
					if from == "evil" {
						most.Store(max(most.Load(), running.Add(1)))
						defer running.Add(-1)
						<-ctx.Done()
					}
					return nil
				}})
				good, _ := cl.agent("good", Options{})
				evil := issue(t, cl.authority, "evil", time.Hour)
				var all sync.WaitGroup
				for range 20 {
					raw := cl.rawClient(t, toB, evil)
					for range 20 {
						all.Go(func() {
							stream, err := raw.begin(names("crawl-1", "evil", "b"))
							if err != nil {
								return
							}
							for _, m := range messages {
								_ = stream.SendMsg(m)
							}
							var answer []byte
							_ = stream.RecvMsg(&answer)
						})
					}
				}
				synctest.Wait()
				if n := connectionsTo(b); n > connsPerAgent {
					t.Errorf("%d connections, refused %v", n, refusedBy(b))
				}
				if err := send(t, good, toB, nil); err != nil {
					t.Error(err)
				}
				all.Wait()
				if most.Load() > 4 {
					t.Errorf("%d batches at once", most.Load())
				}
			})
		})
	}
}

// A sender that has more batches in flight than the receiver's Window is served no faster for it.
func TestG05_theWindowIsTheReceivers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, true)
		var running, done atomic.Int64
		release := make(chan struct{})
		_, toB := c.agent("b", Options{Window: 3, Receive: func(context.Context, string, []byte) error {
			running.Add(1)
			<-release
			done.Add(1)
			return nil
		}})
		raw := c.rawClient(t, toB, issue(t, c.authority, "evil", time.Hour))
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if err := raw.deliver(names("crawl-1", "evil", "b"), batchOf(t, []byte("x"))); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if n := running.Load(); n != 3 {
			t.Errorf("%d batches are being received", n)
		}
		close(release)
		all.Wait()
		if n := done.Load(); n != 20 {
			t.Errorf("%d batches were received", n)
		}
	})
}

// connects is one way to connect to an agent that it must refuse, and the reason that it counts.
type connects struct {
	reason Refusal
	try    func(t *testing.T, c *cluster, to Peer) error
}

func connectsToRefuse() map[string]connects {
	with := func(t *testing.T, c *cluster, to Peer, config *tls.Config) error {
		return c.rawClientWith(t, to, credentials.NewTLS(config)).deliver(names("crawl-1", "x", "b"), batchOf(t, nil))
	}
	named := func(certificate string, md metadata.MD) func(t *testing.T, c *cluster, to Peer) error {
		return func(t *testing.T, c *cluster, to Peer) error {
			return c.rawClient(t, to, issue(t, c.authority, certificate, time.Hour)).deliver(md, batchOf(t, nil))
		}
	}
	own := names("crawl-1", "x", "b")
	return map[string]connects{
		"no certificate": {RefusedHandshake, func(t *testing.T, c *cluster, to Peer) error {
			return with(t, c, to, tlsWithout(tls.VersionTLS13))
		}},
		"plain text": {RefusedHandshake, func(t *testing.T, c *cluster, to Peer) error {
			return c.rawClient(t, to, nil).deliver(names("crawl-1", "x", "b"), batchOf(t, nil))
		}},
		"TLS 1.2": {RefusedHandshake, func(t *testing.T, c *cluster, to Peer) error {
			config := tlsConfig(issue(t, c.authority, "x", time.Hour))
			config.MinVersion, config.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
			return with(t, c, to, config)
		}},
		"another authority": {RefusedIdentity, func(t *testing.T, c *cluster, to Peer) error {
			config := tlsWithout(tls.VersionTLS13)
			config.Certificates = tlsConfig(issue(t, newAuthority(t, "crawl-1"), "x", time.Hour)).Certificates
			return with(t, c, to, config)
		}},
		"expired": {RefusedExpired, func(t *testing.T, c *cluster, to Peer) error {
			config := tlsConfig(issue(t, c.authority, "x", time.Hour))
			time.Sleep(2 * time.Hour)
			return with(t, c, to, config)
		}},
		"replaced": {RefusedReplaced, func(t *testing.T, c *cluster, to Peer) error {
			stolen := issue(t, c.authority, "x", time.Hour)
			time.Sleep(time.Second)
			x, _ := c.agent("x", Options{})
			if err := send(t, x, to, nil); err != nil {
				t.Fatal(err)
			}
			return with(t, c, to, tlsConfig(stolen))
		}},
		"the name of another agent": {RefusedIdentity, named("x", names("crawl-1", "y", "b"))},
		"the name of this agent":    {RefusedIdentity, named("b", names("crawl-1", "b", "b"))},
		"another crawl":             {RefusedIdentity, named("x", names("crawl-2", "x", "b"))},
		"a call to another agent":   {RefusedIdentity, named("x", names("crawl-1", "x", "c"))},
		"no names":                  {RefusedIdentity, named("x", metadata.MD{})},
		"two names":                 {RefusedIdentity, named("x", metadata.Join(own, names("crawl-1", "y", "b")))},
		"a certificate for another crawl": {RefusedIdentity, func(t *testing.T, c *cluster, to Peer) error {
			other := *c.authority
			other.Crawl = "crawl-2"
			return with(t, c, to, tlsConfig(issue(t, &other, "x", time.Hour)))
		}},
		"silence": {RefusedSilent, func(t *testing.T, c *cluster, to Peer) error {
			conn, err := c.Dial(t.Context(), to.Addr)
			if err != nil {
				return err
			}
			secure := tls.Client(conn, tlsConfig(issue(t, c.authority, "x", time.Hour)))
			if err := secure.HandshakeContext(t.Context()); err != nil {
				return err
			}
			synctest.Wait()
			return errors.Join(secure.Close(), errors.New("it said nothing"))
		}},
	}
}

// A client without a valid certificate of the crawl, or with another name than that of its certificate, is refused. Its
// connection is counted by reason, and the log has one line.
func TestG06_unknownSendersAreRefused(t *testing.T) {
	for name, c := range connectsToRefuse() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cl := newCluster(t, true)
				var log bytes.Buffer
				var received atomic.Int64
				b, toB := cl.agent("b", Options{
					Log:     slog.New(slog.NewTextHandler(&log, nil)),
					Receive: countCalls(&received),
				})
				err := c.try(t, cl, toB)
				if err == nil || errors.Is(err, context.DeadlineExceeded) || status.Code(err) == codes.DeadlineExceeded {
					t.Errorf("it ended with %v", err)
				}
				before := received.Load()
				synctest.Wait()
				var want [refusalsEnd]int64
				want[c.reason] = 1
				got := refusedBy(b)
				if got[RefusedHandshake] > 1 { // gRPC tries again by itself
					want[RefusedHandshake] = got[RefusedHandshake]
				}
				if got != want || received.Load() != before || before > 1 {
					t.Errorf("refused %v, want %v; received %d: %v", got, want, received.Load(), err)
				}
				lines := strings.Count(log.String(), "\n")
				if lines != 1 || !strings.Contains(log.String(), "reason="+c.reason.String()) {
					t.Errorf("the log:\n%s", log.String())
				}
			})
		})
	}
}

// In plain text a name is not proved, but no sender may have the name of the receiver, or none.
func TestG06_plainTextKnowsItsOwnName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, false)
		b, toB := c.agent("b", Options{})
		for _, name := range []string{"b", "", strings.Repeat("x", 65)} {
			err := c.rawClient(t, toB, nil).deliver(names("crawl-1", name, "b"), batchOf(t, nil))
			if !errors.Is(errorOf(err, true), ErrIdentity) {
				t.Errorf("%q: %v", name, err)
			}
		}
		if got := refusedBy(b)[RefusedIdentity]; got != 3 {
			t.Error(got)
		}
	})
}

// The log has one line for a kind of refusal in ten seconds, with the number of those that it leaves out.
func TestG06_theLogIsNotFlooded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		r := refusals{log: slog.New(slog.NewTextHandler(&log, nil))}
		for range 1000 {
			r.add(RefusedIdentity, "x", nil, errors.New("no"))
			time.Sleep(25 * time.Millisecond)
		}
		if lines := strings.Count(log.String(), "\n"); lines != 3 || !strings.Contains(log.String(), "suppressed=399") {
			t.Errorf("%d lines:\n%s", lines, log.String())
		}
	})
}

// A recorded connection that is replayed to the same agent is noise to TLS.
func TestG06_aRecordedConnectionIsOfNoUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, true)
		var received atomic.Int64
		b, toB := c.agent("b", Options{Receive: countCalls(&received)})
		a, _ := c.agent("a", Options{})
		c.record()
		if err := send(t, a, toB, []byte("batch")); err != nil {
			t.Fatal(err)
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // a goroutine of gRPC writes the last frames of a closed connection
		recorded := c.stopRecording()
		conn, err := c.Dial(t.Context(), toB.Addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if len(recorded) < 500 {
			t.Fatalf("%d bytes were recorded", len(recorded))
		}
		go func() { _, _ = conn.Write(recorded) }()
		time.Sleep(time.Minute)
		if received.Load() != 1 || refusedBy(b)[RefusedHandshake] != 1 {
			t.Errorf("received %d, refused %v", received.Load(), refusedBy(b))
		}
	})
}

// The listening end must show its name, too. Send fails before its patience ends, says why, and no connections are made
// for long when no Send needs them.
func TestG06_theListeningEndMustShowItsName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, true)
		a, _ := c.agent("a", Options{})
		_, toC := c.agent("c", Options{})
		began := time.Now()
		err := send(t, a, Peer{"b", toC.Addr}, nil)
		if !errors.Is(err, ErrIdentity) || !strings.Contains(err.Error(), "there is c, not b") {
			t.Error(err)
		}
		_, toD := c.agent("d", Options{Identity: issue(t, newAuthority(t, "crawl-1"), "d", time.Hour)})
		err = send(t, a, toD, nil)
		if !errors.Is(err, ErrIdentity) || !strings.Contains(err.Error(), "unknown authority") {
			t.Error(err)
		}
		old := issue(t, c.authority, "old", time.Hour)
		time.Sleep(2 * time.Hour)
		o, _ := c.agent("old", Options{Identity: old})
		if err := send(t, o, toC, nil); !errors.Is(err, ErrIdentity) || !strings.Contains(err.Error(), "expired") {
			t.Error(err)
		}
		// An alert can be lost when its connection is closed behind it; then the next attempt brings it.
		if took := time.Since(began) - 2*time.Hour; took >= 5*time.Second {
			t.Errorf("it took %v to say so", took)
		}
		time.Sleep(2 * idleTimeout)
		before := c.dialled.Load()
		time.Sleep(time.Hour)
		if n := c.dialled.Load() - before; n > 0 {
			t.Errorf("%d connections were made without a Send", n)
		}
	})
}

// A client with a certificate that then speaks no HTTP/2 is disconnected, counted, and leaves no place occupied.
func TestG05_noiseInsideTLS(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, true)
		b, toB := c.agent("b", Options{})
		config := tlsConfig(issue(t, c.authority, "evil", time.Hour))
		const times = 3 * connsPerAgent
		for i := range times {
			raw, err := c.Dial(t.Context(), toB.Addr)
			if err != nil {
				t.Fatal(err)
			}
			conn := tls.Client(raw, config)
			if i%3 == 0 {
				_ = conn.Handshake()
			} else {
				_, _ = conn.Write([]byte("GET / HTTP/1.1\r\nHost: example.org\r\n\r\nPRI * HTTP/2.0 and more"))
			}
			if i%2 == 0 {
				_, _ = conn.Read(make([]byte, 1<<10))
			}
			conn.Close()
			synctest.Wait()
		}
		time.Sleep(time.Minute)
		if n := connectionsTo(b); n != 0 || refusedBy(b)[RefusedSilent] != times {
			t.Errorf("%d connections, refused %v", n, refusedBy(b))
		}
	})
}
