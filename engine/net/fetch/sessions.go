package fetch

import (
	"crypto/sha256"
	"crypto/tls"
	"sync"
	"time"

	"github.com/zeebo/xxh3"
)

// Sessions stores TLS sessions of servers, so that a later connection resumes one: a handshake without certificates and
// signatures, for both sides (RFC 8446, section 2.2; RFC 5077). Only servers whose certificate verified have a session.
// Any number of Fetchers share it.
//
// Its memory is bounded: when it is full, the session of some other server goes. It is not the one that was used least
// recently, since that is often the next to be used in a crawl, which comes to its sites in turn.
type Sessions struct {
	most int64

	mu struct {
		sync.Mutex
		held  map[xxh3.Uint128]session
		bytes int64
		stats SessionStats
	}
}

// SessionStats are counts of handshakes in this run.
type SessionStats struct {
	Offered  int64 `json:"offered" metric:"tls_sessions_offered_total" help:"Handshakes that offered a TLS session of an earlier connection, in this run."`
	Accepted int64 `json:"accepted" metric:"tls_sessions_accepted_total" help:"Of these, those whose session the server accepted."`
	Refused  int64 `json:"refused" metric:"tls_sessions_refused_total" help:"Of these, those that failed, so that a second connection without a session followed."`
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

// NewSessions returns Sessions that take at most most bytes of memory; with 0 they store nothing.
func NewSessions(most int64) *Sessions {
	s := &Sessions{most: most}
	s.mu.held = make(map[xxh3.Uint128]session)
	return s
}

// Stats returns the counters.
func (s *Sessions) Stats() SessionStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.stats
}

// put stores the session of a server in place of its earlier one.
func (s *Sessions) put(server xxh3.Uint128, one session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(server)
	if one.bytes > s.most {
		return
	}
	for other := range s.mu.held {
		if s.mu.bytes+one.bytes <= s.most {
			break
		}
		s.remove(other)
	}
	s.mu.held[server] = one
	s.mu.bytes += one.bytes
}

// take returns the session of a server, which stays.
func (s *Sessions) take(server xxh3.Uint128, now time.Time) (one session, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, ok = s.mu.held[server]
	if ok && !now.Before(one.trusted.until) {
		s.remove(server)
		return session{}, false
	}
	if ok {
		s.mu.stats.Offered++
	}
	return one, ok
}

func (s *Sessions) drop(server xxh3.Uint128) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(server)
}

// remove forgets the session of a server. The caller holds the lock.
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
