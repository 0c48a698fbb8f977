package agent

import (
	"context"
	"slices"
	"strings"
	"time"

	"orbweaver/engine/cluster"
	"orbweaver/engine/cluster/leave"
	"orbweaver/engine/cluster/ownership"
	"orbweaver/engine/cluster/recovery"
)

// absence is that of an agent that has gone in good order.
type absence struct {
	since time.Time // when that was seen
	tries int       // how often others were asked whether it left for good
	back  bool      // it is expected back
}

// present are those who are there, and those of the circle who have gone in good order and are expected back; again is
// when to look again at all who are, 0 for nobody.
func (p *agent) present(at time.Time) (now []ownership.Agent, again time.Duration) {
	now = slices.Clone(p.network.Agents())
	gone := make(map[string]*absence)
	p.members.expected = nil
	for _, k := range p.network.KnownAgents() {
		line, counted := k.Instance(), p.views.Load().Has(k.Agent)
		isHere := slices.ContainsFunc(now, func(other ownership.Agent) bool { return other.ID == k.ID })
		if isHere || k.State != cluster.AgentLeft || p.leavingAgents.HasLeft(line) ||
			!counted && !p.leavingAgents.HasAnnounced(line) {
			continue
		}
		one := p.members.stopped[line]
		if one == nil {
			one = &absence{since: at}
		}
		gone[line] = one
		wait := p.parts.Options.AgentAway - at.Sub(one.since)
		if one.back = wait > 0; !one.back {
			continue
		}
		if again == 0 || wait < again {
			again = wait
		}
		if counted {
			now, p.members.expected = append(now, k.Agent), append(p.members.expected, line)
		}
	}
	p.members.stopped = gone
	now, again = p.withoutBanned(now, at, again)
	now = p.leavingAgents.Staying(now)
	slices.SortFunc(now, func(a, b ownership.Agent) int { return strings.Compare(a.ID, b.ID) })
	return now, again
}

// isStopped says of an agent that it has gone in good order and is expected back.
func (p *agent) isStopped(line string) bool {
	one := p.members.stopped[line]
	return one != nil && one.back
}

// withoutBanned leaves out who is banned here: its hosts go to others until the ban is over. again is when to look
// again, as in present.
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

// goBy makes some agents those that share the crawl.
func (p *agent) goBy(ctx context.Context, view []ownership.Agent) error {
	p.members.hasBegun.Store(true)
	c, err := p.meet(view)
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
	p.compare(ctx, c)
	p.arrive()
	return nil
}

// askAboutStopped asks other agents about those that went in order. It says whether one of these has left, and whether
// the others must be asked again.
func (p *agent) askAboutStopped(ctx context.Context) (news, again bool) {
	ctx, cancel := context.WithTimeout(ctx, recovery.Patience)
	defer cancel()
	for instance, stop := range p.members.stopped {
		if !stop.back || stop.tries >= leave.AskAboutTries {
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
