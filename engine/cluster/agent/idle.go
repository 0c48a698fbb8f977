package agent

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"orbweaver/engine/cluster"
	"orbweaver/engine/cluster/message"
	"orbweaver/engine/cluster/ownership"
	"orbweaver/internal/notify"
)

// A crawl of several agents is over when all of them have nothing to do and no letter is on its way. Each finds that
// out by itself, by asking all others twice (Mattern, Algorithms for distributed termination detection, 1987: two
// waves). Every agent counts what it does; if it says both times that it is calm, and has counted nothing in between,
// it was calm all the while. The two looks at each agent have a moment in common, between the two waves; at that moment
// all were calm and no letter was waiting or under way, so that nobody can ever have something to do again.

// An agent that is calm asks the others ever less often, from the one period to the other.
const (
	calmPeriod     = time.Second
	calmPeriodMost = 8 * time.Second
)

// crawlIsOver is why nothing is fetched any more while some agents do not know it yet. What they were all waiting for
// was for later.
const crawlIsOver = "the crawl is over; not all agents know it yet"

// calmness is what an agent says of itself.
type calmness struct {
	Calm  bool   `json:"calm"`  // nothing to do, no letter waiting or under way
	Count int64  `json:"count"` // of all that it did
	View  uint64 `json:"view"`  // of whom it takes for the agents of this crawl
	All   uint64 `json:"all"`   // of these and the agents that it has banned: see company
	Over  bool   `json:"over"`  // it has found out that the crawl is over
	Busy  bool   `json:"busy"`  // and asks the others what they have, too
	First uint64 `json:"first"` // of whom it took for them when it began; 0 if it has not
	Turns int64  `json:"turns"` // how often it has taken others for them, that first time among them

	Stalled bool `json:"stalled"` // it has queued URLs, all of sites in trouble; or knows of an agent that has
}

// StepCount is how much this agent has done: it grows with every step that could give another agent something to do. An
// attempt that brings nothing does not: agents that stall go on asking sites in trouble.
func (p *agent) StepCount() int64 {
	n := &p.journal.Count
	return n.URLsFound.Load() + n.Finished.Load() + p.counters.steps.Load()
}

// agree tells the others, when they ask, that nothing is left for this agent to do, and was not at a count.
func (p *agent) agree(count int64) {
	p.idleAt.Store(count)
	p.wasIdle.Store(true)
	p.accounts.ForgiveAll()
	notify.Send(p.becameIdle)
}

// doubt tells them that something is left. That comes by time alone, too: what waited for longer than the crawl is
// willing to does not any more.
func (p *agent) doubt() { p.idleAt.Store(-1) }

// NegotiateEnd tells the other agents whether this one would end: they may have something for it yet.
func (p *agent) NegotiateEnd(wait time.Duration, reason string, busy bool, steps int64) (time.Duration, string) {
	if reason == "" {
		p.doubt()
		return wait, ""
	}
	if busy {
		p.doubt()
	} else {
		p.agree(steps)
	}
	return calmPeriod, ""
}

// now is how this agent is.
func (p *agent) now() calmness {
	count := p.StepCount()
	stalled := p.stalled.Load() || p.journal.Count.Finished.Load() != p.journal.Count.URLsAdmitted.Load()
	c := p.views.Load()
	return calmness{Stalled: stalled, Calm: p.idleAt.Load() == count && p.quiet(), Count: count, View: c.Hash(),
		All: ownership.Hash(p.company(c)), Over: p.over.Load(), Busy: p.isMarking.Load(),
		First: p.founded.Load(), Turns: p.viewChanges.Load()}
}

// quiet says that no letter waits or is under way, and nobody who is gone, or about to go, knew what the others are not
// yet told.
func (p *agent) quiet() bool {
	c := p.views.Load()
	if p.IsLeaving() || slices.ContainsFunc(p.network.Agents(),
		func(peer ownership.Agent) bool { return p.isGoing(peer.Instance()) }) {
		return false
	}
	for _, line := range p.outbox.Agents() {
		if all, _ := p.outbox.Backlog(line); all > 0 || !slices.Contains(c.Instances, line) {
			return false
		}
	}
	return true
}

// settle ends the crawl when it is over, and all agents know it; or returns with ctx.
func (p *agent) settle(ctx context.Context) error {
	if !p.awaitOver(ctx) {
		return nil
	}
	p.gate.Shut(crawlIsOver)
	p.isMarking.Store(true) // before anybody can think that it is done
	p.over.Store(true)
	p.log.Info("no agent has anything left to do, and no letter is on its way: the crawl is over", "stalled",
		p.stalled.Load())
	p.supersede(ctx)
	p.isMarking.Store(false)
	p.stay(ctx)
	if ctx.Err() == nil {
		close(p.ended)
	}
	return nil
}

