package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"orbweaver/engine/cluster"
	"orbweaver/engine/cluster/consensus"
	"orbweaver/engine/cluster/message"
	"orbweaver/engine/cluster/ownership"
	"orbweaver/internal/notify"
	"orbweaver/internal/vfs"
)

// consensusName is the file that keeps what this agent has promised. It is no part of a checkpoint: what was said to
// others may not be forgotten.
func consensusName(dir string) string { return dir + "/consensus" }

const (
	leaveTime = 20 * time.Second // so long an agent that stops waits for the others, which may have to elect a leader
	deafTime  = time.Minute      // so long an agent is not asked that does not know such questions
)

// Why nothing is fetched while no crawl has begun, and while a majority is there.
const (
	quorumBegins = waitingForAgents + ", to begin with them"
	quorumSoon   = "the agents of this crawl agree on who they are"
)

// quorum has this agent fetch only while it has a lease of a majority, and act by the ownership view that the majority
// has agreed on. It is nil without --quorum: then each side of a partition goes on.
type quorum struct {
	peers    *agent
	node     *consensus.Node
	least    int           // agents that begin a crawl
	hasEnded func() bool   // the crawl has ended
	news     chan struct{} // capacity 1: another view is there
	runs     bool          // the node was started
	shut     string        // follow's: why the gate is shut; empty if it is open
	short    bool          // follow's: the log says that too few agents answer

	index uint64 // peers.run's: of the view that this agent acts by
	count int    // peers.run's: see consensus.Node.View

	mu       sync.Mutex
	deaf     map[string]time.Time           // agents without --quorum, by line; guarded by mu
	wings    map[*cluster.Exchange]struct{} // exchanges under way; guarded by mu
	grounded int64                          // how many of them were ended; guarded by mu
}

// openQuorum makes this agent ask for leave to fetch, if it must, or forgets what it has promised.
func openQuorum(p *agent, fsys vfs.FS, dir string) (err error) {
	if !p.options.Quorum {
		return vfs.RemoveIfExists(fsys, consensusName(dir))
	}
	q := &quorum{
		peers: p, least: p.options.Agents, hasEnded: p.end.HasEnded, news: make(chan struct{}, 1), shut: quorumBegins,
		deaf: map[string]time.Time{}, wings: map[*cluster.Exchange]struct{}{},
	}
	o := consensus.Options{
		FS: fsys, File: consensusName(dir), Self: p.instance, Ask: q.ask, Log: p.log, Retry: p.journal.Disk.Wait,
	}
	if q.node, err = consensus.Open(o); err != nil {
		return err
	}
	p.leases.UseAgreedViews()
	p.quorum, p.views.Grace = q, max(p.views.Grace, p.hostDelay)+consensus.Takeover
	p.gate.Shut(q.shut)
	return nil
}

// ask brings a message to another agent.
func (q *quorum) ask(ctx context.Context, line string, content []byte) ([]byte, error) {
	q.mu.Lock()
	deaf := time.Since(q.deaf[line]) < deafTime
	q.mu.Unlock()
	if deaf {
		return nil, cluster.ErrMalformed
	}
	answer, err := q.peers.network.Ask(ctx, ownership.AgentID(line), append([]byte{message.QuestionConsensus}, content...))
	if errors.Is(err, cluster.ErrMalformed) {
		q.mu.Lock()
		defer q.mu.Unlock()
		if _, known := q.deaf[line]; !known {
			q.peers.log.Warn("another agent runs without --quorum: give it to all agents of a crawl, or to none",
				"agent", ownership.AgentID(line), "error", err)
		}
		q.deaf[line] = time.Now()
	}
	return answer, err
}

// answer answers a message of another agent.
func (q *quorum) answer(ctx context.Context, from string, content []byte) ([]byte, error) {
	answer, err := q.node.Answer(ctx, from, content)
	if errors.Is(err, consensus.ErrMessage) {
		err = fmt.Errorf("%w: %w", cluster.ErrMalformed, err)
	}
	return answer, err
}

// changed is poked when there may be another view.
func (q *quorum) changed() <-chan struct{} {
	if q == nil {
		return nil
	}
	return q.news
}

// agreed is by whom this agent goes: without a quorum by those who are there, if they are complete; else by the view
// that was agreed on, if there is one in which it has a part or from which it has asked to be left out.
func (q *quorum) agreed(now []ownership.Agent, complete bool) (view []ownership.Agent, ok bool) {
	if q == nil {
		return now, complete
	}
	p := q.peers
	index, count, content := q.node.View()
	view, away, err := ownership.DecodeAgreed(content)
	mine := index > 0 && err == nil && (slices.Contains(ownership.Instances(view), p.instance) || p.isGoing(p.instance))
	wish := consensus.Wish{Present: ownership.Instances(p.network.Agents()), Base: index}
	if mine {
		wish.Base = q.index // who is there was found out by this view
	}
	if complete {
		wish.View = ownership.EncodeAgreed(now, p.expected)
		if q.mayBegin(now) {
			wish.Found = ownership.Instances(now)
		}
	}
	q.node.Wish(wish)
	if !mine {
		return nil, false
	}
	if index != q.index && count != q.count+1 && q.index != 0 { // others may have had its hosts, and have their pages
		p.views.Arrive(time.Now().Add(p.views.Grace))
		p.viewChanges.Add(1)
	}
	if index != q.index {
		notify.Send(q.news) // who is there is to be found out by this view
	}
	q.index, q.count, p.expected = index, count, away
	return view, true
}

