package transport

import (
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"orbweaver/engine/peering"
)

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
