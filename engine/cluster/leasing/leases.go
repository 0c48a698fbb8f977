package leasing

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"orbweaver/engine/peering"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/state/cluster"
)

// QuestionKind is the first byte of a question with requests. The run of the sender (8 bytes, big endian), the number
// of the question in the run (varint) and the requests follow. The answer has a response for each.
const QuestionKind byte = 'L'

const (
	// retryWait is the least time until an address is asked for again that its granter did not answer for.
	retryWait = time.Second
	// claimTime is how long after a change of the granters agents tell the new ones of exchanges that began before.
	claimTime = time.Minute
	// delayMost is the longest delay between exchanges that is believed, unless that of this agent is longer.
	delayMost = time.Minute
	// requestsMost is how many requests a question has at most.
	requestsMost = 4096
)

// errOvertaken says that a question arrived after a later one of the same agent, which does not wait for it any more.
var errOvertaken = errors.New("leasing: a question that a later one overtook")

// Options are what the leases need of their agent. All functions must be safe for concurrent use.
type Options struct {
	Self     string // the name of this agent
	Instance string // with its data

	// Delay is the time between two exchanges with an address, or with the group of hosts that has its place.
	Delay func(addr netip.Addr) time.Duration
	// Grace is how long agents may act by an earlier view.
	Grace func() time.Duration
	// CautiousUntil is until when any address may have been another agent's a moment ago.
	CautiousUntil func() time.Time
	// MayGrant is false while this agent has no majority.
	MayGrant func() bool
	// Ask asks another agent.
	Ask func(ctx context.Context, agent string, question []byte) ([]byte, error)
	// Unauthorised is told of a claim that is not believed.
	Unauthorised func(agent, statement string)

	Log *slog.Logger
}

// Leases are the leases of this agent. Safe for concurrent use.
type Leases struct {
	options  Options
	granters atomic.Pointer[granters]
	earlier  ownership.History[*granters]
	granter  Granter       // of the addresses that this agent grants
	holder   Holder        // of the leases that it has
	isAgreed atomic.Bool   // the views are agreed ones
	run      uint64        // tells the questions of this process from those of an earlier one
	number   atomic.Uint64 // of the last question; a granter that was lost for a while remembers earlier ones
	answered chan struct{} // closed
	counts   counts

	mu         sync.Mutex
	requesters map[string]*Requester    // guarded by mu: by instance of the granter
	last       map[string]questionPlace // guarded by mu: the last question of each agent
}

// questionPlace is the place of a question among those of its agent.
type questionPlace struct{ run, number uint64 }

type counts struct{ requests, questions, unanswered, aborted atomic.Int64 }

// New makes the leases of an agent. UseView comes before anything else.
func New(o Options) *Leases {
	l := &Leases{
		options: o, run: rand.Uint64(), answered: make(chan struct{}),
		requesters: make(map[string]*Requester), last: make(map[string]questionPlace),
	}
	close(l.answered)
	return l
}

// UseAgreedViews says that all views from now on are agreed by a majority: see Holder.FinishLeases.
func (l *Leases) UseAgreedViews() { l.isAgreed.Store(true) }

// UseView makes those agents of a view the granters that are not away, by instance. It says whether the granters
// change; then NoteChange follows, without locks. One goroutine at a time calls it.
func (l *Leases) UseView(c *ownership.View, away []string, now time.Time) (changed bool) {
	g := newGranters(c, away)
	was := l.granters.Load()
	if was != nil && slices.Equal(was.agents, g.agents) && was.self == g.self {
		return false
	}
	if was != nil {
		l.earlier.Add(was, now, l.options.Grace())
	}
	l.granters.Store(g)
	return true
}

// NoteChange tells the holder that the granters have changed.
func (l *Leases) NoteChange() {
	g := l.granters.Load()
	if l.isAgreed.Load() {
		l.holder.FinishLeases(g.of)
		return
	}
	l.renew(l.holder.ChangeGranters(g.of, g.has, time.Now()))
}

