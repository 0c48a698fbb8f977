package recovery

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/cluster/message"
	"orbweaver/engine/peering"
	"orbweaver/engine/peering/outbox"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/state/attempt"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/queued"
	"orbweaver/internal/outcome"
	"orbweaver/internal/urlx"
)

// PagesOptions are what Pages need of the agent that they serve.
type PagesOptions struct {
	Self     string // instance of this agent
	Fetched  *FetchedURLs
	HashSeed func() uint64
	Views    *ownership.Timeline
	InFlight *attempt.InFlight // pages between fetch and archive
	// Most is how many other agents are asked for a page; 0 for none.
	Most int
	// Changes is how often the view has changed since the agents were complete first.
	Changes func() int64
	// BeganTogether says that all agents began at the same time: no other agent can have owned a host before.
	BeganTogether func() bool
	// Leaving are the agents that leave and have not left: they own no hosts and have pages.
	Leaving func() []ownership.Agent
	// IsThere says that an agent is alive.
	IsThere func(instance string) bool
	// SpeaksFor says that this agent answers for the pages of an agent which left.
	SpeaksFor func(instance string) bool
	// Ask puts a question to another agent, with a time limit of Patience.
	Ask func(ctx context.Context, agent string, question []byte) ([]byte, error)
	// AwaitDurable waits until all that is in the archive is durable.
	AwaitDurable func(ctx context.Context) error
}

// Pages asks other agents whether they have pages before this agent fetches them, and answers the same question. As
// long as no more agents came than are asked, nothing is fetched twice. An agent that has always been the only possible
// owner of its hosts asks none. All methods are safe for concurrent use.
type Pages struct {
	Questions, Unanswered atomic.Int64 // of this run

	o              PagesOptions
	knownUnfetched UnfetchedURLs
	unanswering    Unanswering
}

// NewPages makes the page recovery of an agent.
func NewPages(o PagesOptions) *Pages { return &Pages{o: o} }

