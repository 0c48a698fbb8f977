package agent

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"orbweaver/engine/cluster"
	"orbweaver/engine/cluster/addresslease"
	"orbweaver/engine/cluster/ownership"
)

// leases keeps the delay of IP addresses whose hosts belong to several agents, see package lease.
type leases struct {
	peers   *agent
	keepers atomic.Pointer[keepers]
	former  ownership.History[*keepers]

	gap      func() time.Duration // from one exchange of an address to the next
	book     addresslease.Granter // of the addresses that this agent keeps
	holder   addresslease.Holder  // of those that it asks
	isAgreed bool                 // the keepers are those of an agreed view
	run      uint64               // tells the questions of this process from those of one before
	number   atomic.Uint64        // of the last question, whoever brought it: a keeper who was lost for a while remembers those of the clerk before

	answered chan struct{} // closed

	mu     sync.Mutex
	clerks map[string]*clerk  // guarded by mu: who asks other keepers, by line
	asked  map[string]inquiry // guarded by mu: the last question of each agent
}

// errOvertaken says that a question came after a later one of the same agent, which did not wait for the answer any
// more.
var errOvertaken = errors.New("engine: a question that a later one overtook")

func (l *leases) init(p *agent) {
	l.peers, l.run, l.answered = p, rand.Uint64(), make(chan struct{})
	l.clerks, l.asked = make(map[string]*clerk), make(map[string]inquiry)
	close(l.answered)
}

// inquiry is the place of a question in the order of its agent's.
type inquiry struct{ run, number uint64 }

// questionLease brings wishes; its run and number follow, eight bytes and a varint, and then the wishes. The answer has
// one for each.
const questionLease byte = 'L'

const (
	// leaseAgain is after how long an address is asked for again at the earliest, of a keeper who is not there, or is
	// not the keeper.
	leaseAgain = time.Second
	// leaseClaim is how long after a change of the keepers agents tell the new ones of exchanges that began before.
	leaseClaim = time.Minute
	// leaseGapMost is the longest delay between exchanges that is believed, unless this agent's own is longer.
	leaseGapMost = time.Minute
	// leaseWishes is how many wishes a question has at most.
	leaseWishes = 4096
)

// borrow lets an exchange with an address begin, which abort ends when nobody keeps the address for this agent any
// more; give ends it. If the address is not to be had now, again is when to come again.
func (l *leases) borrow(ctx context.Context, stopping <-chan struct{}, addr netip.Addr,
	abort context.CancelFunc) (lent bool, again time.Time) {
	a := addresslease.Addr(addr.As16())
	for wished := false; ; wished = true {
		k, now := l.keepers.Load(), time.Now()
		if again = l.lentBy(k, a, now); again.After(now) {
			return false, again
		}
		ok, again := l.holder.BeginExchange(a, k.of(a), abort, now)
		if ok && l.keepers.Load() == k { // else nobody may have told the holder that the keepers moved
			return true, time.Time{}
		}
		if ok {
			l.holder.EndExchange(a, time.Time{}, true, now)
			continue
		}
		if wished || now.Before(again) || !l.wish(ctx, stopping, k.of(a), a) {
			if !again.After(now) {
				again = now.Add(leaseAgain)
			}
			return false, again
		}
	}
}

// lentBy is from when on nobody holds a lease any more that another keeper gave: the one that keeps the address now may
// not know that it was taken for dead by some, who went by another.
func (l *leases) lentBy(k *keepers, a addresslease.Addr, now time.Time) time.Time {
	return l.former.SettledAt(time.Time{}, now, l.peers.grace,
		func(was *keepers) bool { return len(was.lines) == 1 || was.of(a) == k.of(a) })
}

// wish asks the keeper for an address, and returns when it has answered, or will not.
func (l *leases) wish(ctx context.Context, stopping <-chan struct{}, keeper string, a addresslease.Addr) bool {
	l.peers.counters.leaseWishes.Add(1)
	w := addresslease.Request{Kind: addresslease.Acquire, Addr: a, Delay: l.gap()}
	answered := l.say(keeper, w)
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

// say brings a wish to a keeper; when it is answered the holder knows, and answered is closed. It is nil if the keeper
// is not there.
func (l *leases) say(keeper string, w addresslease.Request) (answered <-chan struct{}) {
	if keeper == l.peers.instance {
		l.sayHere(keeper, []addresslease.Request{w})
		return l.answered
	}
	l.mu.Lock()
	clerk := l.clerks[keeper]
	l.mu.Unlock()
	if clerk == nil {
		return nil
	}
	return clerk.say(w)
}

// sayHere brings wishes to this agent's own book: it keeps the addresses, or their keeper knows nothing of leases.
func (l *leases) sayHere(keeper string, wishes []addresslease.Request) {
	now := time.Now()
	answers := make([]addresslease.Response, len(wishes))
	for i, w := range wishes {
		answers[i] = l.book.Handle(l.peers.network.Self(), w, l.peers.keepsFrom(w.Addr), now)
	}
	l.holder.HandleResponses(keeper, wishes, answers, now, now)
}

// give ends an exchange. Nobody may ask the address before due; more says that this agent would do so again right then.
func (l *leases) give(addr netip.Addr, due time.Time, more bool) {
	a, now := addresslease.Addr(addr.As16()), time.Now()
	if l.holder.EndExchange(a, due, more, now) {
		l.say(l.keepers.Load().of(a), addresslease.Request{Kind: addresslease.Release, Addr: a,
			Delay: max(due.Sub(now), 0)})
	}
}

// hire gives the addresses of another keeper to a clerk, who is to be run until it is fired.
func (l *leases) hire(to, line string) *clerk {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := newClerk(l, to, line)
	l.clerks[line] = k
	return k
}

func (l *leases) fire(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.clerks, line)
}

