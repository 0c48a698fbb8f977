package consensus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"orbweaver/engine/peering"
	"orbweaver/internal/notify"
	"orbweaver/internal/vfs"
)

const (
	// Lease is how long an agent may fetch, from the moment it asked.
	Lease = 10 * time.Second
	// Takeover is how long an agent leaves alone what is its own by a new view. Clocks may differ in rate by the
	// quotient of both.
	Takeover = 12 * time.Second
)

// Times of raft. A leader that is lost is replaced in time for most leases to be asked for again.
const (
	heartbeatTime   = 1500 * time.Millisecond
	leaderLeaseTime = heartbeatTime
	commitTime      = 250 * time.Millisecond
	enqueueTime     = 2 * time.Second
)

// The log is compacted when it has so many entries, and keeps so many for voters that are late.
const (
	snapshotEntries = 64
	trailingEntries = 64
	snapshotPeriod  = time.Minute
)

// Options are what a node needs.
type Options struct {
	FS   vfs.FS
	File string // where the state is kept; name.tmp is used, too
	Self string // the line of this agent: its name, a slash, and the number of its data
	// Ask puts a question to the agent of a line. The node there gets it by Answer.
	Ask func(ctx context.Context, line string, question []byte) ([]byte, error)
	// Retry waits before a failed write of the state is tried again; its error ends that. Nil never waits.
	Retry func(ctx context.Context, err error) error
	Log   *slog.Logger
}

// Wish is what an agent would have. Only the leader acts by its own.
type Wish struct {
	Present []string // lines of the agents that membership has now, this one among them
	Found   []string // lines of the agents that begin a crawl, if no agent has begun it; else empty
	View    []byte   // the ownership view; nil for none yet
	Base    uint64   // the index of the view from which it follows: if another one has come, it is not agreed on
}

// Node is this agent among the voters.
type Node struct {
	self      string
	id        string
	log       *slog.Logger
	store     *store
	views     *views
	calls     *calls
	binder    *binder
	leader    *leader
	lease     *lease
	transport *transport
	raft      *raft.Raft // from Start on

	cancel  context.CancelFunc
	started chan struct{}
	ended   chan struct{}
	loops   sync.WaitGroup
}

// Open reads the state of a node, or makes it.
func Open(o Options) (*Node, error) {
	fresh := func() string { return fmt.Sprintf("%s#%016x", o.Self, rand.Uint64()) }
	s, err := openStore(o.FS, o.File, fresh, o.Retry)
	if err != nil {
		return nil, err
	}
	id, _, _ := s.names()
	if lineOf(id) != o.Self {
		return nil, fmt.Errorf("%w: it is that of %s", ErrState, id)
	}
	n := &Node{
		self: o.Self, id: id, log: o.Log, store: s,
		views:   &views{changed: make(chan struct{}, 1)},
		started: make(chan struct{}), ended: make(chan struct{}),
	}
	n.calls = &calls{
		self: o.Self, run: rand.Uint64(), store: s, ask: o.Ask, log: o.Log,
		contacts: map[string]time.Time{}, warned: map[string]bool{},
	}
	n.leader = &leader{
		id: id, views: n.views, log: o.Log, elects: make(chan bool, 1), govern: make(chan struct{}, 1),
		prove: make(chan struct{}, 1), ended: n.ended, joins: map[string]time.Time{}, leavingRuns: map[string]uint64{},
	}
	n.binder = &binder{id: id, calls: n.calls, store: s, log: o.Log, lock: make(chan struct{}, 1)}
	n.lease = &lease{
		id: id, calls: n.calls, views: n.views, leader: n.leader, binder: n.binder, wake: make(chan struct{}, 1),
	}
	n.binder.wake = func() { notify.Send(n.lease.wake) }
	n.transport = &transport{id: id, calls: n.calls, rpcs: make(chan raft.RPC), ended: n.ended}
	return n, nil
}

// lineOf is the line of a raft ID.
func lineOf(id string) string {
	line, _, _ := strings.Cut(id, "#")
	return line
}