// awaitOver returns when the crawl is over, which this agent finds out or is told, and says whether it is; else ctx has
// ended.
func (p *agent) awaitOver(ctx context.Context) bool {
	timer := time.NewTimer(calmPeriod)
	timer.Stop() // until it is needed
	defer timer.Stop()
	for period, count := calmPeriod, p.StepCount(); ; {
		select {
		case <-p.becameIdle:
		case <-p.endFound:
			return true
		case <-ctx.Done():
			return false
		}
		if p.allCalm(ctx) {
			return true
		}
		if now := p.StepCount(); now != count {
			period, count = calmPeriod, now
		}
		timer.Reset(period)
		period = min(2*period, calmPeriodMost)
		select {
		case <-timer.C:
		case <-p.endFound:
			return true
		case <-ctx.Done():
			return false
		}
		p.wake() // the distributor says whether it is still so
	}
}

// company is all agents of a circle, and those that this agent alone may have banned. They are there, and may have
// something to do.
func (p *agent) company(c *ownership.View) []ownership.Agent {
	banned := p.banned.Load()
	if banned == nil || len(*banned) == 0 {
		return c.Agents
	}
	all := slices.Clone(c.Agents)
	for _, peer := range *banned {
		if !slices.ContainsFunc(all, func(other ownership.Agent) bool { return other.ID == peer.ID }) {
			all = append(all, peer)
		}
	}
	slices.SortFunc(all, func(a, b ownership.Agent) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// allCalm asks all agents twice. If all agree on the view, an agent that is banned by all is not asked: it may say for
// ever that it has something to do. Else a ban may be known to some agents only. Then those that are banned are asked,
// too; an answer that the crawl is over counts for nothing from them.
func (p *agent) allCalm(ctx context.Context) bool {
	c := p.views.Load()
	differ := false // an agent has another view
	over := p.twoWaves(ctx, c, c.Agents, func(a *calmness) bool {
		differ = a.View != c.Hash()
		return !differ
	})
	if over || !differ {
		return over
	}
	all := p.company(c)
	hash := ownership.Hash(all)
	return p.twoWaves(ctx, c, all, func(a *calmness) bool { return a.All == hash })
}

// twoWaves asks some agents twice. They must agree on the members of the crawl.
func (p *agent) twoWaves(ctx context.Context, c *ownership.View, who []ownership.Agent,
	agrees func(*calmness) bool) bool {
	first, ok := p.wave(ctx, c, who, agrees)
	if !ok {
		return false
	}
	if first == nil {
		return true
	}
	second, ok := p.wave(ctx, c, who, agrees)
	if !ok {
		return false
	}
	for i := range second {
		if first[i] != second[i] {
			return false
		}
	}
	if p.views.Load() != c {
		return false
	}
	if slices.ContainsFunc(second, func(a calmness) bool { return a.Stalled }) {
		p.stalled.Store(true)
	}
	return true
}

// wave asks some agents once, this one too. No answers and ok say that one of them knows already that the crawl is
// over.
func (p *agent) wave(ctx context.Context, c *ownership.View, who []ownership.Agent,
	agrees func(*calmness) bool) (answers []calmness, ok bool) {
	for _, peer := range who {
		a := p.now()
		if peer.ID != p.network.Self() {
			a = calmness{}
			raw, err := p.network.Ask(ctx, peer.ID, []byte{message.QuestionStatus})
			if err != nil || json.Unmarshal(raw, &a) != nil {
				return nil, false
			}
		}
		if !agrees(&a) {
			return nil, false
		}
		if a.Over && c.Has(peer) {
			if a.Stalled {
				p.stalled.Store(true)
			}
			return nil, true
		}
		if !a.Calm && !a.Over {
			return nil, false
		}
		answers = append(answers, a)
	}
	return answers, true
}

// HandleQuestion implements PeerServer.
func (p *agent) HandleQuestion(ctx context.Context, from string, question []byte) ([]byte, error) {
	if err := p.checkQuestion(from, question); err != nil {
		return nil, err
	}
	answer, err := p.answer(ctx, from, question)
	if errors.Is(err, cluster.ErrMalformed) {
		return nil, p.accounts.NoteMalformed(from, err)
	}
	return answer, err
}

func (p *agent) answer(ctx context.Context, from string, question []byte) ([]byte, error) {
	switch {
	case len(question) == 1 && question[0] == message.QuestionStatus:
		return json.Marshal(p.now())
	case isOver(question):
		if p.accounts.BannedFor(from, time.Now()) > 0 { // it may know how this agent is, and is not believed
			return json.Marshal(p.now())
		}
		return p.answerOver(binary.BigEndian.Uint64(question[1:]), len(question) > 1+8)
	case len(question) > 0 && question[0] == message.QuestionFetched:
		return p.answerFetched(ctx, from, question[1:])
	case len(question) > 0 && question[0] == message.QuestionLease:
		return p.leases.HandleQuestion(from, question[1:])
	case len(question) > 0 && question[0] == message.QuestionConsensus && p.quorum != nil:
		return p.quorum.answer(ctx, from, question[1:])
	case len(question) > 0 && question[0] == message.QuestionLeave:
		return p.answerLeave(from, question[1:])
	case len(question) > 1 && question[0] == message.QuestionLeft:
		return p.answerLeft(string(question[1:]))
	}
	return nil, fmt.Errorf("%w: a question of %q that is not known: %.20q", cluster.ErrMalformed, from, question)
}
