package agent

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"orbweaver/engine/cluster"
	"orbweaver/engine/cluster/message"
	"orbweaver/engine/cluster/ownership"
	"orbweaver/internal/notify"
)

// lastCall is how long who has found out that the crawl is over is there at least: whoever comes just then is known by
// then, and told.
const lastCall = 3 * time.Second

// stay waits until all others know as well that the crawl is over: one that finds nobody would take the others for
// dead, and do their work once more. Who has something to ask is waited for, and for a while who does not see that it
// is over. Who cannot be reached, or has started again, is waited for as long as an agent that is expected back: it had
// nothing to do either when this one found out.
func (p *agent) stay(ctx context.Context) {
	tick := time.NewTicker(calmPeriod / 4)
	defer tick.Stop()
	began, told, aware := time.Now(), "", make(map[string]bool)
	for since := began; ; {
		who := p.unaware(ctx, aware)
		waits := (who.behind || len(who.silent) > 0) && time.Since(began) < p.restartWait
		switch {
		case who.busy, waits:
			since = time.Now()
		case time.Since(began) < lastCall:
		case !who.some, time.Since(since) >= peerPatience:
			return
		}
		if names := strings.Join(who.silent, ", "); waits && names != "" && names != told {
			told = names
			p.log.Info("the crawl is over; who cannot be reached is waited for, to be told", "agents", names, "at_most",
				(p.restartWait - time.Since(began)).Round(time.Second))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// unaware are the agents that may not know that the crawl is over.
type unaware struct {
	some   bool     // one answers, and goes by others than this agent
	busy   bool     // one has something to ask
	behind bool     // one has something to do, or is just about to know
	silent []string // who does not answer, nor has gone in good order, which nobody does who does not know
}

// unaware tells all others but those who are aware, and adds to these.
func (p *agent) unaware(ctx context.Context, aware map[string]bool) (who unaware) {
	ctx, cancel := context.WithTimeout(ctx, peerPatience)
	defer cancel()
	c, known := p.views.Load(), p.network.KnownAgents()
	question := binary.BigEndian.AppendUint64([]byte{message.QuestionEnded}, ownership.Hash(p.company(c)))
	if p.stalled.Load() {
		question = append(question, 1)
	}
	for _, peer := range p.everybody(c) {
		if peer.ID == p.network.Self() || aware[peer.ID] || slices.ContainsFunc(known,
			func(k cluster.KnownAgent) bool { return k.State == cluster.AgentLeft && k.Agent == peer }) {
			continue
		}
		var a calmness
		raw, err := p.network.Ask(ctx, peer.ID, question)
		switch {
		case err != nil || json.Unmarshal(raw, &a) != nil:
			who.silent = append(who.silent, peer.ID)
		case !a.Over && a.View == c.Hash():
			who.behind = true
		case !a.Over:
			who.some = true
		case a.Busy:
			who.busy = true
		default:
			aware[peer.ID] = true
		}
	}
	return who
}

// everybody are the agents of a circle, and who has come since.
func (p *agent) everybody(c *ownership.View) []ownership.Agent {
	all := slices.Clone(c.Agents)
	for _, peer := range p.network.Agents() {
		if !p.isGoing(peer.Instance()) && !slices.ContainsFunc(all,
			func(other ownership.Agent) bool { return other.ID == peer.ID }) {
			all = append(all, peer)
		}
	}
	return all
}

// answerOver takes another agent's word for it that the crawl is over.
func (p *agent) answerOver(view uint64, stalled bool) ([]byte, error) {
	now := p.now()
	switch {
	case p.wasIdle.Load() && (view == now.View || view == now.All || now.Calm && p.views.HadView(view)):
		if stalled {
			p.stalled.Store(true)
		}
		notify.Send(p.endFound)
	case p.untouched():
		p.late.Store(true)
		notify.Send(p.endFound)
	}
	return json.Marshal(now)
}

// untouched says that this agent has had no part in the crawl yet.
func (p *agent) untouched() bool {
	n := &p.journal.Count
	return !p.isResumed && !p.IsLeaving() && n.Attempts.Load() == 0 && n.RobotsFetched.Load() == 0
}
