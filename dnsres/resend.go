package dnsres

import (
	"sync"
	"time"
)

// resender decides when a question over UDP is sent to its server again, because it or its reply may be lost. The wait
// is that of TCP (RFC 6298), with other bounds. A question that is sent again is the same message from the same socket,
// so a forger must guess as much as before. A server that is slow, overloaded or dead is not asked much more by this:
// replies pay for what is sent again.
type resender struct {
	mu              sync.Mutex
	mean, deviation time.Duration // of the time of replies to questions that were sent once; 0 before the first
	debt            int           // replies that must still pay for questions that were sent again
}

const (
	resendFirst = time.Second            // wait before any reply is known
	resendMin   = 200 * time.Millisecond // shortest wait
	resendTimes = 2                      // of one question; each wait is twice the one before
	resendPrice = 10                     // replies for a question that is sent again
	resendDebt  = 64 * resendPrice       // nothing is sent again with so much debt
)

// wait returns how long a reply may take before its question is sent again.
func (r *resender) wait() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mean == 0 {
		return resendFirst
	}
	return max(r.mean+4*r.deviation, resendMin)
}

// replied notes a reply, and how long it took, unless its question was sent more than once (Karn's algorithm).
func (r *resender) replied(took time.Duration, sentOnce bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.debt = max(r.debt-1, 0)
	switch {
	case !sentOnce:
	case r.mean == 0:
		r.mean, r.deviation = max(took, 1), took/2
	default:
		r.deviation += ((took - r.mean).Abs() - r.deviation) / 4
		r.mean = max(r.mean+(took-r.mean)/8, 1)
	}
}

// mayResend reports whether a question may be sent again, and counts it.
func (r *resender) mayResend() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.debt >= resendDebt {
		return false
	}
	r.debt += resendPrice
	return true
}