// Start begins. The node ends with ctx, or with Close, which must follow in any case.
func (n *Node) Start(ctx context.Context) error {
	c := raft.DefaultConfig()
	c.LocalID = raft.ServerID(n.id)
	c.HeartbeatTimeout, c.ElectionTimeout, c.LeaderLeaseTimeout = heartbeatTime, heartbeatTime, leaderLeaseTime
	c.SnapshotThreshold, c.TrailingLogs, c.SnapshotInterval = snapshotEntries, trailingEntries, snapshotPeriod
	c.CommitTimeout, c.ShutdownOnRemove, c.NotifyCh = commitTime, false, n.leader.elects
	c.Logger = hclog.New(&hclog.LoggerOptions{Level: hclog.Warn, Output: logWriter{n.log}, DisableTime: true})
	ctx, cancel := context.WithCancel(ctx)
	n.cancel, n.transport.ctx = cancel, ctx
	n.store.begin(ctx)
	n.binder.resume()
	r, err := raft.NewRaft(c, n.views, n.store, n.store, n.store, n.transport)
	if err != nil {
		cancel()
		return fmt.Errorf("consensus: %w", err)
	}
	n.raft, n.leader.raft, n.lease.raft, n.binder.raft, n.transport.raft = r, r, r, r, r
	close(n.started)
	n.loops.Go(func() { n.lease.askAgain(ctx) })
	n.loops.Go(func() { n.leader.run(ctx, n.binder.wake) })
	n.loops.Go(func() { n.leader.appendProofs(ctx) })
	return nil
}

// Close ends what Start began, and waits for it.
func (n *Node) Close() error {
	n.cancel()
	close(n.ended)
	err := n.raft.Shutdown().Error()
	n.loops.Wait()
	if err != nil {
		return fmt.Errorf("consensus: %w", err)
	}
	return nil
}

// Changed is poked when there is another view, or a lease was granted.
func (n *Node) Changed() <-chan struct{} { return n.views.changed }

// Wish says what this agent would have.
func (n *Node) Wish(w Wish) {
	n.leader.setWish(w)
	if len(w.Found) > 0 {
		n.binder.wake()
	}
}

// View is the last view that was committed, its index, and how many came in this run: if that is more than one more
// than before, some view was not seen. The caller must not change it.
func (n *Node) View() (index uint64, count int, content []byte) {
	last, count := n.views.now()
	return last.Index, count, last.View
}

// Acts says by which view this agent acts from now on.
func (n *Node) Acts(index uint64) { n.lease.setActs(index) }

// Holds is for how long this agent has a lease; zero if it has none.
func (n *Node) Holds(now time.Time) time.Duration { return n.lease.left(now) }

// Heard are the lines of the agents that were heard within Lease, by this one or by the leader, sorted.
func (n *Node) Heard(now time.Time) (lines []string) { return n.calls.recent(now) }

// Voters are the lines of the voters, sorted, as far as this agent knows; none before there are any.
func (n *Node) Voters() (lines []string) {
	select {
	case <-n.started:
	default:
		return nil
	}
	ids, err := voterIDs(n.raft)
	if err != nil {
		return nil
	}
	for _, id := range ids {
		lines = append(lines, lineOf(id))
	}
	slices.Sort(lines)
	return lines
}

