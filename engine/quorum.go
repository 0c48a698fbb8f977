package engine

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"orbweaver/internal/vfs"
)

// A crawl with --quorum fetches on one side of a partition at most. Every agent asks every other each second whether it goes by the same
// circle, and fetches only while a majority of the agents that were agreed on last have said so within quorumProof. Who says so promises not to
// grant another circle before quorumTakeover is over. What is between the two is room for the exchanges that are ended, and for the
// delays of their hosts. docs/adr/0028 has the argument.
const (
	quorumPeriod   = time.Second      // between two questions to another agent
	quorumProof    = 10 * time.Second // so long an answer counts, from the question on
	quorumTakeover = 15 * time.Second // so long a grant binds, from the question's arrival on
	quorumPatience = 5 * time.Second  // so long an answer is waited for, and by who leaves that the others go on without it
)

// quorum is what one agent knows of the others' leave to fetch.
type quorum struct {
	peers *peers
	fs    vfs.FS
	dir   string
	self  string // this agent's line
	least int    // agents that begin a crawl
	again bool   // this agent goes on: what it granted in the run before is not known
	run   uint64
	began time.Time

	wake   chan struct{} // capacity 1: an answer came, or the circle is another
	news   chan struct{} // capacity 1: it may be time for another circle
	asking sync.WaitGroup
	shut   string // the loop's: why the gate is shut; "" if it is open
	told   bool   // the loop's: that there is no majority

	mu       sync.Mutex // guards what follows
	circle   *circle
	sets     agreement
	want     uint64 // the circle that this agent would go by; 0 for none
	pending  bool   // who is there makes another circle
	leaving  bool
	arrived  bool // the crawl has begun, or goes on
	count    uint64
	given    map[string]promise
	votes    map[string]vote
	waiting  map[string]bool // for an answer
	deaf     map[string]bool // agents that do not know the question
	held     bool            // this agent may fetch, until proved is too old
	proved   time.Time       // when the oldest grant that counts was asked for; zero if it never held
	lapsed   bool            // it lost that, and not for another circle
	turns    int             // of the circle since it held
	wings    map[*wing]struct{}
	grounded int64 // how many of them were ended
}

// open begins: nothing is fetched before a majority says so.
func (q *quorum) open(c *circle) {
	q.circle, q.shut, q.pending = c, quorumBegins, true
	q.peers.gate.Shut(q.shut)
}

// arrive notes that the crawl has begun, or goes on.
func (q *quorum) arrive() {
	if q == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.arrived = true
}

// stir has the loop look at the circle, which is another one.
func (q *quorum) stir() {
	if q != nil {
		poke(q.wake)
	}
}

// changed is poked when it may be time for another circle.
func (q *quorum) changed() <-chan struct{} {
	if q == nil {
		return nil
	}
	return q.news
}

// newQuorum reads what was agreed on. What was begun without --quorum was agreed on by all that were there; who has begun with it and has noted
// nothing yet has no say, whomever it went by.
func newQuorum(p *peers, fsys vfs.FS, dir string, cut *peersCut) (*quorum, error) {
	q := &quorum{
		peers: p, fs: fsys, dir: dir, self: p.line, again: cut != nil, run: rand.Uint64(), began: time.Now(),
		wake: make(chan struct{}, 1), news: make(chan struct{}, 1),
		given: map[string]promise{}, votes: map[string]vote{}, waiting: map[string]bool{}, deaf: map[string]bool{}, wings: map[*wing]struct{}{},
	}
	if cut == nil {
		return q, writeQuorum(fsys, dir, agreement{})
	}
	var err error
	if q.sets, err = readQuorum(fsys, dir); err != nil || q.sets != nil {
		return q, err
	}
	q.sets = agreement{}
	if cut.Begun {
		q.sets = agreement{{N: 1, Lines: linesOf(cut.Peers), Formed: true}}
	}
	return q, writeQuorum(fsys, dir, q.sets)
}

func linesOf(peers []Peer) (lines []string) {
	for _, p := range peers {
		lines = append(lines, p.line())
	}
	slices.Sort(lines)
	return lines
}

// speaks says that what this agent says counts: it knows all that it has granted and that may bind it. The caller holds mu.
func (q *quorum) speaks(now time.Time) bool { return !q.again || now.Sub(q.began) >= quorumTakeover }

// holds says that this agent may fetch by a circle. The caller holds mu.
func (q *quorum) holds(c *circle) bool {
	return q.held && c == q.circle && ageOf(time.Now(), q.proved) < quorumProof
}

