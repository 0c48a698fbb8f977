package consensus

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"orbweaver/internal/notify"
)

const (
	leadPeriod = time.Second
	// joinTime is how long a wish to be added is remembered. It comes again each second.
	joinTime = 5 * time.Second
)

// leader is what this node does while it is the leader.
type leader struct {
	id     string
	views  *views
	log    *slog.Logger
	raft   *raft.Raft    // from Start on
	elects chan bool     // raft tells when this node becomes the leader, or is not any more
	govern chan struct{} // capacity 1
	prove  chan struct{} // capacity 1
	ended  chan struct{}

	mu          sync.Mutex
	wish        Wish                 // guarded by mu
	joins       map[string]time.Time // guarded by mu: when agents asked to be added, by raft ID
	leavingRuns map[string]uint64    // guarded by mu: processes that asked to be removed, by raft ID
	proofs      []chan proof         // guarded by mu
}

func (l *leader) setWish(w Wish) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wish = w
	notify.Send(l.govern)
}

func (l *leader) wishNow() Wish {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.wish
}

// run does what the leader must do, while this node is the leader, until ctx ends. Elected is called after a change.
func (l *leader) run(ctx context.Context, elected func()) {
	tick := time.NewTicker(leadPeriod)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-l.govern:
		case <-l.elects:
			elected()
		case <-ctx.Done():
			return
		}
		if l.raft.State() == raft.Leader {
			l.steer(time.Now())
		}
	}
}

// steer brings voters and view nearer to what this agent would have.
func (l *leader) steer(now time.Time) {
	l.mu.Lock()
	maps.DeleteFunc(l.joins, func(_ string, at time.Time) bool { return now.Sub(at) >= joinTime })
	wish, joins := l.wish, slices.Sorted(maps.Keys(l.joins))
	l.mu.Unlock()
	if wish.View == nil {
		return
	}
	voters, err := voterIDs(l.raft)
	if err != nil {
		return
	}
	for _, id := range joins {
		if slices.Contains(wish.Present, lineOf(id)) && !slices.Contains(voters, id) && !l.add(id) {
			return
		}
	}
	for _, id := range voters {
		// It is lost, or came back without its disk.
		again := slices.ContainsFunc(joins, func(other string) bool { return lineOf(other) == lineOf(id) && other != id })
		if lost := again || !slices.Contains(wish.Present, lineOf(id)); lost && id != l.id && !l.remove(id) {
			return
		}
	}
	if l.views.wants(wish) {
		l.done("agree on an ownership view", l.id, l.raft.Apply(append([]byte{entryView}, wish.View...), enqueueTime))
	}
}

func (l *leader) add(id string) bool {
	return l.done("add a voter", id, l.raft.AddVoter(raft.ServerID(id), raft.ServerAddress(id), 0, enqueueTime))
}

// remove removes a voter. It is done when the others have agreed.
func (l *leader) remove(id string) bool {
	if l.raft.State() != raft.Leader || id == l.id {
		return false
	}
	l.mu.Lock()
	delete(l.joins, id)
	l.mu.Unlock()
	return l.done("remove a voter", id, l.raft.RemoveServer(raft.ServerID(id), 0, enqueueTime))
}

// release removes a voter that asks for it. What this process of it has asked before may come later, and has no effect.
func (l *leader) release(id string, run uint64) bool {
	voters, err := voterIDs(l.raft)
	if err != nil || !slices.Contains(voters, id) {
		return err == nil && l.raft.State() == raft.Leader
	}
	l.mu.Lock()
	l.leavingRuns[id] = run
	l.mu.Unlock()
	return l.remove(id)
}

// done waits for a change, and logs it.
func (l *leader) done(what, id string, f raft.Future) bool {
	err := f.Error()
	name, _, _ := strings.Cut(id, "/")
	l.log.Debug("consensus: a change", "change", what, "agent", name, "error", err)
	return err == nil
}

// grant says whether a process of the agent of a raft ID has a lease, if it acts by a view. Only the leader grants.
func (l *leader) grant(ctx context.Context, id string, run, acts uint64) bool {
	voters, err := voterIDs(l.raft)
	if l.raft.State() != raft.Leader || err != nil {
		return false
	}
	waiting := make(chan proof, 1)
	l.mu.Lock()
	isVoter := slices.Contains(voters, id)
	if isVoter {
		l.proofs = append(l.proofs, waiting)
	} else if last, has := l.leavingRuns[id]; !has || last != run {
		l.joins[id] = time.Now()
		delete(l.leavingRuns, id)
	}
	l.mu.Unlock()
	if !isVoter {
		notify.Send(l.govern)
		return false
	}
	notify.Send(l.prove)
	select {
	case p := <-waiting:
		return p.ok && acts != 0 && p.view == acts
	case <-ctx.Done():
	case <-l.ended:
	}
	return false
}

// proof is what came of an entry of the log.
type proof struct {
	ok   bool
	view uint64 // the view that holds there
}

// appendProofs appends an entry for all agents that wait for one, until ctx ends.
func (l *leader) appendProofs(ctx context.Context) {
	pause := time.NewTimer(proofPause)
	defer pause.Stop()
	for {
		select {
		case <-l.prove:
		case <-ctx.Done():
			return
		}
		l.mu.Lock()
		waiting := l.proofs
		l.proofs = nil
		l.mu.Unlock()
		if len(waiting) == 0 {
			continue
		}
		p := proof{}
		f := l.raft.Apply([]byte{entryProof}, enqueueTime)
		if f.Error() == nil {
			p.view, p.ok = f.Response().(uint64)
		}
		for _, w := range waiting {
			w <- p
		}
		pause.Reset(proofPause)
		select {
		case <-pause.C:
		case <-ctx.Done():
			return
		}
	}
}

// voterIDs are the raft IDs of the voters.
func voterIDs(r *raft.Raft) (ids []string, err error) {
	f := r.GetConfiguration()
	if err := f.Error(); err != nil {
		return nil, err
	}
	for _, s := range f.Configuration().Servers {
		ids = append(ids, string(s.ID))
	}
	return ids, nil
}