// Leave has the others go on without this agent, which must not fetch any more. It returns when that is so, or with
// ctx. It has no effect on the last voter.
func (n *Node) Leave(ctx context.Context) error {
	n.lease.stopAsking()
	tick := time.NewTicker(askPeriod / 4)
	defer tick.Stop()
	for {
		if _, cluster, _ := n.store.names(); cluster == "" {
			return nil
		}
		if voters := n.Voters(); len(voters) == 1 && voters[0] == n.self || !slices.Contains(voters, n.self) {
			return nil
		}
		switch leader := n.lease.find(ctx); leader {
		case "":
		case n.id:
			// A leader does not remove itself: if that did not come to be committed, its log would be the longest,
			// and it would not be a candidate by it.
			n.leader.done("hand over the lead", n.id, n.raft.LeadershipTransfer())
		default:
			a, err := n.calls.call(ctx, lineOf(leader), &question{Kind: kindRemove, To: leader}, askTime)
			if err == nil && a.Granted {
				return nil
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Answer answers a question of another agent, whose name is proved and stands before the slash of its line.
func (n *Node) Answer(ctx context.Context, from string, b []byte) ([]byte, error) {
	select {
	case <-n.started:
	default:
		return nil, errClosed
	}
	var q question
	if err := decode(b, &q); err != nil {
		return nil, err
	}
	if !strings.HasPrefix(q.From, from+"/") || q.To != "" && q.To != n.id {
		return nil, fmt.Errorf("consensus: a question of %q to %q, which is not here", q.From, q.To)
	}
	if n.store.silent() {
		return nil, errClosed
	}
	n.calls.note(time.Now(), lineOf(q.From))
	a, err := n.reply(ctx, &q)
	if err != nil {
		return nil, err
	}
	if n.store.silent() {
		return nil, errClosed
	}
	a.ID, a.Cluster, _ = n.store.names()
	_, leader := n.raft.LeaderWithID()
	a.Leader, a.Founding = string(leader), n.binder.foundingNow()
	return encode(a), nil
}

// reply does what a question asks for.
func (n *Node) reply(ctx context.Context, q *question) (a *answer, err error) {
	a = new(answer)
	switch q.Kind {
	case kindState:
	case kindLease:
		if _, cluster, _ := n.store.names(); q.Cluster != "" && q.Cluster != cluster {
			n.calls.warnOfOther(q.From)
			break
		}
		if a.Granted = n.leader.grant(ctx, q.From, q.Run, q.Index); a.Granted {
			a.Contacts = n.Heard(time.Now())
		}
	case kindPledge:
		a.Granted = n.binder.pledge(q.Found)
	case kindRemove:
		a.Granted = n.leader.release(q.From, q.Run)
	case kindAppend, kindVote, kindPreVote, kindNow, kindInstall:
		if !n.binder.bind(q.Cluster) {
			return nil, fmt.Errorf("consensus: a call of %q for another log", q.From)
		}
		a.Body, err = n.transport.answer(ctx, q)
	default:
		err = fmt.Errorf("%w: %q", ErrMessage, q.Kind)
	}
	return a, err
}

// ageOf is how old a moment is: by the clock that does not stop for a change of the time of day, or by the time of day,
// which does not stop while a machine sleeps; the longer of the two.
func ageOf(now, then time.Time) time.Duration {
	return max(now.Sub(then), now.Round(0).Sub(then.Round(0)))
}

// logWriter gives raft's lines to the log, at level debug.
type logWriter struct{ log *slog.Logger }

func (w logWriter) Write(b []byte) (int, error) {
	w.log.Debug("raft", "line", strings.TrimSpace(string(b)))
	return len(b), nil
}

// Kinds of questions.
const (
	kindAppend  = "append"
	kindVote    = "vote"
	kindPreVote = "prevote"
	kindInstall = "install"
	kindNow     = "now"
	kindLease   = "lease"
	kindPledge  = "pledge"
	kindRemove  = "remove"
	kindState   = "state"
)

// ErrMessage says that a message cannot be read.
var ErrMessage = fmt.Errorf("%w: of package consensus", peering.ErrMalformed)

// errClosed says that the node has ended, or has not begun.
var errClosed = errors.New("consensus: not running")

// question is what one node says to another.
type question struct {
	Kind    string          `json:"kind"`
	From    string          `json:"from"`              // raft ID of the sender
	To      string          `json:"to,omitempty"`      // raft ID of the receiver; empty for whichever the agent has now
	Cluster string          `json:"cluster,omitempty"` // names the log; empty if the sender has none
	Body    json.RawMessage `json:"body,omitempty"`    // raft's request
	Data    []byte          `json:"data,omitempty"`    // of a snapshot
	Index   uint64          `json:"index,omitempty"`   // of the view by which the sender acts
	Run     uint64          `json:"run,omitempty"`     // tells the process of the sender from earlier ones
	Found   string          `json:"found,omitempty"`   // the log that the sender would begin
}

// answer is what the other says to that.
type answer struct {
	ID       string          `json:"id"`
	Cluster  string          `json:"cluster,omitempty"`
	Founding string          `json:"founding,omitempty"` // the log that it would begin
	Leader   string          `json:"leader,omitempty"`   // raft ID
	Granted  bool            `json:"granted,omitempty"`
	Contacts []string        `json:"contacts,omitempty"` // lines of the agents that the leader has heard, for people
	Body     json.RawMessage `json:"body,omitempty"`
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("BUG: consensus: " + err.Error())
	}
	return b
}

func decode(b []byte, v any) error {
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%w: %w", ErrMessage, err)
	}
	return nil
}