// Acquire begins an exchange with an address; Release ends it. abort is called if the lease ends before. If the address
// is not granted now, retryAt says when to try again.
func (l *Leases) Acquire(
	ctx context.Context, stopping <-chan struct{}, addr netip.Addr, abort context.CancelFunc,
) (granted bool, retryAt time.Time) {
	a := Addr(addr.As16())
	for asked := false; ; asked = true {
		g, now := l.granters.Load(), time.Now()
		if retryAt = l.earlierLeasesEnd(g, a, now); retryAt.After(now) {
			return false, retryAt
		}
		ok, retryAt := l.holder.BeginExchange(a, g.of(a), abort, now)
		if ok && l.granters.Load() == g { // else the holder may not have heard of the change
			return true, time.Time{}
		}
		if ok {
			l.holder.EndExchange(a, time.Time{}, true, now)
			continue
		}
		if asked || now.Before(retryAt) || !l.request(ctx, stopping, g.of(a), a) {
			if !retryAt.After(now) {
				retryAt = now.Add(retryWait)
			}
			return false, retryAt
		}
	}
}

// earlierLeasesEnd is when no agent has a lease of an address any more that an earlier granter gave. The present
// granter may not know that some agents took it for dead and went by another one.
func (l *Leases) earlierLeasesEnd(g *granters, a Addr, now time.Time) time.Time {
	return l.earlier.SettledAt(time.Time{}, now, l.options.Grace(),
		func(was *granters) bool { return len(was.instances) == 1 || was.of(a) == g.of(a) })
}

// request asks the granter for an address. It returns true when the response is in the holder.
func (l *Leases) request(ctx context.Context, stopping <-chan struct{}, granter string, a Addr) bool {
	l.counts.requests.Add(1)
	answered := l.send(granter, Request{Kind: Acquire, Addr: a, Delay: l.delay(a)})
	if answered == nil {
		return false
	}
	select {
	case <-answered:
		return true
	case <-stopping:
	case <-ctx.Done():
	}
	return false
}

// send sends a request to a granter. answered is closed when the holder has the response; it is nil if the granter
// cannot be asked now.
func (l *Leases) send(granter string, r Request) (answered <-chan struct{}) {
	if granter == l.options.Instance {
		l.handleHere(granter, []Request{r})
		return l.answered
	}
	requester := l.requester(granter)
	if requester == nil {
		return nil
	}
	return requester.add(r)
}

// requester is the requester for a granter; nil if that is this agent, or cannot be asked.
func (l *Leases) requester(granter string) *Requester {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.requesters[granter]
}

// handleHere has this agent's own Granter answer: it grants the addresses, or their granter knows no leases.
func (l *Leases) handleHere(granter string, requests []Request) {
	now := time.Now()
	responses := make([]Response, len(requests))
	for i, r := range requests {
		responses[i] = l.granter.Handle(l.options.Self, r, l.GrantsFrom(r.Addr), now)
	}
	l.holder.HandleResponses(granter, requests, responses, now, now)
}

// Release ends an exchange. No agent may contact the address before due; more says that this agent would do so then.
func (l *Leases) Release(addr netip.Addr, due time.Time, more bool) {
	a, now := Addr(addr.As16()), time.Now()
	if l.holder.EndExchange(a, due, more, now) {
		l.send(l.granters.Load().of(a),
			Request{Kind: Release, Addr: a, Delay: max(due.Sub(now), 0)})
	}
}

// Run renews the leases of exchanges that go on, and aborts exchanges whose lease was not renewed, until ctx ends.
func (l *Leases) Run(ctx context.Context) error {
	tick := time.NewTicker(CheckInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
		renewals, aborted := l.holder.CheckExpiry(l.answerTime, time.Now())
		l.counts.aborted.Add(int64(aborted))
		l.renew(renewals)
	}
}

// answerTime is how long a granter takes for an answer; 0 if it is this agent, or not known.
func (l *Leases) answerTime(granter string) time.Duration {
	if q := l.requester(granter); q != nil {
		return q.answerTime()
	}
	return 0
}

// IsSilent reports whether an agent, by its instance, does not answer the requests of this one.
func (l *Leases) IsSilent(granter string) bool {
	q := l.requester(granter)
	return q != nil && q.isSilent()
}

// delay is the time between two exchanges with an address.
func (l *Leases) delay(a Addr) time.Duration {
	return l.options.Delay(netip.AddrFrom16(a).Unmap())
}

func (l *Leases) renew(all []Renewal) {
	for _, n := range all {
		r := Request{Kind: Renew, Addr: n.Addr, Delay: l.delay(n.Addr)}
		if l.send(n.Granter, r) == nil {
			l.holder.HandleFailure(n.Granter, []Request{r}, time.Now().Add(retryWait))
		}
	}
}

