package agent

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"orbweaver/engine/cluster/message"
	"orbweaver/engine/cluster/ownership"
	"orbweaver/engine/cluster/recovery"
	"orbweaver/engine/cluster/termination"
)

// A crawl begins when as many agents are there as it was told of (Config.Agents). Who comes to it later was told the
// same number, and so many may not be left: whoever replaces an agent that died with its disk would wait for ever, and
// the others for it. So it asks them whether they have begun.

// underWayPeriod is how often an agent that waits for others asks one of them, each in turn.
const underWayPeriod = time.Second

// underWay says that the crawl has begun, and that this agent may go by who is there although they are fewer than begin
// one. Whoever has begun and goes by the same agents counts on this one already. If one goes by others, it may be in
// the beginning, of which this agent is a part that sees them all a moment later; so that is waited for. When it does
// not come, the other expects somebody back of whom this agent knows nothing.
func (p *agent) underWay(ctx context.Context, now []ownership.Agent) bool {
	if begun, isKnown := p.quorum.HasBegun(); isKnown {
		return begun
	}
	others := slices.DeleteFunc(slices.Clone(now),
		func(other ownership.Agent) bool { return other.ID == p.network.Self() })
	if len(others) == 0 {
		return false
	}
	p.members.nextAsked++
	var a termination.Status // of a build that does not say whether it has begun: it has not
	answer, err := p.ask(ctx, others[p.members.nextAsked%len(others)].ID, []byte{message.QuestionStatus})
	if err != nil || json.Unmarshal(answer, &a) != nil || a.First == 0 {
		return false
	}
	if p.members.begunHeard.IsZero() {
		p.members.begunHeard = time.Now()
	}
	return a.View == ownership.Hash(now) || time.Since(p.members.begunHeard) >= peerPatience
}

// compare finds out whether all others began when this agent did, with the same, and have seen nobody come or go since:
// then nobody has pages of its hosts. As long as that is not known they are asked.
func (p *agent) compare(ctx context.Context, c *ownership.View) {
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
