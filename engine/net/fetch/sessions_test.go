package fetch

import (
	"crypto/sha256"
	"crypto/tls"
	"io"
	"testing"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/internal/outcome"
)

// visit fetches the target once and returns the facts of its TLS.
func visit(t *testing.T, o Options, target *Target) (facts TLSFacts) {
	t.Helper()
	fetchOnce(t, o, LoopbackOnly(), target, func(p *Page) {
		if p.Outcome != outcome.OK || string(p.Payload()) != "over http/1.1" {
			t.Fatalf("%v %s %q", p.Outcome, p.Err, p.Raw)
		}
		facts = p.Connection.TLS
	})
	return facts
}

// The second visit to a server resumes the session of the first, in both versions of TLS, and knows the same of its
// certificate. The first may be long ago for the certificate, and then there is a whole handshake.
func TestSessions_theSecondVisitResumes(t *testing.T) {
	ca := newAuthority(t)
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		cert := ca.issue(t, time.Hour, "a.example")
		target := serveTLS(t, &tls.Config{
			Certificates: []tls.Certificate{cert}, NextProtos: []string{"http/1.1"}, MaxVersion: version,
		})
		o := testOptions()
		o.RootCAs, o.TLS, o.Sessions = ca.pool(), TLSStrict, NewSessions(1<<20)
		first, second := visit(t, o, target), visit(t, o, target)
		if first.Resumed || !second.Resumed || first.Version != version {
			t.Errorf("first %+v, second %+v", first, second)
		}
		if second.Chain != sha256.Sum256(cert.Certificate[0]) || second.Fault != "" || second.Version != version {
			t.Errorf("the resumed session says %+v", second)
		}
		if s := o.Sessions.Stats(); s != (SessionStats{Offered: 1, Accepted: 1}) {
			t.Errorf("%+v", s)
		}
		server := xxh3.Hash128(target.Host)
		old := o.Sessions.mu.held[server]
		old.trusted.until = time.Now()
		o.Sessions.put(server, old)
		if third := visit(t, o, target); third.Resumed {
			t.Errorf("a session was resumed whose certificate has ended")
		}
	}
}

// A session says nothing about a certificate that did not verify: the next visit looks at it again.
func TestSessions_aFaultyCertificateHasNone(t *testing.T) {
	ca := newAuthority(t)
	target := serveTLS(t, &tls.Config{
		Certificates: []tls.Certificate{ca.issue(t, -time.Hour, "a.example")}, NextProtos: []string{"http/1.1"},
	})
	o := testOptions()
	o.RootCAs, o.Sessions = ca.pool(), NewSessions(1<<20)
	for range 2 {
		if facts := visit(t, o, target); facts.Resumed || facts.Fault != "expired" {
			t.Errorf("%+v", facts)
		}
	}
}

// A server that says nothing to a session takes the time of one connection, not of two.
func TestSessions_aServerThatSaysNothingToThemIsAskedOnce(t *testing.T) {
	cert, end := newAuthority(t), make(chan struct{})
	config := &tls.Config{
		Certificates: []tls.Certificate{cert.issue(t, time.Hour, "a.example")}, NextProtos: []string{"http/1.1"},
		UnwrapSession: func([]byte, tls.ConnectionState) (*tls.SessionState, error) {
			<-end
			return nil, io.ErrUnexpectedEOF
		},
	}
	target := serveTLS(t, config)
	defer close(end)
	o := testOptions()
	o.RootCAs, o.Sessions, o.DialTimeout = cert.pool(), NewSessions(1<<20), 200*time.Millisecond
	visit(t, o, target)
	fetchOnce(t, o, LoopbackOnly(), target, func(p *Page) {
		if s := o.Sessions.Stats(); p.Outcome != outcome.TLSFault || s != (SessionStats{Offered: 1}) {
			t.Errorf("%v %s, %+v", p.Outcome, p.Err, s)
		}
	})
}

// A server that cannot bear a session that it has given costs a second connection, and not the page.
func TestSessions_aServerThatRefusesThemIsFetched(t *testing.T) {
	cert := newAuthority(t)
	config := &tls.Config{
		Certificates: []tls.Certificate{cert.issue(t, time.Hour, "a.example")}, NextProtos: []string{"http/1.1"},
	}
	// The server gives tickets and refuses to see one again.
	refuse := func(tls.ConnectionState, []byte) (*tls.SessionState, error) { return nil, io.ErrUnexpectedEOF }
	config.UnwrapSession = func(ticket []byte, cs tls.ConnectionState) (*tls.SessionState, error) {
		return refuse(cs, ticket)
	}
	target := serveTLS(t, config)
	o := testOptions()
	o.RootCAs, o.Sessions = cert.pool(), NewSessions(1<<20)
	for range 3 {
		if facts := visit(t, o, target); facts.Resumed {
			t.Errorf("%+v", facts)
		}
	}
	if s := o.Sessions.Stats(); s != (SessionStats{Offered: 2, Refused: 2}) {
		t.Errorf("%+v", s)
	}
}

// Any number of servers with any certificates take no more memory than was given.
func TestSessions_memoryIsBounded(t *testing.T) {
	const most, each = 100_000, 999
	s := NewSessions(most)
	for i := range 10_000 {
		one := session{trusted: trust{until: time.Now().Add(time.Hour)}, bytes: each}
		s.put(xxh3.Uint128{Lo: uint64(i)}, one)
		if _, ok := s.take(xxh3.Uint128{Lo: uint64(i)}, time.Now()); !ok {
			t.Fatalf("session %d was not stored", i)
		}
		if s.mu.bytes > most || int64(len(s.mu.held))*each != s.mu.bytes {
			t.Fatalf("%d bytes are noted, of %d sessions", s.mu.bytes, len(s.mu.held))
		}
	}
	if len(s.mu.held) != most/each {
		t.Errorf("%d sessions are stored, not %d", len(s.mu.held), most/each)
	}
	s.put(xxh3.Uint128{Hi: 1}, session{bytes: most + 1})
	if _, ok := s.take(xxh3.Uint128{Hi: 1}, time.Now()); ok {
		t.Error("a session was stored that is larger than the memory")
	}
}

// BenchmarkSessions compares a visit with a whole handshake and one that resumes a session: the CPU of client and
// server together.
func BenchmarkSessions(b *testing.B) {
	ca := newAuthority(b)
	target := serveTLS(b, &tls.Config{
		Certificates: []tls.Certificate{ca.issue(b, time.Hour, "a.example")}, NextProtos: []string{"http/1.1"},
	})
	for name, most := range map[string]int64{"whole": 0, "resumed": 1 << 20} {
		b.Run(name, func(b *testing.B) {
			o := testOptions()
			o.RootCAs, o.Sessions = ca.pool(), NewSessions(most)
			pool := NewPool(PoolOptions{Pages: 1})
			f := NewFetcher(o, LoopbackOnly(), pool)
			b.ReportAllocs()
			start := cpu()
			for b.Loop() {
				p := pool.TryGet()
				if f.Fetch(b.Context(), target, p) != outcome.OK {
					b.Fatalf("%v: %s", p.Outcome, p.Err)
				}
				pool.Put(p)
			}
			b.ReportMetric(float64((cpu()-start).Microseconds())/float64(b.N), "cpu-us/op")
		})
	}
}
