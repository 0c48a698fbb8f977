package consensus

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"orbweaver/internal/notify"
)

const (
	askPeriod  = time.Second             // between two looks at whether a lease must be asked for
	askEarly   = 2500 * time.Millisecond // so old a lease is asked for again
	askTime    = 5 * time.Second         // so long an answer is waited for
	proofPause = 1500 * time.Millisecond // between two proofs: each is a write on all voters
)

// lease is the lease of this agent. It is asked for again and again.
type lease struct {
	id     string
	calls  *calls
	views  *views
	leader *leader
	binder *binder
	raft   *raft.Raft    // from Start on
	wake   chan struct{} // capacity 1

	mu        sync.Mutex
	acts      uint64    // guarded by mu: the index of the view by which this agent acts
	start     time.Time // guarded by mu: when the last lease was asked for that was granted; zero if none was
	isLeaving bool      // guarded by mu: this agent leaves, and asks for nothing
	hint      string    // guarded by mu: raft ID of a leader that another agent named
}

// left is how long the lease holds; zero if there is none.
func (l *lease) left(now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.start.IsZero() {
		return 0
	}
	return max(Lease-ageOf(now, l.start), 0)
}

// setActs notes by which view this agent acts.
func (l *lease) setActs(index uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.acts != index {
		l.acts = index
		notify.Send(l.wake)
	}
}

// stopAsking ends the asking for leases.
func (l *lease) stopAsking() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isLeaving = true
}

// askAgain asks for leases, or to join, until ctx ends.
func (l *lease) askAgain(ctx context.Context) {
	tick := time.NewTicker(askPeriod)
	defer tick.Stop()
	for {
		if _, cluster, pledge := l.calls.store.names(); cluster == "" {
			l.binder.seek(ctx, l.leader.wishNow(), pledge)
		} else {
			l.renew(ctx)
		}
		select {
		case <-tick.C:
		case <-l.wake:
		case <-ctx.Done():
			return
		}
	}
}

// renew asks for a lease, if the one that there is is old.
func (l *lease) renew(ctx context.Context) {
	now := time.Now()
	l.mu.Lock()
	acts, young := l.acts, !l.start.IsZero() && ageOf(now, l.start) < askEarly
	isLeaving := l.isLeaving
	l.mu.Unlock()
	if young || isLeaving {
		return
	}
	granted, hint := false, ""
	switch leader := l.find(ctx); leader {
	case "":
	case l.id:
		granted = l.leader.grant(ctx, l.id, l.calls.run, acts)
	default:
		q := &question{Kind: kindLease, To: leader, Index: acts}
		if a, err := l.calls.call(ctx, lineOf(leader), q, askTime); err == nil {
			granted, hint = a.Granted, a.Leader
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hint = hint
	if granted {
		l.start = now
		notify.Send(l.views.changed)
	}
}

// find is the raft ID of the leader, as far as this node can find out.
func (l *lease) find(ctx context.Context) string {
	if l.raft.State() == raft.Leader {
		return l.id
	}
	_, id := l.raft.LeaderWithID()
	leader := string(id)
	l.mu.Lock()
	if leader == "" {
		leader = l.hint
	}
	l.mu.Unlock()
	if leader != "" && leader != l.id {
		return leader
	}
	_, cluster, _ := l.calls.store.names()
	// This agent may have been removed, and is told nothing any more.
	for _, a := range l.calls.callAll(ctx, l.leader.wishNow().Present) {
		if a.Cluster == cluster && a.Leader != "" && a.Leader != l.id {
			return a.Leader
		}
	}
	return ""
}
