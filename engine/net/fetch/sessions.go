package fetch

import (
	"crypto/sha256"
	"crypto/tls"
	"sync"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/internal/vfs"
)

// Sessions stores TLS sessions of servers, so that a later connection resumes one: a handshake without certificates and
// signatures, for both sides (RFC 8446, section 2.2; RFC 5077). A server has a session only if its certificate verified
// in the last whole handshake. Any number of Fetchers that trust the same authorities share it.
//
// Its memory is bounded: when it is full, the session of some other server goes to a file. It is not the one that was
// used least recently, since that is often the next to be used in a crawl, which comes to its sites in turn.
type Sessions struct {
	most  int64
	spill spill

	mu struct {
		sync.Mutex
		held   map[xxh3.Uint128]session
		moving map[xxh3.Uint128]bool // servers whose session moves from memory to the file
		bytes  int64
		stats  SessionStats
	}
}

// SessionStats are counts of handshakes in this run.
type SessionStats struct {
	Offered  int64 `json:"offered" metric:"tls_sessions_offered_total" help:"Handshakes that offered a TLS session of an earlier connection, in this run."`
	Accepted int64 `json:"accepted" metric:"tls_sessions_accepted_total" help:"Of these, those whose session the server accepted."`
	Refused  int64 `json:"refused" metric:"tls_sessions_refused_total" help:"Of these, those that failed, so that a second connection without a session followed."`
	FromDisk int64 `json:"from_disk" metric:"tls_sessions_from_disk_total" help:"Of those offered, those for which memory had no room, in this run."`
	Lost     int64 `json:"lost" metric:"tls_sessions_lost_total" help:"Sessions for which neither memory nor their file had room, in this run."`
}

// session is what resumes a session, and what is known about the server's certificate from the whole handshake.
type session struct {
	state   *tls.ClientSessionState
	trusted trust
	bytes   int64
}

// trust says that the certificates of a server have verified.
type trust struct {
	until time.Time         // when the first certificate of the verified chain ends
	chain [sha256.Size]byte // as TLSFacts has it
	bytes int64             // of memory that the certificates take
}

// ticketMax bounds the ticket of a server: most have some 200 bytes.
const ticketMax = 4 << 10

// What a session takes beside the bytes of ticket and certificates: the parsed forms.
const (
	sessionOverhead     = 1 << 10
	certificateOverhead = 3 << 10
)

// NewSessions returns Sessions that take at most most bytes of memory, and that make the file name for others. With 0
// they store nothing, and fsys may be nil.
func NewSessions(most int64, fsys vfs.FS, name string) *Sessions {
	s := &Sessions{most: most, spill: spill{fsys: fsys, name: name, slots: spillSlots}}
	s.mu.held, s.mu.moving = make(map[xxh3.Uint128]session), make(map[xxh3.Uint128]bool)
	return s
}

// Close removes the file. Nothing else may be called after it.
func (s *Sessions) Close() error { return s.spill.close() }

// Stats returns the counters.
func (s *Sessions) Stats() SessionStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.stats
}

// put stores the session of a server in place of its earlier one.
func (s *Sessions) put(server xxh3.Uint128, one session) {
	if one.bytes > s.most {
		return
	}
	for _, moved := range s.replace(server, one) {
		s.moveToFile(&moved)
	}
}

// moveToFile writes a session that replace has taken out of memory, unless it was dropped since.
func (s *Sessions) moveToFile(moved *serverSession) {
	lost := s.spill.write(moved.server, &moved.session)
	s.mu.Lock()
	s.mu.stats.Lost += lost
	wasDropped := !s.mu.moving[moved.server]
	delete(s.mu.moving, moved.server)
	s.mu.Unlock()
	if wasDropped {
		s.spill.drop(moved.server)
	}
}

type serverSession struct {
	server xxh3.Uint128
	session
}

// replace stores a session in memory. It returns those that had to make room for it.
func (s *Sessions) replace(server xxh3.Uint128, one session) (moved []serverSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(server)
	for other, held := range s.mu.held {
		if s.mu.bytes+one.bytes <= s.most {
			break
		}
		s.remove(other)
		s.mu.moving[other] = true
		moved = append(moved, serverSession{other, held})
	}
	s.mu.held[server] = one
	s.mu.bytes += one.bytes
	return moved
}

// take returns the session of a server, which stays.
func (s *Sessions) take(server xxh3.Uint128, now time.Time) (one session, ok bool) {
	s.mu.Lock()
	one, ok = s.mu.held[server]
	s.mu.Unlock()
	isSpilled := false
	if !ok {
		one, ok = s.spill.read(server)
		isSpilled = ok
	}
	if !ok {
		return session{}, false
	}
	if !now.Before(one.trusted.until) {
		s.drop(server)
		return session{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.stats.Offered++
	if isSpilled {
		s.mu.stats.FromDisk++
	}
	return one, true
}

// drop forgets the session of a server, wherever it is.
func (s *Sessions) drop(server xxh3.Uint128) {
	s.mu.Lock()
	s.remove(server)
	delete(s.mu.moving, server)
	s.mu.Unlock()
	s.spill.drop(server)
}

// remove takes the session of a server out of memory. The caller holds the lock.
func (s *Sessions) remove(server xxh3.Uint128) {
	s.mu.bytes -= s.mu.held[server].bytes
	delete(s.mu.held, server)
}

func (s *Sessions) accepted() {
	s.mu.Lock()
	s.mu.stats.Accepted++
	s.mu.Unlock()
}

func (s *Sessions) refused() {
	s.mu.Lock()
	s.mu.stats.Refused++
	s.mu.Unlock()
}

// ticketing is the tls.ClientSessionCache of one connection. It has one user at a time, as the connection has.
type ticketing struct {
	sessions *Sessions
	server   xxh3.Uint128 // hash of host and port
	offered  session      // without a state: none was offered
	trusted  trust        // of this connection; zero if the certificates did not verify
}

// wholeHandshake notes what a handshake without a session has shown: a zero trust if the certificates did not verify.
// An earlier session of the server is dropped: it may stand for other certificates, and the server has declined it.
func (t *ticketing) wholeHandshake(shown trust) {
	t.trusted = shown
	if shown.until.IsZero() || t.offered.state != nil {
		t.sessions.drop(t.server)
	}
}

// Get implements tls.ClientSessionCache.
func (t *ticketing) Get(string) (state *tls.ClientSessionState, ok bool) {
	t.offered, ok = t.sessions.take(t.server, time.Now())
	return t.offered.state, ok
}

// Put implements tls.ClientSessionCache. The library gives nil for a session with which a handshake has failed.
func (t *ticketing) Put(_ string, state *tls.ClientSessionState) {
	if state == nil {
		t.sessions.drop(t.server)
		return
	}
	ticket, _, err := state.ResumptionState()
	if err != nil || len(ticket) > ticketMax || t.trusted.until.IsZero() {
		return
	}
	t.sessions.put(t.server, session{
		state: state, trusted: t.trusted, bytes: t.trusted.bytes + int64(len(ticket)) + sessionOverhead,
	})
}
