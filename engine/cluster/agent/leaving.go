package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"orbweaver/engine/cluster"
	"orbweaver/engine/cluster/message"
	"orbweaver/engine/cluster/outbox"
	"orbweaver/engine/cluster/ownership"
	"orbweaver/engine/seen"
	"orbweaver/internal/notify"
)

// An agent leaves for good in five steps. It stops asking the web; it gives the others the list of what it has answers
// of; it tells them that it is going, and all of them, it too, go by the circle without it from then on; it gives away
// all that is queued here and all that it ever told; and when nothing waits for it any more anywhere it says that it is
// gone, so that they forget what they told it. If it dies in between, it has died as any agent does, and they tell
// others what they told it. If it starts again, it goes on with leaving.

// The stages of leaving.
const (
	leaveMay   byte = iota // it would like to; nothing changes
	leaveGoing             // nobody counts on it any more; what was sent to it comes back to its new owner
	leaveGone              // it has nothing left
)

// leavers are the agents that leave for good.
type leavers struct {
	mu    sync.Mutex
	going map[string]byte // guarded by mu: lines of others, and their stage
	left  map[string]bool // guarded by mu: lines of those who are not there any more, in this run
	stage byte            // guarded by mu: leaveGoing when nobody counts on this agent any more
	self  bool            // guarded by mu: this agent leaves
	news  chan struct{}   // capacity 1: somebody is going
}

// IsLeaving says that this agent leaves for good.
func (p *agent) IsLeaving() bool {
	p.leavers.mu.Lock()
	defer p.leavers.mu.Unlock()
	return p.leavers.self
}

// resume goes on where the last run ended. An agent that may have told others that it goes does so still: some of them
// do not count on it any more, and those that have not heard of it must.
func (l *leavers) resume(cut *cluster.Checkpoint, self string) {
	if l.self = cut.IsLeaving; l.self && (cut.AnnouncedLeave || !slices.Contains(ownership.Instances(cut.Agents), self)) {
		l.stage = leaveGoing
	}
	for _, line := range cut.LeavingAgents {
		l.going[line] = leaveGoing
	}
	for _, line := range cut.DoneAgents {
		l.going[line] = leaveGone
	}
}

// Leave makes this agent one that leaves.
func (p *agent) Leave() {
	p.leavers.mu.Lock()
	defer p.leavers.mu.Unlock()
	p.leavers.self = true
}

// setGoing says that nobody counts on this agent from now on.
func (p *agent) setGoing() {
	p.leavers.mu.Lock()
	p.leavers.stage = leaveGoing
	p.leavers.mu.Unlock()
	notify.Send(p.leavers.news)
}

// isGoing says that an agent is there, and nobody counts on it.
func (p *agent) isGoing(line string) bool {
	p.leavers.mu.Lock()
	defer p.leavers.mu.Unlock()
	return p.leavers.going[line] != 0 || p.leavers.stage == leaveGoing && line == p.instance
}

// isThere says that an agent is there, with the data that it had.
func (p *agent) isThere(line string) bool {
	return slices.ContainsFunc(p.network.Agents(), func(peer ownership.Agent) bool { return peer.Instance() == line })
}

// parting are those who are leaving, and have not left. Nobody counts on them, but who has come meanwhile has no list
// of what they have, and those who have one do not speak for them yet.
func (p *agent) parting() (all []ownership.Agent) {
	p.leavers.mu.Lock()
	going := maps.Clone(p.leavers.going)
	p.leavers.mu.Unlock()
	if len(going) == 0 {
		return nil
	}
	for _, peer := range p.network.Agents() {
		if going[peer.Instance()] == leaveGoing {
			all = append(all, peer)
		}
	}
	return all
}

// staying are those who are there and do not leave. If none is left this agent stays, until one comes.
func (p *agent) staying(now []ownership.Agent) []ownership.Agent {
	here := make(map[string]bool)
	for _, peer := range now {
		here[peer.Instance()] = true
	}
	p.leavers.mu.Lock()
	maps.DeleteFunc(p.leavers.left, func(line string, _ bool) bool { return here[line] })
	for line, stage := range p.leavers.going {
		if stage == leaveGone && !here[line] {
			delete(p.leavers.going, line)
			p.leavers.left[line] = true
		}
	}
	p.leavers.mu.Unlock()
	left := slices.DeleteFunc(slices.Clone(now), func(peer ownership.Agent) bool { return p.isGoing(peer.Instance()) })
	if len(left) == 0 {
		return slices.DeleteFunc(slices.Clone(now),
			func(peer ownership.Agent) bool { return p.hasLeft(peer.Instance()) })
	}
	return left
}

