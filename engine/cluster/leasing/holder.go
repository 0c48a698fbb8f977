package leasing

import (
	"context"
	"sync"
	"time"
)

const (
	// minRemaining is how much of a lease must remain when an exchange begins. Most exchanges are shorter.
	minRemaining = 1500 * time.Millisecond
	// renewBefore is how long before its end a lease with an exchange is renewed, if its granter answers at once. It is
	// renewed earlier by twice the time that the granter takes, up to renewEarlierMost: another question may be under way.
	renewBefore, renewEarlierMost = 2500 * time.Millisecond, 1500 * time.Millisecond
	// abortBefore is how long before its end the exchange is aborted, if the lease was not renewed.
	abortBefore = 300 * time.Millisecond
	// CheckInterval is how often CheckExpiry must be called. It is shorter than abortBefore.
	CheckInterval = 250 * time.Millisecond
)

// Holder has the leases of an agent. The zero value has none. It is safe for concurrent use. An address has at most one
// exchange at a time.
type Holder struct {
	mu     sync.Mutex
	leases table[lease]    // guarded by mu
	inUse  map[Addr]*lease // guarded by mu: those with an exchange
}

// lease is what an agent knows about its lease of an address.
type lease struct {
	granter string // the agent that granted it
	start   time.Time
	end     time.Time
	shared  bool // other agents want the address too

	// If the granter changes during an exchange, the previous one may not know, and may grant the address to another
	// agent after previousEnd. previousGranter is empty if it knows.
	previousGranter string
	previousEnd     time.Time

	retryAt    time.Time // before this a request is useless
	releasedAt time.Time // responses to earlier requests do not count
	delay      time.Duration
	renewed    bool               // the lease was renewed, so the granter must learn when the exchange ends
	renewing   bool               // a request to renew has no response yet
	final      bool               // it may not be renewed any more
	abort      context.CancelFunc // ends the exchange; nil without one
	aborted    bool
}

// inUseWait is after what time a request can help for an address that is in an exchange of this agent.
const inUseWait = time.Second

// BeginExchange reports whether an exchange may begin under a lease of this granter. If it may not, retryAt is when a
// request can help. If it may, the exchange continues until EndExchange, and abort is called if the lease ends before.
func (h *Holder) BeginExchange(
	a Addr, granter string, abort context.CancelFunc, now time.Time,
) (ok bool, retryAt time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.leases.forgetExpired(now, func(l *lease) bool {
		return l.abort == nil && now.After(l.end) && now.After(l.retryAt)
	})
	l := h.leases.get(a)
	switch {
	case l == nil:
		return false, time.Time{}
	case l.abort != nil: // of a site that has its place under another key: see package addrgroup
		return false, now.Add(inUseWait)
	case l.granter != granter:
		return false, time.Time{}
	case now.Before(l.start):
		return false, l.start
	case l.end.Sub(now) < minRemaining:
		return false, l.retryAt
	}
	if h.inUse == nil {
		h.inUse = make(map[Addr]*lease)
	}
	l.abort, l.aborted, l.renewed, l.renewing, l.final = abort, false, false, false, false
	h.inUse[a] = l
	return true, time.Time{}
}

// EndExchange ends an exchange. No agent may contact the address before due. With another=true this agent would begin
// the next exchange at due. EndExchange reports whether the granter must get a Release: if due does not follow from the
// term of the lease, or if other agents wait.
func (h *Holder) EndExchange(a Addr, due time.Time, another bool, now time.Time) (release bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.inUse[a]
	if l == nil {
		panic("BUG: addresslease: end of an exchange that did not begin")
	}
	delete(h.inUse, a)
	l.abort, l.previousGranter = nil, ""
	if release = l.renewed || l.shared && !another || due.After(l.end.Add(l.delay)); release {
		l.end, l.releasedAt = time.Time{}, now
	}
	return release
}

// HandleResponses processes the responses of a granter to requests that were sent at a time, in their order.
func (h *Holder) HandleResponses(granter string, requests []Request, responses []Response, sent, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, r := range requests {
		h.handleResponse(granter, r, responses[i], sent, now)
	}
}

// HandleFailure notes that a granter did not respond, and that a request before retryAt is useless.
func (h *Holder) HandleFailure(granter string, requests []Request, retryAt time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range requests {
		l := h.leaseOf(granter, r.Addr)
		if r.Kind == Acquire && l.abort == nil {
			l.retryAt = retryAt
		}
		l.renewing = false
	}
}

