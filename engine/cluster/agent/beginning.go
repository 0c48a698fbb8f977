package agent

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"orbweaver/engine/cluster/message"
	"orbweaver/engine/cluster/termination"
	"orbweaver/engine/net/outage"
	"orbweaver/engine/peering/ownership"
)

// beginning decides when this agent has a part in the crawl.
//
// A crawl begins when Options.Agents are there. An agent that comes later was given the same number, and fewer may be
// left: an agent that replaces a failed one would wait for ever, and the others for it. So it asks them whether they
// have begun.
type beginning struct {
	network   peers
	history   *crawlHistory
	views     *ownership.Timeline
	quorum    quorumRule
	end       *termination.Detector
	gate      *outage.Gate
	agentsMin int  // Options.Agents
	isInvited bool // Options.Invited

	isComplete   bool          // the agents were complete, in this run
	joinedSignal chan struct{} // closed when the crawl goes on with this agent
	isJoined     bool          // it is closed
	nextAsked    int           // which agent is asked next whether the crawl has begun
	firstBegunAt time.Time     // when an agent said first that it has
}

// restartPatience is how long an agent that starts again waits for the agents that it knew, before it takes them for
// failed.
const restartPatience = 15 * time.Second

// askPeriod is how often an agent that waits for others asks one of them, each in turn.
const askPeriod = time.Second

// waitingForAgents is why a crawl does not begin.
const waitingForAgents = "waiting for the other agents"

// areComplete says that enough agents are there to go by them. In the beginning that is a number, unless others have
// begun before. When this agent starts again, it is all agents that it knew, or those that are there when it has waited
// long enough.
func (b *beginning) areComplete(ctx context.Context, now []ownership.Agent, patient bool) bool {
	if b.isComplete {
		return true
	}
	if b.history.hasBegun.Load() {
		b.isComplete = !patient || !slices.ContainsFunc(b.views.Load().Agents,
			func(a ownership.Agent) bool { return !slices.Contains(now, a) })
	} else {
		b.isComplete = len(now) >= b.agentsMin || b.hasBegun(ctx, now)
	}
	return b.isComplete
}

// hasBegun says that the crawl has begun, and that this agent may go by the agents that are there although they are
// fewer than begin one. An agent that has begun and has the same view counts on this one already. An agent with another
// view may be just beginning, together with agents that this one will see a moment later: that is waited for. After the
// wait, the other agent expects one back that this one does not know.
func (b *beginning) hasBegun(ctx context.Context, now []ownership.Agent) bool {
	if begun, isKnown := b.quorum.HasBegun(); isKnown {
		return begun
	}
	others := slices.DeleteFunc(slices.Clone(now), func(a ownership.Agent) bool { return a.ID == b.network.Self() })
	if len(others) == 0 {
		return false
	}
	b.nextAsked++
	var status termination.Status
	answer, err := b.network.askInTime(ctx, others[b.nextAsked%len(others)].ID, []byte{message.QuestionStatus})
	if err != nil || json.Unmarshal(answer, &status) != nil || status.First == 0 {
		return false
	}
	if b.firstBegunAt.IsZero() {
		b.firstBegunAt = time.Now()
	}
	return status.View == ownership.Hash(now) || time.Since(b.firstBegunAt) >= restartPatience
}

// compareFirstViews finds out whether all others began together with this agent, and have seen no agent come or go
// since: then no other agent has pages of its hosts. Until that is known the others are asked.
func (b *beginning) compareFirstViews(ctx context.Context, view *ownership.View) {
	if b.history.beganTogether.Load() || b.history.viewChanges.Load() > 1 {
		return
	}
	for i, a := range view.Agents {
		var status termination.Status
		if i == view.Self {
			continue
		}
		answer, err := b.network.askInTime(ctx, a.ID, []byte{message.QuestionStatus})
		if err != nil || json.Unmarshal(answer, &status) != nil {
			return
		}
		if status.HasEnded && b.end.HadNoPart() { // the other agent may be gone before it hears of this one
			b.end.EndLate()
		}
		if status.First != 0 && status.First != b.history.founded.Load() || status.ViewChanges > 1 {
			b.history.foundBegun.Store(true)
			return
		}
	}
	b.history.beganTogether.Store(true)
}

// join lets the crawl begin, or go on. Unless all agents began together just now, others may have contacted any host of
// this agent recently; so may agents that it was told of and has not found.
func (b *beginning) join() {
	if b.isJoined {
		return
	}
	b.isJoined = true
	until := time.Time{}
	isSole := len(b.views.Load().Agents) == 1
	if b.history.isResumed || !b.history.beganTogether.Load() || b.isInvited && isSole {
		until = time.Now().Add(b.views.Grace)
	}
	b.views.Arrive(until)
	b.gate.Open(waitingForAgents)
	close(b.joinedSignal)
}

// isSettled says that the other agents have nothing to say about the beginning or the end that this agent must ask for.
func (b *beginning) isSettled() bool {
	return b.isComplete && (b.history.beganTogether.Load() || !b.end.HadNoPart())
}