// Instances of those who have come so far with leaving, for the manifest.
func (l *leavers) lines(stage byte) (lines []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line, s := range l.going {
		if s >= stage {
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	return lines
}

// answerLeave notes how far another agent is.
func (p *agent) answerLeave(from string, question []byte) ([]byte, error) {
	if len(question) < 2 || question[0] > leaveGone {
		return nil, fmt.Errorf("%w: a question of %q about leaving", cluster.ErrMalformed, from)
	}
	stage, line := question[0], string(question[1:])
	if id, _, ok := strings.Cut(line, "/"); !ok || id != from || !ownership.IsInstance(line) {
		return nil, fmt.Errorf("%w: %q says that %.200q leaves", cluster.ErrMalformed, from, line)
	}
	if line != p.lineNow(from) { // membership will tell of it, and it asks again
		return nil, fmt.Errorf("%w: it says that %s leaves", errStranger, line)
	}
	if stage == leaveMay && p.end.HasEnded() {
		return nil, cluster.ErrEnding
	}
	if stage == leaveMay {
		return []byte{message.LeaveDone}, nil
	}
	if p.leavers.goes(from, line, stage) {
		p.log.Info("an agent leaves for good: its hosts are given to the others", "agent", from)
		notify.Send(p.leavers.news)
	}
	if stage == leaveGoing {
		return []byte{message.LeaveDone}, nil
	}
	return p.forget(line)
}

// goes notes how far an agent is, and says whether it was not known to leave. There is one entry for each name: what
// the agent did with other data before does not count any more.
func (l *leavers) goes(id, line string, stage byte) (news bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.going[line]
	maps.DeleteFunc(l.going, func(other string, _ byte) bool { return other != line && ownership.AgentID(other) == id })
	l.going[line] = max(was, stage)
	return was == 0
}

// forget forgets what an agent was told that has left, unless something still waits for it.
func (p *agent) forget(line string) ([]byte, error) {
	if all, _ := p.outbox.Backlog(line); all > 0 || slices.Contains(p.views.Load().Instances, line) {
		return []byte{message.LeaveWait}, nil
	}
	p.dismiss(line)
	p.journal.Steps.Begin()
	defer p.journal.Steps.End()
	if err := p.outbox.RemoveIdle(line); err != nil {
		return nil, err
	}
	p.wake()
	return []byte{message.LeaveDone}, nil
}

// tellLeave tells all others how far this agent is, and says whether all have done what that asks of them. Who is not
// there any more has. Who leaves as well hears it, too: it may have something for this one under way, which nobody else
// knows of by then.
func (p *agent) tellLeave(ctx context.Context, stage byte) (all bool, err error) {
	question := append([]byte{message.QuestionLeave, stage}, p.instance...)
	all = true
	for _, peer := range p.network.Agents() {
		if peer.ID == p.network.Self() || stage == leaveMay && p.isGoing(peer.Instance()) {
			continue
		}
		answer, aerr := p.ask(ctx, peer.ID, question)
		switch {
		case errors.Is(aerr, cluster.ErrMalformed):
			return false, fmt.Errorf("%w: %s", cluster.ErrLeaveUnknown, peer.ID)
		case aerr != nil && stage == leaveMay:
			return false, fmt.Errorf("engine: agent %s does not answer: %w", peer.ID, aerr)
		case aerr != nil, len(answer) != 1 || answer[0] != message.LeaveDone:
			all = false
		}
	}
	return all, ctx.Err()
}

// MayLeave says why this agent cannot leave for good now.
func (p *agent) MayLeave(ctx context.Context) error {
	others := slices.DeleteFunc(p.staying(p.network.Agents()),
		func(peer ownership.Agent) bool { return peer.Instance() == p.instance })
	if len(others) == 0 {
		return cluster.ErrNoAgentStays
	}
	_, err := p.tellLeave(ctx, leaveMay)
	return err
}

// giveFetched puts a part of the list of what this agent has answers of into the outboxes of some others, and says
// where to go on, and whether that was the last.
func (p *agent) giveFetched(to []string, from int64) (next int64, over bool, err error) {
	p.journal.Steps.Begin()
	defer p.journal.Steps.End()
	lists := make(map[cluster.FetchedList][]seen.Digest)
	own := cluster.FetchedList{Seed: p.frontier.HashSeed, Instance: p.instance}
	next, over, err = p.fetched.Walk(own, from, inheritedAtOnce, func(of cluster.FetchedList, key seen.Digest) {
		lists[of] = append(lists[of], key)
	})
	if err != nil {
		return from, false, err
	}
	c := p.views.Load()
	for of, keys := range lists {
		item := message.AppendFetched(nil, of, keys)
		for _, line := range to {
			if c.HasInstance(line) {
				p.outbox.PutBacklog(line, item)
			}
		}
	}
	return next, over, nil
}

// toldAtOnce is how many items that an agent was told go on in one step of the cut.
const toldAtOnce = 1024

// giveTold gives a part of what this agent told others to somebody else each, and says whether there was nothing.
func (p *agent) giveTold() (over bool, err error) {
	p.journal.Steps.Begin()
	defer p.journal.Steps.End()
	c := p.views.Load()
	if len(c.Agents) < 2 || c.Self >= 0 {
		return true, nil // nobody else is there
	}
	over = true
	for i, line := range c.Instances {
		keeper := c.Instances[(i+1)%len(c.Instances)]
		var items [][]byte
		if _, err := p.outbox.DrainRetained(line, toldAtOnce,
			func(item []byte) { items = append(items, slices.Clone(item)) }); err != nil {
			return false, err
		}
		head := message.AppendRetained(nil, line)
		letter := slices.Clone(head)
		for _, item := range items {
			if letter = outbox.AppendItem(letter, item); len(letter) > toldBytes {
				p.outbox.PutBacklog(keeper, letter)
				letter = append(letter[:0], head...)
			}
		}
		if len(letter) > len(head) {
			p.outbox.PutBacklog(keeper, letter)
		}
		over = over && len(items) == 0
	}
	return over, nil
}

// waits says that something is in an outbox for those who are there.
func (p *agent) waits() bool {
	for _, line := range p.outbox.Agents() {
		if all, _ := p.outbox.Backlog(line); all > 0 {
			return true
		}
	}
	return false
}

// leavePeriod is the time between two looks at how far the leaving is, if nothing happens in between.
const leavePeriod = 250 * time.Millisecond
