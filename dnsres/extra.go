package dnsres

import (
	"sync/atomic"
	"time"

	"github.com/miekg/dns"
)

// extra is what a name server knows of one part of our questions that old servers may not know: EDNS0, random case in
// names, questions of type AAAA. An extra that makes questions fail is left out, and is tried again from time to time.
type extra struct {
	failures atomic.Int32 // questions with it that had no usable reply, since the last one that had
	known    atomic.Bool  // a question with it had a usable reply, and it was not left out since then
	until    atomic.Int64 // it is left out until this tick; 0 if it is in use
	wait     atomic.Int64 // the last time for which it was left out
}

const (
	// extraFailures is the number of failures after which an extra is left out that had worked. One failure is enough
	// for an extra that never worked with this server.
	extraFailures = 3
	// An extra is left out for extraWaitMin; each further time doubles this, up to extraWaitMax.
	extraWaitMin = time.Minute
	extraWaitMax = 16 * time.Minute
)

// use reports whether the next question has this extra. If its time is over, a single question tries it again.
func (e *extra) use(tick int64) (use, isTrial bool) {
	until := e.until.Load()
	if until == 0 {
		return true, false
	}
	if tick < until || !e.until.CompareAndSwap(until, tick+e.wait.Load()) {
		return false, false
	}
	return true, true
}

// worked notes a usable reply to a question with this extra.
func (e *extra) worked() {
	if e.failures.Load() != 0 {
		e.failures.Store(0)
	}
	if !e.known.Load() {
		e.known.Store(true)
		e.until.Store(0)
		e.wait.Store(0)
	}
}

// isDoubtful reports whether failures may be those of this extra.
func (e *extra) isDoubtful() bool { return !e.known.Load() || e.failures.Load() >= extraFailures }

// workedWithout notes a usable reply without this extra to a question that had failed with it.
func (e *extra) workedWithout(tick int64) {
	if !e.isDoubtful() {
		return
	}
	wait := min(max(2*e.wait.Load(), int64(extraWaitMin)), int64(extraWaitMax))
	e.known.Store(false)
	e.wait.Store(wait)
	e.until.Store(tick + wait)
}

// form is how a question is sent.
type form struct{ edns, mixed bool }

// attempts is what is known of the forms of one question: the extras that failed with some server.
type attempts struct{ noEDNS, noMixed bool }

// form returns how the next question to u is sent, without the extras that failed before.
func (a *attempts) form(u *upstream, tick int64) (f form) {
	isTrial := false
	if !a.noEDNS {
		f.edns, isTrial = u.edns.use(tick)
	}
	switch {
	case a.noMixed:
	case isTrial: // one extra is tried at a time
		f.mixed = u.mixed.until.Load() == 0
	default:
		f.mixed, _ = u.mixed.use(tick)
	}
	return f
}

// timedOut notes that u did not reply to a question of form f.
func (a *attempts) timedOut(u *upstream, f form) {
	switch {
	case f.edns:
		u.edns.failures.Add(1)
		a.noEDNS = true
	case f.mixed:
		a.caseFailed(u)
	}
}

// caseFailed notes that u has no usable reply to a question in random case.
func (a *attempts) caseFailed(u *upstream) {
	u.mixed.failures.Add(1)
	a.noMixed = u.mixed.isDoubtful()
}

// refused notes an error reply of u. It reports whether the question must be sent again without an extra.
func (a *attempts) refused(u *upstream, f form, reply *dns.Msg) bool {
	isOld := reply.Rcode == dns.RcodeFormatError || reply.Rcode == dns.RcodeNotImplemented
	switch {
	case f.edns && reply.IsEdns0() == nil && (isOld || u.edns.isDoubtful()):
		u.edns.failures.Add(1)
		a.noEDNS = true
		return true
	case f.mixed && isOld:
		a.caseFailed(u)
		return a.noMixed
	}
	return false
}

// replied notes a usable reply of u to a question of form f.
func (a *attempts) replied(u *upstream, f form, tick int64) {
	if f.edns {
		u.edns.worked()
	} else if a.noEDNS && u.edns.failures.Load() > 0 {
		u.edns.workedWithout(tick)
	}
	if f.mixed {
		u.mixed.worked()
	} else if a.noMixed && u.mixed.failures.Load() > 0 {
		u.mixed.workedWithout(tick)
	}
}
