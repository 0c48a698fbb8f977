package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/cluster"
	"orbweaver/engine/cluster/message"
	"orbweaver/engine/cluster/outbox"
	"orbweaver/engine/cluster/ownership"
	"orbweaver/engine/cluster/recovery"
	"orbweaver/engine/cluster/termination"
	"orbweaver/engine/outcome"
	"orbweaver/engine/queued"
	"orbweaver/engine/urlx"
)

// Page recovery (Boldi, Codenotti, Santini, Vigna: UbiCrawler, 2004, section 6.1.1). Before it asks a site for pages,
// an agent asks the agents who would have been responsible had it not been there whether they have these pages. As long
// as no more agents came than are asked, nothing is fetched twice. An agent that has always been the only one who could
// be responsible asks nobody.

// Recover tells of each item that a Visit brought who has fetched it. It is nil if nobody can have.
func (p *agent) Recover(ctx context.Context, site []byte, items [][]byte) ([]cluster.Holder, error) {
	turn, c := p.viewChanges.Load(), p.views.Load()
	if turn < 2 && p.beganTogether.Load() {
		return nil, nil // whoever is responsible has always been
	}
	holders := make([]cluster.Holder, len(items))
	fps := make([]xxh3.Uint128, len(items))
	question := []byte{message.QuestionFetched}
	var asked []int
	for i, raw := range items {
		it := queued.MustDecode(raw)
		if it.RobotsOf != nil {
			continue
		}
		url := append(append([]byte(nil), site...), it.Rest...)
		if fps[i] = urlx.Fingerprint(p.frontier.HashSeed, url); p.cleared.Has(turn, fps[i]) {
			continue
		}
		var err error
		if holders[i].Instance, err = p.fetched.HolderOf(p.frontier.HashSeed, p.instance, url); err != nil {
			return nil, err
		}
		if holders[i].Instance != "" {
			continue
		}
		question = outbox.AppendItem(question, url)
		asked = append(asked, i)
	}
	if len(asked) == 0 {
		return holders, nil
	}
	var may []ownership.Agent
	if p.recover > 0 {
		may = p.parting()
	}
	for _, n := range c.Successors(site, p.recover) {
		may = append(may, c.Agents[n])
	}
	all, again := true, time.Time{}
	for _, other := range may {
		line := other.Instance()
		answer, later := p.askFetched(ctx, other.ID, line, question, len(asked))
		if answer == nil {
			all = false
			if later.After(again) {
				again = later
			}
			continue
		}
		for k, i := range asked {
			if answer[k] == 1 && holders[i].Instance == "" {
				holders[i].Instance = line
			}
		}
	}
	for _, i := range asked {
		switch {
		case holders[i].Instance != "":
		case all:
			p.cleared.Add(turn, fps[i])
		default:
			holders[i].RetryAt = again
		}
	}
	return holders, nil
}

// askFetched asks an agent which of n URLs it has fetched. No answer comes with when to ask again; zero if that agent
// is not there, or has not answered for long, or will not say it.
func (p *agent) askFetched(ctx context.Context, id, line string, question []byte, n int) (answer []byte,
	again time.Time) {
	again, may := p.unanswering.MayAsk(line, time.Now())
	if !may {
		return nil, again
	}
	p.counters.asked.Add(1)
	answer, err := p.ask(ctx, id, question)
	if err == nil && len(answer) == n {
		p.unanswering.Forget(line)
		return answer, time.Time{}
	}
	p.counters.unanswered.Add(1)
	// it would not say it later either
	if err == nil || errors.Is(err, cluster.ErrMalformed) || errors.Is(err, cluster.ErrBanned) || !p.isThere(line) {
		p.unanswering.Forget(line)
		return nil, time.Time{}
	}
	return nil, p.unanswering.NoteMissed(line, time.Now())
}

// compare finds out whether all others began when this agent did, with the same, and have seen nobody come or go since:
// then nobody has pages of its hosts. As long as that is not known they are asked.
func (p *agent) compare(ctx context.Context, c *ownership.View) {
	if p.beganTogether.Load() || p.viewChanges.Load() > 1 {
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
		if a.First != 0 && a.First != p.founded.Load() || a.ViewChanges > 1 {
			p.foundBegun.Store(true)
			return
		}
	}
	p.beganTogether.Store(true)
}

// ask puts a question to another agent.
func (p *agent) ask(ctx context.Context, to string, question []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, recovery.Patience)
	defer cancel()
	return p.network.Ask(ctx, to, question)
}

// answerFetched says which URLs of a question this agent has fetched. Whoever hears yes does not fetch, so it is said
// when the page is durable: a power cut may not take it any more. A page that is here and not yet stored is waited for:
// its host may have been given away in the moment in which its Visit ended.
func (p *agent) answerFetched(ctx context.Context, from string, question []byte) (answer []byte, err error) {
	var all [][]byte
	some, urls := false, make(map[string]struct{})
	for url, err := range outbox.Items(question) {
		if err != nil || len(all) == recovery.QuestionMax {
			return nil, fmt.Errorf("%w: a question of %q", cluster.ErrMalformed, from)
		}
		all, urls[string(url)] = append(all, url), struct{}{}
	}
	if err := p.inFlight.WaitFor(ctx, urls); err != nil {
		return nil, err
	}
	for _, url := range all {
		have, err := p.has(url)
		if err != nil {
			return nil, err
		}
		one := byte(0)
		if have {
			one, some = 1, true
		}
		answer = append(answer, one)
	}
	if some {
		err = p.journal.AwaitAll(ctx)
	}
	return answer, err
}

// NoteAnswered notes that a URL has an answer.
func (p *agent) NoteAnswered(o outcome.Outcome, url []byte) {
	if o.Class() == outcome.ClassAnswer {
		fp := urlx.Fingerprint(p.frontier.HashSeed, url)
		p.fetched.Add(fp)
		p.cleared.Drop(fp)
	}
}