// holdsNow says so of the circle that is.
func (q *quorum) holdsNow() bool {
	if q == nil {
		return true
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.holds(q.peers.circle.Load())
}

// yes is how long ago each agent granted the circle, if that still counts, and what sets have a say in it. The caller holds mu.
func (q *quorum) yes(now time.Time) (ages map[string]time.Duration, sets agreement) {
	ages, sets = make(map[string]time.Duration), q.sets
	hash := q.circle.hash()
	if q.speaks(now) && !q.bound(q.self, hash, now) {
		ages[q.self] = 0
	}
	for line, v := range q.votes {
		if v.granted.IsZero() || v.circle != hash {
			continue
		}
		if age := ageOf(now, v.granted); age < quorumProof {
			ages[line] = age
			sets = sets.with(v.Sets)
		}
	}
	if len(sets) == 0 && len(q.circle.lines) >= q.least { // the crawl begins
		sets = unanimous(q.circle.lines)
	}
	return ages, sets
}

// look finds out whether this agent may fetch, and says when to look again. Exchanges that it may not go on with are ended.
func (q *quorum) look(now time.Time) (again time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if c := q.peers.circle.Load(); c != q.circle {
		q.circle, q.held = c, false
		q.turns++
		q.ground(c.mine)
		for line, v := range q.votes { // who asks for another circle gives back what it had, be it this one
			v.granted = time.Time{}
			q.votes[line] = v
		}
	}
	ages, sets := q.yes(now)
	age, ok := sets.proven(ages)
	switch {
	case ok && !q.held:
		q.begin(now)
		fallthrough
	case ok:
		q.held, q.lapsed, q.proved = true, false, now.Add(-age)
	case q.held || ageOf(now, q.proved) >= quorumProof:
		q.held, q.lapsed = false, !q.proved.IsZero()
		q.ground(nil)
		return quorumProof
	}
	return max(quorumProof-ageOf(now, q.proved), time.Millisecond)
}

// begin begins a time in which this agent may fetch. The caller holds mu.
func (q *quorum) begin(now time.Time) {
	p := q.peers
	guest := q.turns > 1
	switch {
	case q.proved.IsZero():
		guest = q.arrived && (p.again || !p.since.Load())
	case q.lapsed || ageOf(now, q.proved) >= quorumProof: // others may have had its hosts, and have their pages
		guest = true
		p.turns.Add(1)
	}
	if guest {
		p.guest.Store(now.Add(p.grace).UnixNano())
	}
	if q.turns > 0 {
		p.restart(now)
	}
	q.turns = 0
}

// underWay says that others have agreed on who they are: then the crawl has begun, and whoever comes to it needs no more of them than a majority.
func (q *quorum) underWay(now time.Time) bool {
	if q == nil {
		return false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, v := range q.votes {
		if ageOf(now, v.at) < quorumProof && len(v.Sets.formed()) > 0 {
			return true
		}
	}
	return false
}

// allows says whether this agent may go by those who are there: a majority would as well, and who is not among them cannot have hosts any
// more by anything that this agent has granted.
func (q *quorum) allows(now []Peer) bool {
	if q == nil {
		return true
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	c, at := q.peers.circle.Load(), time.Now()
	q.want, q.pending = 0, true
	if slices.Equal(c.peers, now) {
		q.want, q.pending = c.hash(), false
		return true
	}
	lines := linesOf(now)
	if q.beholden(lines, at) {
		return false
	}
	if !q.speaks(at) && slices.ContainsFunc(c.lines, func(line string) bool { return !slices.Contains(lines, line) }) {
		return false
	}
	q.want = hashOf(now)
	ages, sets := map[string]time.Duration{q.self: 0}, q.sets
	for line, v := range q.votes {
		if age := ageOf(at, v.at); age < quorumProof && slices.Contains(lines, line) && (v.Want == q.want || v.Circle == q.want) {
			ages[line] = age
			sets = sets.with(v.Sets)
		}
	}
	if len(sets) == 0 && len(lines) >= q.least {
		sets = unanimous(lines)
	}
	_, ok := sets.proven(ages)
	return ok
}

// follow keeps asking, and acts on the answers, until ctx ends, the crawl is over, or enough says so.
func (q *quorum) follow(ctx context.Context, enough func() bool) {
	ctx, stop := context.WithCancel(ctx)
	defer q.asking.Wait()
	defer stop()
	tick := time.NewTicker(quorumPeriod)
	defer tick.Stop()
	again := time.NewTimer(quorumPeriod)
	defer again.Stop()
	q.stir()
	q.askAll(ctx)
	for {
		select {
		case <-tick.C:
			q.askAll(ctx)
		case <-q.wake:
		case <-again.C:
		case <-ctx.Done():
			return
		}
		if q.peers.over.Load() {
			q.peers.gate.Open(q.shut)
			return
		}
		now := time.Now()
		turned := q.turned()
		again.Reset(q.look(now))
		if turned {
			q.askAll(ctx)
		}
		if err := q.agree(); err != nil {
			q.peers.say.Warn("what the agents of this crawl agreed on could not be noted; it is tried again", slog.Any("error", err))
		}
		q.tell(now)
		q.mu.Lock()
		pending := q.pending
		q.mu.Unlock()
		if pending {
			poke(q.news)
		}
		if enough() {
			return
		}
	}
}

// turned says that the circle is another one.
func (q *quorum) turned() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.peers.circle.Load() != q.circle
}

// goes says from now on that this agent fetches nothing any more and goes, so that no grant that it has binds anybody.
func (q *quorum) goes() {
	if q == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.leaving = true
	poke(q.wake)
}

// part has the others agree that they are the agents of the crawl without this one, which fetches nothing any more: otherwise it would be one
// that is missing to a majority. It waits for that a while.
func (q *quorum) part(ctx context.Context) {
	if q == nil || q.peers.over.Load() {
		return
	}
	q.goes()
	ctx, stop := context.WithTimeout(ctx, quorumPatience)
	defer stop()
	q.follow(ctx, q.dispensable)
}

// dispensable says that all who stay have agreed.
func (q *quorum) dispensable() bool {
	there := q.peers.seam.Peers()
	q.mu.Lock()
	defer q.mu.Unlock()
	here := q.here(there, time.Now())
	return !slices.ContainsFunc(here, func(line string) bool {
		set := q.votes[line].Sets.last(here)
		return set == nil || !set.Formed
	})
}
