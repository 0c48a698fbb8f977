package fetch

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"io"
	"io/fs"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/internal/outcome"
	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/faultfs"
)

func testSessions(most int64) *Sessions { return NewSessions(most, vfs.NewMem(1), "sessions") }

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

// overHTTP1 configures a server that speaks HTTP/1.1, up to a version of TLS.
func overHTTP1(cert tls.Certificate, version uint16) *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"http/1.1"}, MaxVersion: version}
}

// The second visit to a server resumes the session of the first, in both versions of TLS, and knows the same of its
// certificate. The first may be long ago for the certificate, and then there is a whole handshake.
func TestSessions_theSecondVisitResumes(t *testing.T) {
	ca := newAuthority(t)
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		cert := ca.issue(t, time.Hour, "a.example")
		target := serveTLS(t, overHTTP1(cert, version))
		o := testOptions()
		o.RootCAs, o.TLS, o.Sessions = ca.pool(), TLSStrict, testSessions(1<<20)
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
	o.RootCAs, o.Sessions = ca.pool(), testSessions(1<<20)
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
	o.RootCAs, o.Sessions, o.DialTimeout = cert.pool(), testSessions(1<<20), 200*time.Millisecond
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
	o.RootCAs, o.Sessions = cert.pool(), testSessions(1<<20)
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
	s := testSessions(most)
	for i := range 10_000 {
		one := session{state: new(tls.ClientSessionState), trusted: trust{until: time.Now().Add(time.Hour)}, bytes: each}
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

// A session that memory has no room for waits in the file. It resumes as one from memory does, and says the same of the
// certificate. The file is removed at the end.
func TestSessions_beyondMemoryAreOnDisk(t *testing.T) {
	ca := newAuthority(t)
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		cert := ca.issue(t, time.Hour, "a.example")
		target := serveTLS(t, overHTTP1(cert, version))
		disk, o := vfs.NewMem(1), testOptions()
		o.RootCAs, o.TLS, o.Sessions = ca.pool(), TLSStrict, NewSessions(10_000, disk, "sessions")
		first := visit(t, o, target)
		// Another server takes all of the memory.
		o.Sessions.put(xxh3.Uint128{Lo: 1}, session{bytes: 10_000})
		second := visit(t, o, target)
		if first.Resumed || !second.Resumed || second.Chain != sha256.Sum256(cert.Certificate[0]) {
			t.Errorf("first %+v, second %+v", first, second)
		}
		if s := o.Sessions.Stats(); s.Offered != 1 || s.Accepted != 1 || s.FromDisk != 1 {
			t.Errorf("%+v", s)
		}
		if err := o.Sessions.Close(); err != nil {
			t.Error(err)
		}
		if _, err := disk.Size("sessions"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the file is still there: %v", err)
		}
	}
}

// storedSession is the session of a server, and the hash of that.
func storedSession(t *testing.T) (server xxh3.Uint128, one session) {
	t.Helper()
	ca := newAuthority(t)
	target := serveTLS(t, overHTTP1(ca.issue(t, time.Hour, "a.example"), tls.VersionTLS13))
	o := testOptions()
	o.RootCAs, o.Sessions = ca.pool(), testSessions(1<<20)
	visit(t, o, target)
	server = xxh3.Hash128(target.Host)
	return server, o.Sessions.mu.held[server]
}

// A session from the file is that of its server, or it is none: damage is found. The file is as long as what is in it.
func TestSpill_givesNoOtherSession(t *testing.T) {
	server, one := storedSession(t)
	disk := vfs.NewMem(1)
	s := &spill{fsys: disk, name: "sessions", slots: 2}
	if _, ok := s.read(server); ok {
		t.Error("a session was read from no file")
	}
	if s.write(server, &one) > 0 {
		t.Fatal("there was no room")
	}
	read, ok := s.read(server)
	ticket, _, _ := read.state.ResumptionState()
	wanted, _, _ := one.state.ResumptionState()
	if !ok || !bytes.Equal(ticket, wanted) || read.trusted.chain != one.trusted.chain ||
		read.trusted.bytes != one.trusted.bytes || !read.trusted.until.Equal(one.trusted.until) {
		t.Errorf("%v %+v, and not %+v", ok, read.trusted, one.trusted)
	}
	if length, err := disk.Size("sessions"); err != nil || length != int64(len(s.buf)) {
		t.Errorf("one session takes %d bytes, and the file %d: %v", len(s.buf), length, err)
	}
	for i := range len(s.buf) {
		flip(t, s.mu.file, int64(i))
		if _, ok := s.read(server); ok {
			t.Errorf("byte %d of %d was changed, and there is a session", i, len(s.buf))
		}
		flip(t, s.mu.file, int64(i))
	}
}

// Of many servers, those that were written last have their sessions, and the others are counted as lost. A slot of a
// dropped session is used again.
func TestSpill_countsWhatIsReplaced(t *testing.T) {
	server, one := storedSession(t)
	disk := vfs.NewMem(1)
	s := &spill{fsys: disk, name: "sessions", slots: 4}
	lost, of := int64(0), func(i uint64) xxh3.Uint128 { return xxh3.Uint128{Hi: server.Hi + i, Lo: server.Lo} }
	for i := range uint64(10) {
		lost += s.write(of(i), &one)
	}
	s.drop(of(7))
	s.drop(of(7))
	lost += s.write(of(20), &one) + s.write(of(20), &one) // the second is in the place of the first
	for i := range uint64(21) {
		_, ok := s.read(of(i))
		if want := i == 6 || i == 8 || i == 9 || i == 20; ok != want {
			t.Errorf("server %d: it has a session: %v", i, ok)
		}
	}
	if length, err := disk.Size("sessions"); lost != 6 || err != nil || length > 4*spillSlot {
		t.Errorf("%d sessions are lost, and the file has %d bytes: %v", lost, length, err)
	}
}

// A disk that does not finish a write costs sessions, and no other handshake waits for it.
func TestSpill_aStuckDiskHoldsNobody(t *testing.T) {
	server, one := storedSession(t)
	synctest.Test(t, func(t *testing.T) {
		disk := stuckDisk{vfs.NewMem(1), make(chan struct{})}
		s := &spill{fsys: disk, name: "sessions", slots: 4}
		written := make(chan int64)
		go func() { written <- s.write(server, &one) }()
		synctest.Wait()
		if _, ok := s.read(server); ok {
			t.Error("the session is not written yet, and there")
		}
		if lost := s.write(xxh3.Uint128{Lo: 1}, &one); lost != 1 {
			t.Errorf("beside a stuck write, %d sessions are lost", lost)
		}
		s.drop(server)
		close(disk.release)
		if lost := <-written; lost != 0 {
			t.Errorf("%d sessions are lost when the disk is well", lost)
		}
	})
}

// stuckDisk is a disk whose files take nothing until they are released.
type stuckDisk struct {
	vfs.FS
	release chan struct{}
}

type stuckFile struct {
	vfs.File
	release chan struct{}
}

func (d stuckDisk) Create(name string) (vfs.File, error) {
	f, err := d.FS.Create(name)
	return stuckFile{f, d.release}, err
}

func (f stuckFile) WriteAt(b []byte, at int64) (int, error) {
	<-f.release
	return f.File.WriteAt(b, at)
}

// flip changes a byte of a file; a second time, it changes it back.
func flip(t *testing.T, f vfs.File, at int64) {
	t.Helper()
	var one [1]byte
	_, err := f.ReadAt(one[:], at)
	one[0] ^= 1
	if _, failed := f.WriteAt(one[:], at); err != nil || failed != nil {
		t.Fatal(err, failed)
	}
}

// A full disk costs sessions, and they are counted. What is written is still there.
func TestSessions_aFullDiskCostsSessions(t *testing.T) {
	ca := newAuthority(t)
	target := serveTLS(t, overHTTP1(ca.issue(t, time.Hour, "a.example"), tls.VersionTLS13))
	o := testOptions()
	script := faultfs.NewScript(faultfs.Rule{Op: faultfs.Write, From: 4, Count: 1, Err: syscall.ENOSPC})
	o.RootCAs, o.Sessions = ca.pool(), NewSessions(10_000, faultfs.New(vfs.NewMem(1), script), "sessions")
	visit(t, o, target)
	one := o.Sessions.mu.held[xxh3.Hash128(target.Host)]
	one.bytes = 10_000
	for i := range uint64(5) {
		o.Sessions.put(xxh3.Uint128{Lo: i}, one)
	}
	for i, there := range []bool{true, true, false, true, true} {
		if _, ok := o.Sessions.take(xxh3.Uint128{Lo: uint64(i)}, time.Now()); ok != there {
			t.Errorf("session %d is there: %v", i, ok)
		}
	}
	if s := o.Sessions.Stats(); s.Lost != 1 || s.FromDisk != 3 {
		t.Errorf("%+v", s)
	}
}

// BenchmarkSessions compares a visit with a whole handshake and those that resume a session, from memory and from the
// file: the CPU of client and server together.
func BenchmarkSessions(b *testing.B) {
	ca := newAuthority(b)
	target := serveTLS(b, &tls.Config{
		Certificates: []tls.Certificate{ca.issue(b, time.Hour, "a.example")}, NextProtos: []string{"http/1.1"},
	})
	for name, most := range map[string]int64{"whole": 0, "resumed": 1 << 20, "from disk": 10_000} {
		b.Run(name, func(b *testing.B) {
			o := testOptions()
			o.RootCAs, o.Sessions = ca.pool(), NewSessions(most, vfs.Disk(), b.TempDir()+"/sessions")
			defer func() { _ = o.Sessions.Close() }()
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
				o.Sessions.put(xxh3.Uint128{Lo: 1}, session{bytes: 10_000})
			}
			b.ReportMetric(float64((cpu()-start).Microseconds())/float64(b.N), "cpu-us/op")
		})
	}
}
