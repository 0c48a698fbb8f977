package transport

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"orbweaver/engine/peering"
)

// Stats is what a Transport has done.
type Stats struct {
	Peers   []PeerStats        // by name
	Refused [refusalsEnd]int64 // by Refusal: connections and calls that were refused
}

// PeerStats is what was exchanged with one agent.
type PeerStats struct {
	ID   string
	Addr netip.AddrPort // where batches to it go; not valid if none was sent
	Out  Flow           // from here to it
	In   Flow           // from it to here

	LastError   string // of calls to it, or about what it sent
	LastErrorAt time.Time
}

// Flow is one direction. Batches = InFlight + Acknowledged + Quota + Refused + Failed + Unknown.
type Flow struct {
	Batches      int64 // sent, or received whole
	Bytes        int64 // of these
	InFlight     int64
	Acknowledged int64
	Quota        int64 // the receiver said to wait
	Refused      int64 // the receiver never accepts them
	Failed       int64 // the receiver could not process them
	Unknown      int64 // the connection broke, or the sender stopped waiting, before an answer
	Repeated     int64 // of those that were acknowledged: received before, and not processed again; only In counts them
	Requests     int64
}

// Refusal is why a connection or call was refused.
type Refusal int

// The reasons.
const (
	RefusedHandshake Refusal = iota // no TLS 1.3, no certificate, or no end of the handshake in time
	RefusedIdentity                 // another authority, another crawl, a name that is not its own or is ours
	RefusedExpired                  // a certificate that has expired, or is not valid yet
	RefusedReplaced                 // a certificate that is older than one that its agent has shown
	RefusedMalformed                // not a message of the protocol
	RefusedTooLong                  // a message above the limit
	RefusedBanned                   // a call during a ban
	RefusedLimit                    // too many connections, or too many names
	RefusedSilent                   // a connection that ended without a call that was admitted
	refusalsEnd
)

// String names it for metrics.
func (r Refusal) String() string {
	return [...]string{
		"handshake", "identity", "expired", "replaced", "malformed", "too_long", "banned", "limit", "silent",
	}[r]
}

// refusalOf sorts an error of a handshake or of admission.
func refusalOf(err error, otherwise Refusal) Refusal {
	var (
		unknown x509.UnknownAuthorityError
		invalid x509.CertificateInvalidError
	)
	switch {
	case errors.Is(err, errReplaced):
		return RefusedReplaced
	case errors.Is(err, ErrIdentity), errors.As(err, &unknown):
		return RefusedIdentity
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return RefusedExpired
	case errors.As(err, &invalid):
		return RefusedIdentity
	case errors.Is(err, peering.ErrBanned):
		return RefusedBanned
	case errors.Is(err, errTooMany):
		return RefusedLimit
	case errors.Is(err, errTooLong):
		return RefusedTooLong
	}
	return otherwise
}

// refusals counts what was refused, and logs each kind at most once in logPeriod.
type refusals struct {
	log        *slog.Logger
	mu         sync.Mutex
	counts     [refusalsEnd]int64
	lastLog    [refusalsEnd]time.Time
	suppressed [refusalsEnd]int64 // since lastLog
	closed     bool               // the Transport was closed: what ends now was not refused
}

// add counts a refusal. id is the agent as far as it is known, or "".
func (r *refusals) add(reason Refusal, id string, from net.Addr, err error) {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return
	}
	r.counts[reason]++
	now := time.Now()
	quiet := now.Sub(r.lastLog[reason]) < logPeriod
	suppressed := r.suppressed[reason]
	if quiet {
		r.suppressed[reason]++
	} else {
		r.lastLog[reason], r.suppressed[reason] = now, 0
	}
	r.mu.Unlock()
	if !quiet {
		r.log.Warn("a connection or message of another agent was refused", "reason", reason.String(), "agent", id,
			"from", fmt.Sprint(from), "error", shortText(err), "suppressed", suppressed)
	}
}

// close stops counting.
func (r *refusals) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
}

func (r *refusals) snapshot() [refusalsEnd]int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts
}

// tally is the live form of PeerStats.
type tally struct {
	mu    sync.Mutex
	stats PeerStats
}

// change changes the numbers.
func (t *tally) change(f func(s *PeerStats)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f(&t.stats)
}

// note keeps the error that a call ended with; nil does nothing.
func (t *tally) note(err error) {
	if err != nil {
		t.change(func(s *PeerStats) { s.LastError, s.LastErrorAt = err.Error(), time.Now() })
	}
}

// begin counts a batch of so many bytes.
func (f *Flow) begin(size int) {
	f.Batches++
	f.InFlight++
	f.Bytes += int64(size)
}

// end counts what became of a batch, by the error of Send or Receive.
func (f *Flow) end(err error) {
	f.InFlight--
	var quota *peering.WaitError
	switch {
	case err == nil:
		f.Acknowledged++
	case errors.As(err, &quota):
		f.Quota++
	case errors.Is(err, peering.ErrMalformed):
		f.Refused++
	case errors.Is(err, ErrUnknown), errors.Is(err, ErrUnreachable), errors.Is(err, context.Canceled):
		f.Unknown++
	default:
		f.Failed++
	}
}

// sortPeers orders by name.
func sortPeers(peers []PeerStats) {
	slices.SortFunc(peers, func(a, b PeerStats) int { return strings.Compare(a.ID, b.ID) })
}