// leaseOf returns the lease of an address. Without an exchange, a lease of another granter is replaced.
func (h *Holder) leaseOf(granter string, a Addr) *lease {
	l := h.leases.get(a)
	if l == nil {
		l = &lease{granter: granter}
		h.leases.put(a, l)
	}
	if l.granter != granter && l.abort == nil {
		*l = lease{granter: granter}
	}
	return l
}

func (h *Holder) handleResponse(granter string, r Request, response Response, sent, now time.Time) {
	l := h.leaseOf(granter, r.Addr)
	outdated := !sent.After(l.releasedAt)
	switch r.Kind {
	case Release:
		if l.abort == nil {
			l.end = time.Time{} // also of a request that was sent just before
		}
	case Renew:
		l.handleRenewed(granter, response, outdated, sent)
	default:
		switch {
		case l.granter != granter, outdated:
		case response.Granted:
			l.delay, l.retryAt, l.shared = r.Delay, time.Time{}, response.Shared
			l.start, l.end = now.Add(response.StartsIn), latest(l.end, sent.Add(response.EndsIn)) // F1
			if l.end.Sub(latest(now, l.start)) < minRemaining {
				// This is the end of a lease that other agents wait for.
				l.start, l.retryAt = time.Time{}, l.end
			}
		default:
			l.retryAt = now.Add(response.RetryIn)
		}
	}
}

// handleRenewed processes the response to a request to renew.
func (l *lease) handleRenewed(granter string, response Response, outdated bool, sent time.Time) {
	if l.abort == nil || outdated {
		return // the exchange has ended: the renewed lease expires
	}
	if granter == l.previousGranter {
		if response.Granted {
			l.previousGranter = "" // it will learn of the change before this term ends
		}
		return
	}
	l.renewing = false
	if response.Granted && l.granter == granter {
		l.renewed, l.end = true, latest(l.end, sent.Add(response.EndsIn))
	}
}

// Renewal is a lease that must be renewed, since its exchange continues.
type Renewal struct {
	Addr    Addr
	Granter string // receives the request
}

// CheckExpiry returns the leases that must be renewed. It aborts the exchanges whose leases were not renewed in time,
// and returns their number. answerTime is how long a granter takes for an answer.
func (h *Holder) CheckExpiry(
	answerTime func(granter string) time.Duration, now time.Time,
) (renewals []Renewal, aborted int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for a, l := range h.inUse {
		end := l.end
		if l.previousGranter != "" && l.previousEnd.Before(end) {
			end = l.previousEnd
		}
		remaining := end.Sub(now)
		switch {
		case l.aborted || remaining >= renewBefore+renewEarlierMost,
			remaining >= renewBefore+min(2*answerTime(l.granter), renewEarlierMost):
		case remaining < abortBefore:
			l.abort()
			l.aborted = true
			aborted++
		case l.final:
		default:
			if !l.renewing {
				l.renewing = true
				renewals = append(renewals, Renewal{a, l.granter})
			}
			if l.previousGranter != "" {
				renewals = append(renewals, Renewal{a, l.previousGranter})
			}
		}
	}
	return renewals, aborted
}

// ChangeGranters notes that addresses have other granters now. granterOf returns the granter of an address, isMember
// reports whether a previous granter is still an agent of the cluster. The exchanges must be renewed by the new
// granters, and by previous ones that are members, since those may not know of the change. They have RenewTerm for
// this, or less if their leases end before.
func (h *Holder) ChangeGranters(
	granterOf func(a Addr) string, isMember func(granter string) bool, now time.Time,
) (renewals []Renewal) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for a, l := range h.inUse {
		granter := granterOf(a)
		if granter == l.granter {
			continue
		}
		if l.previousGranter == "" {
			l.previousGranter, l.previousEnd = l.granter, l.end
		}
		if !isMember(l.previousGranter) || l.previousGranter == granter {
			l.previousGranter = ""
		}
		l.granter, l.renewing = granter, true
		if limit := now.Add(RenewTerm); l.end.After(limit) {
			l.end = limit
		}
		renewals = append(renewals, Renewal{a, granter})
		if l.previousGranter != "" {
			renewals = append(renewals, Renewal{a, l.previousGranter})
		}
	}
	return renewals
}

// FinishLeases notes that addresses have other granters by an agreed ownership view. A previous granter may act by the
// older view for some time, and grant what its leases leave free. So no lease of a previous granter is renewed any
// more, and CheckExpiry aborts the exchange that outlasts it.
func (h *Holder) FinishLeases(granterOf func(a Addr) string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for a, l := range h.inUse {
		l.final = l.final || l.granter != granterOf(a)
	}
}
