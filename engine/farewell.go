package engine

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// questionOver says that the crawl is over, by the hash of the agents that have all been calm at one moment, big endian in eight bytes; the answer is
// as of questionCalm. Whoever is one of them takes it as it is, if it has given its word. Perhaps it has something to do again since, that was
// to wait for longer than the crawl is willing to. One that has been killed meanwhile, and started again, has not: it may have lost what it
// does once more.
const questionOver byte = 'O'

// stay waits until all others know as well that the crawl is over: one that finds nobody would take the others for dead, and do their work
// once more. Who has something to ask is waited for, and for a while who does not see that it is over. Who cannot be reached, or has
// started again, is waited for as long as an agent that is expected back: it had nothing to do either when this one found out.
func (p *peers) stay(ctx context.Context) {
	tick := time.NewTicker(calmPeriod / 4)
	defer tick.Stop()
	began, told, aware := time.Now(), "", make(map[string]bool)
	for since := began; ; {
		who := p.unaware(ctx, aware)
		waits := (who.behind || len(who.silent) > 0) && time.Since(began) < p.away
		switch {
		case who.busy, waits:
			since = time.Now()
		case !who.some, time.Since(since) >= peerPatience:
			return
		}
		if names := strings.Join(who.silent, ", "); waits && names != "" && names != told {
			told = names
			p.say.Info("the crawl is over; who cannot be reached is waited for, to be told", "agents", names, "at_most", (p.away - time.Since(began)).Round(time.Second))
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
func (p *peers) unaware(ctx context.Context, aware map[string]bool) (who unaware) {
	ctx, cancel := context.WithTimeout(ctx, peerPatience)
	defer cancel()
	c, known := p.circle.Load(), p.seam.Known()
	question := binary.BigEndian.AppendUint64([]byte{questionOver}, c.hash())
	for i, peer := range c.peers {
		if i == c.self || aware[peer.ID] || slices.ContainsFunc(known, func(k KnownPeer) bool { return k.State == PeerLeft && k.Peer == peer }) {
			continue
		}
		var a calmness
		raw, err := p.seam.Ask(ctx, peer.ID, question)
		switch {
		case err != nil || json.Unmarshal(raw, &a) != nil:
			who.silent = append(who.silent, peer.ID)
		case !a.Over && a.View == c.hash():
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

// answerOver takes another agent's word for it that the crawl is over.
func (p *peers) answerOver(view uint64) ([]byte, error) {
	if p.word.Load() && view == p.circle.Load().hash() {
		poke(p.told)
	}
	return json.Marshal(p.now())
}
