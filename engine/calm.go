package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/zeebo/xxh3"
)

// A crawl of several agents is over when all of them have nothing to do and no letter is on its way. Each finds that out by itself, by
// asking all others twice (Mattern, Algorithms for distributed termination detection, 1987: two waves). Every agent counts what it does;
// if it says both times that it is calm, and has counted nothing in between, it was calm all the while. The two looks at each agent have
// a moment in common, between the two waves; at that moment all were calm and no letter was waiting or under way, so that nobody
// can ever have something to do again.

// An agent that is calm asks the others ever less often, from the one period to the other.
const (
	calmPeriod     = time.Second
	calmPeriodMost = 8 * time.Second
)

// questionCalm asks how an agent is; the answer is a calmness as JSON.
const questionCalm byte = 'C'

// calmness is what an agent says of itself.
type calmness struct {
	Calm  bool   `json:"calm"`  // nothing to do, no letter waiting or under way
	Count int64  `json:"count"` // of all that it did
	View  uint64 `json:"view"`  // of whom it takes for the agents of this crawl
	Over  bool   `json:"over"`  // it has found out that the crawl is over
	First uint64 `json:"first"` // of whom it took for them when it began; 0 if it has not
}

// count is how much this agent has done: it grows with every step that could give anybody something to do.
func (p *peers) count() int64 {
	n := &p.ledger.n
	return n.found.Load() + n.finished.Load() + n.attempts.Load() + n.robotsFetched.Load() + p.n.steps.Load()
}

// agree is asked by the distributor when nothing is left for this agent to do, and was not at a count, and says whether that is so for
// all others.
func (p *peers) agree(count int64) bool {
	if p.ended.Load() {
		return true
	}
	p.calmAt.Store(count)
	poke(p.calmed)
	return false
}

// now is how this agent is.
func (p *peers) now() calmness {
	count := p.count()
	return calmness{Calm: p.calmAt.Load() == count && p.quiet(), Count: count, View: p.circle.Load().hash(), Over: p.over.Load(), First: p.founded.Load()}
}

// quiet says that no letter waits or is under way, and nobody who is gone knew what the others are not yet told.
func (p *peers) quiet() bool {
	c := p.circle.Load()
	if p.leaves() {
		return false
	}
	for _, line := range p.box.Lines() {
		if all, _ := p.box.Waiting(line); all > 0 || !slices.Contains(c.lines, line) {
			return false
		}
	}
	return true
}

// settle finds out whether the crawl is over, until ctx ends.
func (p *peers) settle(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	<-timer.C
	for period, count := calmPeriod, p.count(); ; {
		select {
		case <-p.calmed:
		case <-ctx.Done():
			return nil
		}
		if p.allCalm(ctx) {
			p.over.Store(true)
			p.say.Info("no agent has anything left to do, and no letter is on its way: the crawl is over")
			p.stay(ctx)
			p.ended.Store(true)
			p.wake()
			return nil
		}
		if now := p.count(); now != count {
			period, count = calmPeriod, now
		}
		timer.Reset(period)
		period = min(2*period, calmPeriodMost)
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nil
		}
		p.wake() // the distributor says whether it is still so
	}
}

// stay waits until all others know as well that the crawl is over: one that starts again just then, and finds nobody, would take the
// others for dead, and do their work once more.
func (p *peers) stay(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, peerPatience)
	defer cancel()
	tick := time.NewTicker(calmPeriod / 4)
	defer tick.Stop()
	for !p.allKnow(ctx) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// allKnow says that every other agent knows that the crawl is over, or has gone since: in good order nobody goes who does not.
func (p *peers) allKnow(ctx context.Context) bool {
	c, here := p.circle.Load(), p.seam.Peers()
	for i, peer := range c.peers {
		var a calmness
		if i == c.self || !slices.Contains(here, peer) {
			continue
		}
		raw, err := p.seam.Ask(ctx, peer.ID, []byte{questionCalm})
		if err != nil || json.Unmarshal(raw, &a) != nil || !a.Over {
			return false
		}
	}
	return true
}

// allCalm asks all agents twice.
func (p *peers) allCalm(ctx context.Context) bool {
	c := p.circle.Load()
	first, ok := p.wave(ctx, c)
	if !ok {
		return false
	}
	if first == nil {
		return true
	}
	second, ok := p.wave(ctx, c)
	if !ok {
		return false
	}
	for i := range second {
		if first[i] != second[i] {
			return false
		}
	}
	return p.circle.Load() == c
}

// wave asks all agents once, this one too. No answers and ok say that one of them knows already that the crawl is over.
func (p *peers) wave(ctx context.Context, c *circle) (answers []calmness, ok bool) {
	for i, peer := range c.peers {
		a := p.now()
		if i != c.self {
			raw, err := p.seam.Ask(ctx, peer.ID, []byte{questionCalm})
			if err != nil || json.Unmarshal(raw, &a) != nil {
				return nil, false
			}
		}
		if a.View != c.hash() {
			return nil, false
		}
		if a.Over {
			return nil, true
		}
		if !a.Calm {
			return nil, false
		}
		answers = append(answers, a)
	}
	return answers, true
}

// hash tells the agents of one circle from those of another.
func (c *circle) hash() uint64 {
	var b []byte
	for _, p := range c.peers {
		b = fmt.Appendf(b, "%q %d %d\n", p.ID, p.Capacity, p.Store)
	}
	return xxh3.Hash(b)
}

// Answer implements PeerServer.
func (p *peers) Answer(_ context.Context, from string, question []byte) ([]byte, error) {
	switch {
	case len(question) == 1 && question[0] == questionCalm:
		return json.Marshal(p.now())
	case len(question) > 0 && question[0] == questionFetched:
		return p.answerFetched(from, question[1:])
	case len(question) > 0 && question[0] == questionLeave:
		return p.answerLeave(from, question[1:])
	}
	return nil, fmt.Errorf("%w: a question of %q that is not known: %.20q", ErrLetter, from, question)
}