// mayBegin says that those who are there may begin, if no others have: they are as many as begin a crawl, or a majority
// of those who have begun it without a quorum.
func (q *quorum) mayBegin(now []ownership.Agent) bool {
	if !q.peers.hasBegun.Load() {
		return len(now) >= q.least
	}
	known := q.peers.views.Load().Instances
	here := slices.DeleteFunc(ownership.Instances(now), func(line string) bool { return !slices.Contains(known, line) })
	return 2*len(here) > len(known)
}

// underWay says that this agent has a part in a view.
func (q *quorum) underWay() bool {
	_, _, content := q.node.View()
	view, _, err := ownership.DecodeAgreed(content)
	return err == nil && slices.Contains(ownership.Instances(view), q.peers.instance)
}

// acts says that this agent goes by the last view that agreed gave. Exchanges with hosts that are another agent's now
// are ended.
func (q *quorum) acts() {
	if q == nil {
		return
	}
	q.end(q.peers.views.Load().Owns)
	q.node.Acts(q.index)
}

// holds says that this agent may fetch.
func (q *quorum) holds() bool { return q == nil || q.node.Holds(time.Now()) > 0 }

// run follows whether this agent may fetch, until ctx ends or the crawl is over.
func (q *quorum) run(ctx context.Context) error {
	if err := q.node.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	q.runs = true
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	lapse := time.NewTimer(time.Second)
	defer lapse.Stop()
	for seen := uint64(0); ; {
		select {
		case <-tick.C:
		case <-lapse.C:
		case <-q.node.Changed():
			if index, _, _ := q.node.View(); index != seen {
				seen = index
				notify.Send(q.news)
			}
		case <-ctx.Done():
			return nil
		}
		if q.hasEnded() {
			q.peers.gate.Open(q.shut)
			return nil
		}
		left := q.node.Holds(time.Now())
		if left > 0 {
			lapse.Reset(left)
		} else {
			q.end(nil)
		}
		q.tell(left > 0)
	}
}

// end ends the exchanges under way with the sites that keep says no to; a nil keep ends all.
func (q *quorum) end(keep func(site []byte) bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for w := range q.wings {
		if keep == nil || !keep(w.Site) {
			w.Cancel()
			delete(q.wings, w)
			q.grounded++
		}
	}
}

// stop has the others go on without this agent, which fetches nothing any more, and ends the node.
func (q *quorum) stop(ctx context.Context) {
	if q == nil || !q.runs {
		return
	}
	if !q.hasEnded() {
		ctx, end := context.WithTimeout(ctx, leaveTime)
		if err := q.node.Leave(ctx); err != nil {
			q.peers.log.Info("the other agents could not agree to go on without this one", "error", err)
		}
		end()
	}
	if err := q.node.Close(); err != nil {
		q.peers.log.Warn("the consensus of the agents could not be closed", "error", err)
	}
}

// tell tells the gate and the log whether this agent may fetch, and if not, why.
func (q *quorum) tell(may bool) {
	why, short := "", false
	if !may {
		why, short = q.why()
	}
	g := q.peers.gate
	if why != q.shut {
		if why != "" {
			g.Shut(why)
		}
		if q.shut != "" {
			g.Open(q.shut)
		}
		q.shut = why
	}
	if short == q.short {
		return
	}
	q.short = short
	if short {
		q.peers.log.Warn(why + ": nothing is fetched until more do")
	} else {
		q.peers.log.Info("a majority of the agents of this crawl answer again")
	}
}

// why says why nothing may be fetched; short says that too few answer.
func (q *quorum) why() (why string, short bool) {
	voters, heard := q.node.Voters(), q.node.Heard(time.Now())
	if len(voters) == 0 {
		return quorumBegins, false
	}
	silent := slices.DeleteFunc(slices.Clone(voters), func(line string) bool { return slices.Contains(heard, line) })
	if 2*len(silent) < len(voters) {
		return quorumSoon, false
	}
	names := strings.Join(ownership.AgentIDs(silent), ", ")
	return "fewer than a majority of the agents of this crawl answer: not " + names, true
}

// report is what the operator is told.
func (q *quorum) report(now time.Time) *cluster.QuorumReport {
	if q == nil {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return &cluster.QuorumReport{
		Majority: q.node.Holds(now) > 0, Grounded: q.grounded,
		Answer: ownership.AgentIDs(q.node.Heard(now)), Agreed: ownership.AgentIDs(q.node.Voters()),
	}
}
