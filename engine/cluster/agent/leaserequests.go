package agent

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"time"

	"orbweaver/engine/cluster"
	"orbweaver/engine/cluster/addresslease"
	"orbweaver/internal/notify"
)

// clerk brings the wishes for addresses to one keeper, as many at a time as have come together while it was on its way.
// They are no more than there are exchanges and fetch workers.
type clerk struct {
	leases *leases
	to     string
	line   string
	wake   chan struct{} // capacity 1: there are wishes

	mu   sync.Mutex
	next *errand   // guarded by mu: what it will say next; nil when it brings nothing any more
	shy  time.Time // guarded by mu: before this it does not ask again a keeper who has not answered
	deaf bool      // run's: the keeper is of the former version, and knows nothing of leases
}

// errand is what a clerk says in one question.
type errand struct {
	wishes   []addresslease.Request
	answered chan struct{} // closed when it is, or will not be
}

const (
	// leaseLinger is how long the first wish waits for company, for each other agent: so an agent asks as often,
	// however many there are. It is leaseLingerMost at most.
	leaseLinger, leaseLingerMost = 50 * time.Millisecond, 400 * time.Millisecond
	// leasePatience is how long an answer is waited for.
	leasePatience = time.Second
)

func newClerk(l *leases, to, line string) *clerk {
	return &clerk{leases: l, to: to, line: line, wake: make(chan struct{}, 1), next: newErrand()}
}

func (l *leases) linger() time.Duration {
	return min(time.Duration(len(l.keepers.Load().lines)-1)*leaseLinger, leaseLingerMost)
}

func newErrand() *errand { return &errand{answered: make(chan struct{})} }

// log takes a wish, and tells by closing answered that the holder knows the answer. It is nil if nobody will answer.
func (k *clerk) say(w addresslease.Request) (answered <-chan struct{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.next == nil || w.Kind == addresslease.Acquire && time.Now().Before(k.shy) {
		return nil
	}
	k.next.wishes = append(k.next.wishes, w)
	notify.Send(k.wake)
	return k.next.answered
}

// run goes on one errand after the other, until ctx ends.
func (k *clerk) run(ctx context.Context) {
	for {
		select {
		case <-k.wake:
			rest(ctx, k.leases.linger())
			k.bring(ctx)
		case <-ctx.Done():
			k.mu.Lock()
			defer k.mu.Unlock()
			close(k.next.answered)
			k.next = nil
			return
		}
	}
}

// bring goes on one errand.
func (k *clerk) bring(ctx context.Context) {
	k.mu.Lock()
	e := k.next
	k.next = newErrand()
	if n := len(e.wishes); n > leaseWishes {
		k.next.wishes = append(k.next.wishes, e.wishes[leaseWishes:]...)
		e.wishes = e.wishes[:leaseWishes]
		notify.Send(k.wake)
	}
	k.mu.Unlock()
	defer close(e.answered)
	if k.deaf {
		k.leases.sayHere(k.line, e.wishes)
		return
	}
	question := binary.BigEndian.AppendUint64([]byte{questionLease}, k.leases.run)
	question = binary.AppendUvarint(question, k.leases.number.Add(1))
	for _, w := range e.wishes {
		question = addresslease.AppendRequest(question, w)
	}
	n := &k.leases.peers.counters
	n.leaseAsked.Add(1)
	asked := time.Now()
	own, cancel := context.WithTimeout(ctx, leasePatience)
	defer cancel()
	raw, err := k.leases.peers.network.Ask(own, k.to, question)
	now := time.Now()
	if err == nil {
		var answers []addresslease.Response
		if answers, err = addresslease.ParseResponses(raw, len(e.wishes)); err == nil {
			k.leases.holder.HandleResponses(k.line, e.wishes, answers, asked, now)
			return
		}
	}
	if k.deaf = errors.Is(err, cluster.ErrMalformed); k.deaf {
		k.leases.peers.log.Warn("another agent knows nothing of leases: the delay of its addresses is kept by each agent for itself",
			"agent", k.to)
		k.leases.sayHere(k.line, e.wishes)
		return
	}
	n.leaseUnanswered.Add(1)
	again := now.Add(leaseAgain)
	k.leases.holder.HandleFailure(k.line, e.wishes, again)
	k.mu.Lock()
	k.shy = again
	k.mu.Unlock()
}