// watch prolongs the leases of exchanges that go on, and aborts those for which that was of no use, until ctx ends.
func (l *leases) watch(ctx context.Context) error {
	tick := time.NewTicker(addresslease.CheckInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
		prolong, aborted := l.holder.CheckExpiry(time.Now())
		l.peers.counters.leaseAborted.Add(int64(aborted))
		l.prolong(prolong)
	}
}

func (l *leases) prolong(all []addresslease.Renewal) {
	for _, p := range all {
		w := addresslease.Request{Kind: addresslease.Renew, Addr: p.Addr, Delay: l.gap()}
		if l.say(p.Granter, w) == nil {
			l.holder.HandleFailure(p.Granter, []addresslease.Request{w}, time.Now().Add(leaseAgain))
		}
	}
}

// moved is told that the keepers are others now.
func (l *leases) moved() {
	k := l.keepers.Load()
	if l.isAgreed {
		l.holder.FinishLeases(k.of)
		return
	}
	l.prolong(l.holder.ChangeGranters(k.of, k.has, time.Now()))
}

// answer is what the keeper says to the wishes of another agent.
func (l *leases) answer(from string, question []byte) (answers []byte, err error) {
	if len(question) < 8 {
		return nil, fmt.Errorf("%w: a question of %q without a number", cluster.ErrMalformed, from)
	}
	this := inquiry{run: binary.BigEndian.Uint64(question)}
	n := 0
	if this.number, n = binary.Uvarint(question[8:]); n <= 0 {
		return nil, fmt.Errorf("%w: a question of %q without a number", cluster.ErrMalformed, from)
	}
	l.mu.Lock()
	defer l.mu.Unlock() // questions of one agent are answered one after the other
	if last := l.asked[from]; last.run == this.run && last.number >= this.number {
		return nil, errOvertaken
	}
	l.asked[from] = this
	k, now, wishes := l.keepers.Load(), time.Now(), 0
	for w, err := range addresslease.Requests(question[8+n:]) {
		if wishes++; err != nil || wishes > leaseWishes {
			return nil, fmt.Errorf("%w: a question of %q: %d wishes: %w", cluster.ErrMalformed, from, wishes, err)
		}
		a := addresslease.Response{RetryIn: leaseAgain}
		if w.Kind != addresslease.Release {
			w.Delay = min(w.Delay, max(l.gap(), leaseGapMost))
		}
		switch {
		case w.Kind != addresslease.Acquire && !l.mayClaim(from, w.Addr, k, now):
			l.peers.counters.unauthorised.Add(1)
			l.peers.accounts.NoteUnauthorised(from, questionLease, "an exchange with an address, or its end, without a lease")
		case w.Kind != addresslease.Acquire || k.mine(w.Addr):
			a = l.book.Handle(from, w, l.peers.keepsFrom(w.Addr), now)
		}
		answers = addresslease.AppendResponse(answers, a)
	}
	return answers, nil
}

// mayClaim says that an agent may tell of an exchange with an address: it has the lease, or the keepers changed
// recently, so that the exchange may have begun under another keeper, or this agent does not keep the address. Else one
// agent could silence any address.
func (l *leases) mayClaim(from string, a addresslease.Addr, k *keepers, now time.Time) bool {
	if !k.mine(a) || l.book.HadLease(from, a) || now.UnixNano()-l.peers.cautiousUntil.Load() < int64(leaseClaim) {
		return true
	}
	return slices.ContainsFunc(l.former.All(),
		func(f ownership.Previous[*keepers]) bool { return now.Sub(f.Until) < leaseClaim })
}

// keepsFrom is from when on this agent gives an address away: not right after it has become its keeper, since the one
// before may have given it to somebody, and not while there is no majority for it, since another one may keep it then.
func (p *agent) keepsFrom(a addresslease.Addr) time.Time {
	gap, now := p.leases.gap(), time.Now()
	if !p.quorum.holds() {
		return now.Add(leaseAgain)
	}
	return settled(p, &p.leases.former, now.Add(-gap), func(k *keepers) bool { return k.mine(a) }).Add(gap)
}
