package agent

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"orbweaver/engine/cluster"
	"orbweaver/engine/cluster/leave"
	"orbweaver/engine/cluster/message"
	"orbweaver/engine/cluster/ownership"
	"orbweaver/engine/cluster/recovery"
	"orbweaver/engine/cluster/termination"
)

// stoppedAgent is an agent that stopped in order.
type stoppedAgent struct {
	since      time.Time // when this agent saw it
	tries      int       // how often other agents were asked whether it has left permanently
	isExpected bool      // it is expected back
}

// presentAgents are the agents that are there, and the members of the view that stopped in order and are expected back.
// again is after which time the answer may change by itself, 0 for never.
func (p *agent) presentAgents(at time.Time) (now []ownership.Agent, again time.Duration) {
	now = slices.Clone(p.network.Agents())
	gone := make(map[string]*stoppedAgent)
	p.members.expected = nil
	for _, k := range p.network.KnownAgents() {
		instance, counted := k.Instance(), p.views.Load().Has(k.Agent)
		isHere := slices.ContainsFunc(now, func(other ownership.Agent) bool { return other.ID == k.ID })
		if isHere || k.State != cluster.AgentLeft || p.leavingAgents.HasLeft(instance) ||
			!counted && !p.leavingAgents.HasAnnounced(instance) {
			continue
		}
		stop := p.members.stopped[instance]
		if stop == nil {
			stop = &stoppedAgent{since: at}
		}
		gone[instance] = stop
		wait := p.parts.Options.AgentAway - at.Sub(stop.since)
		if stop.isExpected = wait > 0; !stop.isExpected {
			continue
		}
		if again == 0 || wait < again {
			again = wait
		}
		if counted {
			now, p.members.expected = append(now, k.Agent), append(p.members.expected, instance)
		}
	}
	p.members.stopped = gone
	now, again = p.withoutBanned(now, at, again)
	now = p.leavingAgents.Staying(now)
	slices.SortFunc(now, func(a, b ownership.Agent) int { return strings.Compare(a.ID, b.ID) })
	return now, again
}

// isStopped says that an agent stopped in order and is expected back.
func (p *agent) isStopped(instance string) bool {
	stop := p.members.stopped[instance]
	return stop != nil && stop.isExpected
}

// withoutBanned leaves out the agents that this one has banned: their hosts go to others until the ban ends. again is
// as in presentAgents.
func (p *agent) withoutBanned(now []ownership.Agent, at time.Time, again time.Duration) ([]ownership.Agent,
	time.Duration) {
	var banned []ownership.Agent
	now = slices.DeleteFunc(now, func(peer ownership.Agent) bool {
		left := p.accounts.BannedFor(peer.ID, at)
		if left > 0 {
			banned = append(banned, peer)
		}
		if left > 0 && (again == 0 || left < again) {
			again = left
		}
		return left > 0
	})
	banned = slices.DeleteFunc(banned,
		func(peer ownership.Agent) bool { return p.leavingAgents.HasAnnounced(peer.Instance()) })
	p.members.banned.Store(&banned)
	return now, again
}

// bannedAgents are those that withoutBanned left out last.
func (p *agent) bannedAgents() []ownership.Agent {
	if banned := p.members.banned.Load(); banned != nil {
		return *banned
	}
	return nil
}

// adoptView makes some agents those that share the crawl.
func (p *agent) adoptView(ctx context.Context, view []ownership.Agent) error {
	p.members.hasBegun.Store(true)
	c, err := p.makeView(view)
	if err != nil {
		return err
	}
	if err := p.follow(ctx, c); err != nil {
		return err
	}
	if p.views.Load().Equal(c) { // else the disk is full, and the crawl stops
		p.quorum.ActByAgreed()
	}
	p.history.founded.CompareAndSwap(0, c.Hash())
	p.compareBeginnings(ctx, c)
	p.join()
	return nil
}

// askAboutStopped asks other agents about those that stopped in order. It says whether one of these has left, and
// whether the others must be asked again.
func (p *agent) askAboutStopped(ctx context.Context) (news, again bool) {
	ctx, cancel := context.WithTimeout(ctx, recovery.Patience)
	defer cancel()
	for instance, stop := range p.members.stopped {
		if !stop.isExpected || stop.tries >= leave.AskAboutTries {
			continue
		}
		hasLeft, isAnswered := p.leavingAgents.AskAbout(ctx, instance)
		switch {
		case hasLeft:
			news = true
		case isAnswered:
			stop.tries = leave.AskAboutTries
		default:
			stop.tries++
			again = again || stop.tries < leave.AskAboutTries
		}
	}
	return news, again
}

// A crawl begins when Options.Agents are there. An agent that comes later was given the same number, and fewer may be
// left: an agent that replaces a failed one would wait for ever, and the others for it. So it asks them whether they
// have begun.

// askPeriod is how often an agent that waits for others asks one of them, each in turn.
const askPeriod = time.Second

// hasBegun says that the crawl has begun, and that this agent may go by the agents that are there although they are
// fewer than begin one. An agent that has begun and has the same view counts on this one already. An agent with another
// view may be just beginning, together with agents that this one will see a moment later: that is waited for. After the
// wait, the other agent expects one back that this one does not know.
func (p *agent) hasBegun(ctx context.Context, now []ownership.Agent) bool {
	if begun, isKnown := p.quorum.HasBegun(); isKnown {
		return begun
	}
	others := slices.DeleteFunc(slices.Clone(now),
		func(other ownership.Agent) bool { return other.ID == p.network.Self() })
	if len(others) == 0 {
		return false
	}
	p.members.nextAsked++
	var a termination.Status
	answer, err := p.ask(ctx, others[p.members.nextAsked%len(others)].ID, []byte{message.QuestionStatus})
	if err != nil || json.Unmarshal(answer, &a) != nil || a.First == 0 {
		return false
	}
	if p.members.begunHeard.IsZero() {
		p.members.begunHeard = time.Now()
	}
	return a.View == ownership.Hash(now) || time.Since(p.members.begunHeard) >= restartPatience
}

// compareBeginnings finds out whether all others began together with this agent, and have seen no agent come or go
// since: then no other agent has pages of its hosts. Until that is known the others are asked.
func (p *agent) compareBeginnings(ctx context.Context, c *ownership.View) {
	if p.history.beganTogether.Load() || p.history.viewChanges.Load() > 1 {
		return
	}
	for i, peer := range c.Agents {
		var a termination.Status
		if i == c.Self {
			continue
		}
		raw, err := p.ask(ctx, peer.ID, []byte{message.QuestionStatus})
		if err != nil || json.Unmarshal(raw, &a) != nil {
			return
		}
		if a.HasEnded && p.end.HadNoPart() { // the other agent may be gone before it hears of this one
			p.end.EndLate()
		}
		if a.First != 0 && a.First != p.history.founded.Load() || a.ViewChanges > 1 {
			p.history.foundBegun.Store(true)
			return
		}
	}
	p.history.beganTogether.Store(true)
}

// ask puts a question to another agent.
func (p *agent) ask(ctx context.Context, to string, question []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, recovery.Patience)
	defer cancel()
	return p.network.Ask(ctx, to, question)
}