// HandleQuestion answers the requests of another agent: see QuestionKind, which the question is without.
func (l *Leases) HandleQuestion(from string, question []byte) (answer []byte, err error) {
	if len(question) < 8 {
		return nil, fmt.Errorf("%w: a question of %q without a number", peering.ErrMalformed, from)
	}
	place := questionPlace{run: binary.BigEndian.Uint64(question)}
	n := 0
	if place.number, n = binary.Uvarint(question[8:]); n <= 0 {
		return nil, fmt.Errorf("%w: a question of %q without a number", peering.ErrMalformed, from)
	}
	l.mu.Lock()
	defer l.mu.Unlock() // questions of an agent are answered in turn
	if last := l.last[from]; last.run == place.run && last.number >= place.number {
		return nil, errOvertaken
	}
	l.last[from] = place
	g, now, requests := l.granters.Load(), time.Now(), 0
	for r, err := range Requests(question[8+n:]) {
		if requests++; err != nil || requests > requestsMost {
			return nil, fmt.Errorf("%w: a question of %q: %d wishes: %w", peering.ErrMalformed, from, requests, err)
		}
		response := Response{RetryIn: retryWait}
		if r.Kind != Release {
			r.Delay = min(r.Delay, max(l.delay(r.Addr), delayMost))
		}
		switch {
		case r.Kind != Acquire && !l.mayClaim(from, r.Addr, g, now):
			l.options.Unauthorised(from, "an exchange with an address, or its end, without a lease")
		case r.Kind != Acquire || g.isSelf(r.Addr):
			response = l.granter.Handle(from, r, l.GrantsFrom(r.Addr), now)
		}
		answer = AppendResponse(answer, response)
	}
	return answer, nil
}

// mayClaim says whether an agent may tell of an exchange with an address. It may if it has had the lease; if the
// granters changed recently, so that the exchange may have begun under another one; and if this agent is not the
// granter. Else one agent could silence any address.
func (l *Leases) mayClaim(from string, a Addr, g *granters, now time.Time) bool {
	if !g.isSelf(a) || l.granter.HadLease(from, a) || now.Sub(l.options.CautiousUntil()) < claimTime {
		return true
	}
	return slices.ContainsFunc(l.earlier.All(),
		func(f ownership.Previous[*granters]) bool { return now.Sub(f.Until) < claimTime })
}

// GrantsFrom is when this agent begins to grant an address: some time after it has become its granter, since the one
// before may have granted a lease; and not without a majority, since another agent may be the granter then.
func (l *Leases) GrantsFrom(a Addr) time.Time {
	delay, now := l.delay(a), time.Now()
	if !l.options.MayGrant() {
		return now.Add(retryWait)
	}
	return l.earlier.SettledAt(l.options.CautiousUntil(), now.Add(-delay), l.options.Grace(),
		func(g *granters) bool { return g.isSelf(a) }).Add(delay)
}

// FillReport adds what the leases count.
func (l *Leases) FillReport(r *cluster.StatusReport, now time.Time) {
	r.LeasesRequested, r.LeaseRequests = l.counts.requests.Load(), l.counts.questions.Load()
	r.LeaseRequestsUnanswered, r.LeaseExchangesAborted = l.counts.unanswered.Load(), l.counts.aborted.Load()
	r.LeasesGranted = l.granter.LeaseCount(now)
}

// table is a map that forgets entries that have expired and were not used for at least minAge.
type table[V any] struct {
	recent, older map[Addr]*V // used in the current period; not used in it
	periodStart   time.Time
}

// minAge is how long an entry is kept at least after its last use.
const minAge = time.Minute / 2

// get returns the entry of an address; nil if there is none.
func (t *table[V]) get(a Addr) *V {
	v := t.recent[a]
	if v == nil {
		if v = t.older[a]; v != nil {
			delete(t.older, a)
			t.put(a, v)
		}
	}
	return v
}

func (t *table[V]) put(a Addr, v *V) {
	if t.recent == nil {
		t.recent = make(map[Addr]*V)
	}
	t.recent[a] = v
}

func (t *table[V]) size() int { return len(t.recent) + len(t.older) }

// forgetExpired starts another period if the current one is over. It removes entries that were not used in the old
// period and have expired.
func (t *table[V]) forgetExpired(now time.Time, expired func(*V) bool) {
	if now.Sub(t.periodStart) < minAge {
		return
	}
	t.periodStart = now
	unused := t.older
	t.older, t.recent = t.recent, nil
	for a, v := range unused {
		if !expired(v) {
			t.put(a, v)
		}
	}
}