// Recover implements cluster.VisitGate: it says of each item of a Visit which agent has its page. It is nil if no agent
// can have one.
func (p *Pages) Recover(ctx context.Context, site []byte, items [][]byte) ([]cluster.Holder, error) {
	view, v := p.o.Changes(), p.o.Views.Load()
	if view < 2 && p.o.BeganTogether() {
		return nil, nil // the owner has always been the same
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
		if fps[i] = urlx.Fingerprint(p.o.HashSeed(), url); p.knownUnfetched.Has(view, fps[i]) {
			continue
		}
		var err error
		if holders[i].Instance, err = p.o.Fetched.HolderOf(p.o.HashSeed(), p.o.Self, url); err != nil {
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
	// An agent that acts by an earlier view, or has acted by one until lately, may be in an exchange for the page. Then
	// it has none now and has one later, so it is asked again.
	isFinal := p.o.Views.IsSettled(time.Now())
	haveAllAnswered, retryAt := true, time.Time{}
	for _, other := range p.agentsToAsk(v, site) {
		instance := other.Instance()
		answer, later := p.askFetched(ctx, other.ID, instance, question, len(asked))
		if answer == nil {
			haveAllAnswered = false
			if later.After(retryAt) {
				retryAt = later
			}
			continue
		}
		for k, i := range asked {
			if answer[k] == 1 && holders[i].Instance == "" {
				holders[i].Instance = instance
			}
		}
	}
	for _, i := range asked {
		switch {
		case holders[i].Instance != "":
		case haveAllAnswered:
			if isFinal {
				p.knownUnfetched.Add(view, fps[i])
			}
		default:
			holders[i].RetryAt = retryAt
		}
	}
	return holders, nil
}

// agentsToAsk are the agents that would own a site without this one, and those that leave.
func (p *Pages) agentsToAsk(v *ownership.View, site []byte) (agents []ownership.Agent) {
	if p.o.Most > 0 {
		agents = p.o.Leaving()
	}
	for _, n := range v.Successors(site, p.o.Most) {
		agents = append(agents, v.Agents[n])
	}
	return agents
}

// askFetched asks an agent which of n URLs it has fetched. Without an answer, retryAt is when to ask again; zero if the
// agent is not there, or has not answered for long, or will not say it.
func (p *Pages) askFetched(ctx context.Context, id, instance string, question []byte, n int) (
	answer []byte, retryAt time.Time,
) {
	retryAt, may := p.unanswering.MayAsk(instance, time.Now())
	if !may {
		return nil, retryAt
	}
	p.Questions.Add(1)
	answer, err := p.o.Ask(ctx, id, question)
	if err == nil && len(answer) == n {
		p.unanswering.Forget(instance)
		return answer, time.Time{}
	}
	p.Unanswered.Add(1)
	// such an agent would not say it later either
	if err == nil || errors.Is(err, peering.ErrMalformed) || errors.Is(err, peering.ErrBanned) ||
		!p.o.IsThere(instance) {
		p.unanswering.Forget(instance)
		return nil, time.Time{}
	}
	return nil, p.unanswering.NoteMissed(instance, time.Now())
}

// Answer says which URLs of message.QuestionFetched, which the question is without, this agent has fetched. An agent
// that hears yes does not fetch the page, so the answer waits until the page is durable. A page in flight is waited
// for: its host may have been handed over just when its Visit ended.
func (p *Pages) Answer(ctx context.Context, from string, question []byte) (answer []byte, err error) {
	var urls [][]byte
	hasSome, isAsked := false, make(map[string]struct{})
	for url, err := range outbox.Items(question) {
		if err != nil || len(urls) == QuestionMax {
			return nil, fmt.Errorf("%w: a question of %q", peering.ErrMalformed, from)
		}
		urls, isAsked[string(url)] = append(urls, url), struct{}{}
	}
	if err := p.o.InFlight.WaitFor(ctx, isAsked); err != nil {
		return nil, err
	}
	for _, url := range urls {
		has, err := p.Has(url)
		if err != nil {
			return nil, err
		}
		one := byte(0)
		if has {
			one, hasSome = 1, true
		}
		answer = append(answer, one)
	}
	if hasSome {
		err = p.o.AwaitDurable(ctx)
	}
	return answer, err
}

// Has says that this agent has an answer of a URL, or an agent for which it speaks.
func (p *Pages) Has(url []byte) (bool, error) {
	holder, err := p.o.Fetched.HolderOf(p.o.HashSeed(), p.o.Self, url)
	return holder != "" && (holder == p.o.Self || p.o.SpeaksFor(holder)), err
}

// NoteAnswered implements cluster.VisitGate.
func (p *Pages) NoteAnswered(o outcome.Outcome, url []byte) {
	if o.Class() == outcome.ClassAnswer {
		fp := urlx.Fingerprint(p.o.HashSeed(), url)
		p.o.Fetched.Add(fp)
		p.knownUnfetched.Drop(fp)
	}
}

// Unanswering are the agents that did not answer the last question whether they have a page, although they are members.
// A question or its answer is sometimes lost or late. The pages wait, since no other agent knows them, but not forever:
// the agent may be out of reach of this one only. The zero value is empty.
type Unanswering struct {
	mu         sync.Mutex
	byInstance map[string]silence // guarded by mu
}

// silence is that of one agent.
type silence struct {
	began   time.Time // when the first answer was missed
	retryAt time.Time // when it may be asked again
}

const (
	// Patience is how long a question waits for its answer.
	Patience = 3 * time.Second
	// retryWait is the time between a missed answer and the next question.
	retryWait = time.Second
	// waitMost is how long pages wait for an agent that answers nothing. It is much more than the 10 s in which the
	// death of an agent is detected: then it is no member, and nothing waits.
	waitMost = time.Minute
)

// MayAsk says whether an agent may be asked now. An agent that has not answered gets one question at a time, so that
// the fetch workers do not all wait for it. Then retryAt is when to try.
func (s *Unanswering) MayAsk(instance string, now time.Time) (retryAt time.Time, may bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, silent := s.byInstance[instance]
	switch {
	case !silent || now.Sub(one.began) >= waitMost:
		return time.Time{}, true
	case now.Before(one.retryAt):
		return one.retryAt, false
	}
	one.retryAt = now.Add(Patience)
	s.byInstance[instance] = one
	return time.Time{}, true
}

// NoteMissed notes that an agent has not answered. It returns when to ask again; zero if its pages wait no longer.
func (s *Unanswering) NoteMissed(instance string, now time.Time) (retryAt time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, silent := s.byInstance[instance]
	if !silent {
		one.began = now
	}
	one.retryAt = now.Add(retryWait)
	if s.byInstance == nil {
		s.byInstance = make(map[string]silence)
	}
	s.byInstance[instance] = one
	if now.Sub(one.began) >= waitMost {
		return time.Time{}
	}
	return one.retryAt
}

// Forget notes that an agent has answered, or is no member any more.
func (s *Unanswering) Forget(instance string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byInstance, instance)
}

// unfetchedMost is how many URLs are remembered as not fetched: some MiB.
const unfetchedMost = 1 << 16

// UnfetchedURLs are URLs that no other agent has, by all that were asked in the current view, after it had settled. A
// Visit asks for all the items that it brings and fetches one of them: the items that it returns need not be asked for
// again. The zero value is empty.
type UnfetchedURLs struct {
	mu   sync.Mutex
	view int64                     // guarded by mu: the number of the view that the answers are from
	fps  map[xxh3.Uint128]struct{} // guarded by mu
}

// Has says whether no agent had a URL in a view, by the number of the view.
func (c *UnfetchedURLs) Has(view int64, fp xxh3.Uint128) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.fps[fp]
	return ok && c.view == view
}

// Add adds a URL. If it is full, or the view is new, it forgets all others.
func (c *UnfetchedURLs) Add(view int64, fp xxh3.Uint128) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fps == nil || c.view != view || len(c.fps) == unfetchedMost {
		c.view, c.fps = view, make(map[xxh3.Uint128]struct{})
	}
	c.fps[fp] = struct{}{}
}

// Drop removes a URL that this agent has fetched.
func (c *UnfetchedURLs) Drop(fp xxh3.Uint128) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.fps, fp)
}
