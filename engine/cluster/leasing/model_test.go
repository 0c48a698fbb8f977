package leasing

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

var histories = flag.Int("histories", 60, "number of random histories of a simulated cluster")

// model is a simulated cluster: agents that contact addresses under leases. The granter of all addresses changes, and
// requests and responses are delayed or lost. It runs step by step, with its own clock.
type model struct {
	t       *testing.T
	seed    uint64
	rng     *rand.Rand
	now     time.Time
	agents  []*modelAgent
	granter int       // index of the agent that grants the leases of all addresses
	changed time.Time // when it became the granter

	addressDelay time.Duration // between two exchanges with an address
	grace        time.Duration // during which a new granter grants nothing
	lateness     time.Duration // in which all agents learn of a new granter
	isAgreed     bool          // the granter changes by an agreed ownership view
	hostDelay    time.Duration // before the same agent contacts an address again
	overloadOdds int           // one of so many exchanges asks for a longer pause
	slowOdds     int           // one of so many exchanges takes long
	latency      time.Duration // longest usual delay of a request or response
	lossOdds     int           // one of so many requests is lost, and one is late

	addresses map[Addr]*contacts
	inTransit map[string][]*requestBatch // requests that have not arrived, by sender

	used      time.Duration // of addresses, with the delays
	exchanges int
	requests  int
	aborted   int
}

// modelAgent is an agent of the model. Maps with integer keys have the index of another agent as key.
type modelAgent struct {
	id           string
	own          Granter
	holder       Holder
	knownGranter int            // may be outdated
	lastBatch    map[string]int // number of the last batch of each agent
	batches      int
	queued       map[int][]Request
	pending      map[int]*requestBatch // sent, without a response
	ends         map[Addr]time.Time    // of exchanges in progress
	due          map[Addr]time.Time
}

// requestBatch is a batch of requests with its responses.
type requestBatch struct {
	to        int
	number    int
	requests  []Request
	sent      time.Time
	arrives   time.Time
	responses []Response
	returns   time.Time
	timeout   time.Time
}

// contacts is what an address has seen.
type contacts struct {
	agent     string // with an exchange in progress
	lastAgent string
	lastEnd   time.Time
	began     time.Time
}

func (m *model) fail(format string, args ...any) {
	m.t.Helper()
	m.t.Fatalf("history %d, %v: %s", m.seed, m.now.Sub(time.Unix(1e9, 0)), fmt.Sprintf(format, args...))
}

// awaits reports whether an agent has requested an address and has no response yet.
func (r *modelAgent) awaits(a Addr) bool {
	matches := func(q Request) bool { return q.Kind == Acquire && q.Addr == a }
	b := r.pending[r.knownGranter]
	return slices.ContainsFunc(r.queued[r.knownGranter], matches) || b != nil && slices.ContainsFunc(b.requests, matches)
}

// begin begins an exchange, and checks F1.
func (m *model) begin(r *modelAgent, a Addr) {
	c := m.addresses[a]
	if c == nil {
		c = &contacts{}
		m.addresses[a] = c
	}
	if c.agent != "" {
		m.fail("%s contacts address %d during an exchange of %s", r.id, a[15], c.agent)
	}
	if pause := m.now.Sub(c.lastEnd); c.lastAgent != "" && pause < m.addressDelay {
		m.fail("%s contacts address %d only %v after an exchange of %s", r.id, a[15], pause, c.lastAgent)
	}
	c.agent, c.began = r.id, m.now
	m.exchanges++
}

func (m *model) end(r *modelAgent, a Addr) {
	c := m.addresses[a]
	c.agent, c.lastAgent, c.lastEnd = "", r.id, m.now
	delete(r.ends, a)
	m.used += m.now.Sub(c.began) + m.addressDelay
	pause := m.addressDelay
	if m.rng.IntN(m.overloadOdds) == 0 {
		pause = max(pause, time.Duration(m.rng.Int64N(int64(20*m.addressDelay))))
	}
	r.due[a] = m.now.Add(pause)
	if r.holder.EndExchange(a, r.due[a], m.hostDelay <= m.addressDelay, m.now) {
		r.queued[r.knownGranter] = append(r.queued[r.knownGranter], Request{Release, a, pause})
	}
	r.due[a] = latest(r.due[a], m.now.Add(m.hostDelay))
}

// step runs one agent.
func (m *model) step(r *modelAgent, addresses int) {
	m.endDue(r)
	renewals, aborted := r.holder.CheckExpiry(func(string) time.Duration { return 0 }, m.now)
	m.aborted += aborted
	m.queueRenewals(r, renewals)
	a := Addr{15: byte(m.rng.IntN(addresses))}
	if _, busy := r.ends[a]; !busy && !m.now.Before(r.due[a]) {
		m.tryExchange(r, a)
	}
	m.endDue(r)
	for to := range m.agents {
		m.exchangeMessages(r, to)
	}
}

func (m *model) endDue(r *modelAgent) {
	for a := range r.ends {
		if !m.now.Before(r.ends[a]) {
			m.end(r, a)
		}
	}
}

// tryExchange begins an exchange if the agent has a lease, and requests one otherwise.
func (m *model) tryExchange(r *modelAgent, a Addr) {
	abort := func() {
		if _, busy := r.ends[a]; busy {
			r.ends[a] = m.now // the next step of this agent ends it first
		}
	}
	ok, retryAt := r.holder.BeginExchange(a, m.agents[r.knownGranter].id, context.CancelFunc(abort), m.now)
	switch {
	case ok:
		m.begin(r, a)
		took := time.Duration(m.rng.Int64N(int64(500 * time.Millisecond)))
		if m.rng.IntN(m.slowOdds) == 0 {
			took = time.Duration(m.rng.Int64N(int64(30 * time.Second)))
		}
		r.ends[a] = m.now.Add(took)
	case !m.now.Before(retryAt) && !r.awaits(a):
		r.queued[r.knownGranter] = append(r.queued[r.knownGranter], Request{Acquire, a, m.addressDelay})
	}
}

func (m *model) queueRenewals(r *modelAgent, renewals []Renewal) {
	for _, renewal := range renewals {
		to := slices.IndexFunc(m.agents, func(other *modelAgent) bool { return other.id == renewal.Granter })
		r.queued[to] = append(r.queued[to], Request{Renew, renewal.Addr, m.addressDelay})
	}
}

// learnGranter tells an agent which agent is the granter.
func (m *model) learnGranter(r *modelAgent) {
	r.knownGranter = m.granter
	granterOf := func(Addr) string { return m.agents[m.granter].id }
	if m.isAgreed {
		r.holder.FinishLeases(granterOf)
		return
	}
	m.queueRenewals(r, r.holder.ChangeGranters(granterOf, func(string) bool { return true }, m.now))
}

// exchangeMessages delivers requests and responses between an agent and a granter, and sends queued requests.
func (m *model) exchangeMessages(r *modelAgent, to int) {
	granter := m.agents[to]
	m.inTransit[r.id] = slices.DeleteFunc(m.inTransit[r.id], func(b *requestBatch) bool {
		if b.to != to || m.now.Before(b.arrives) {
			return false
		}
		if b.number > granter.lastBatch[r.id] { // otherwise a later batch has overtaken it
			granter.lastBatch[r.id] = b.number
			for _, q := range b.requests {
				b.responses = append(b.responses, m.respond(r, granter, q))
			}
			b.returns = m.now.Add(time.Duration(m.rng.Int64N(int64(m.latency))))
		}
		return true
	})
	if b := r.pending[to]; b != nil {
		switch {
		case b.responses != nil && !m.now.Before(b.returns):
			r.holder.HandleResponses(granter.id, b.requests, b.responses, b.sent, m.now)
			r.pending[to] = nil
		case !m.now.Before(b.timeout):
			r.holder.HandleFailure(granter.id, b.requests, m.now.Add(time.Second))
			r.pending[to] = nil
		}
	}
	if r.pending[to] == nil && len(r.queued[to]) > 0 {
		m.send(r, to)
	}
}

func (m *model) send(r *modelAgent, to int) {
	m.requests += len(r.queued[to])
	r.batches++
	b := &requestBatch{
		to: to, number: r.batches, requests: r.queued[to], sent: m.now, timeout: m.now.Add(time.Second),
	}
	took := time.Duration(m.rng.Int64N(int64(m.latency)))
	draw := m.rng.IntN(m.lossOdds)
	if draw == 0 {
		took *= 20 // it arrives after the timeout
	}
	if b.arrives = m.now.Add(took); draw != 1 {
		m.inTransit[r.id] = append(m.inTransit[r.id], b)
	}
	r.pending[to], r.queued[to] = b, nil
}

// respond is the response of an agent that may or may not know that it is the granter.
func (m *model) respond(r, granter *modelAgent, q Request) Response {
	notBefore := time.Time{}
	if granter == m.agents[m.granter] {
		notBefore = m.changed.Add(m.grace)
	}
	if q.Kind == Acquire && m.agents[granter.knownGranter] != granter {
		return Response{RetryIn: time.Second}
	}
	return granter.own.Handle(r.id, q, notBefore, m.now)
}

// run runs agents for a number of steps. It returns the share of the time for which an address was in use, with the
// delays.
func (m *model) run(agents, addresses, steps int, changes bool) float64 {
	m.now, m.addresses = time.Unix(1e9, 0), map[Addr]*contacts{}
	m.inTransit = map[string][]*requestBatch{}
	for i := range agents {
		m.agents = append(m.agents, &modelAgent{
			id: fmt.Sprint("agent-", i), lastBatch: map[string]int{}, queued: map[int][]Request{},
			pending: map[int]*requestBatch{}, ends: map[Addr]time.Time{}, due: map[Addr]time.Time{},
		})
	}
	for i := range steps {
		m.now = m.now.Add(time.Duration(m.rng.Int64N(int64(100*time.Millisecond) / int64(agents))))
		if changes && m.rng.IntN(4000) == 0 && m.now.Sub(m.changed) > m.grace {
			m.granter, m.changed = m.rng.IntN(agents), m.now
			m.learnGranter(m.agents[m.granter])
		}
		r := m.agents[i%agents]
		// The other agents learn of a change later.
		if r.knownGranter != m.granter &&
			(m.rng.IntN(int(m.lateness/(15*time.Millisecond))) == 0 || m.now.Sub(m.changed) > m.lateness) {
			m.learnGranter(r)
		}
		m.step(r, addresses)
	}
	return float64(m.used) / float64(addresses) / float64(m.now.Sub(time.Unix(1e9, 0)))
}

// Messages are lost and late, exchanges are aborted, and the granter changes.
func TestF1_allAgentsTogetherKeepTheDelay(t *testing.T) {
	least, sum := 1.0, 0.0
	for seed := range uint64(*histories) {
		rng := rand.New(rand.NewPCG(seed, 1))
		m := &model{
			t: t, seed: seed, rng: rng, addressDelay: time.Duration(20+rng.IntN(1000)) * time.Millisecond,
			grace: 10 * time.Second, lateness: 3 * time.Second, overloadOdds: 10, slowOdds: 20,
			latency: 200 * time.Millisecond, lossOdds: 40,
		}
		use := m.run(2+rng.IntN(4), 1+rng.IntN(4), 20_000, rng.IntN(2) == 0)
		least = min(least, use)
		sum += use
		if m.aborted > 5+m.exchanges/50 {
			t.Errorf("history %d: %d of %d exchanges were aborted", seed, m.aborted, m.exchanges)
		}
	}
	mean := sum / float64(*histories)
	t.Logf("addresses are in use for %.0f %% of the time, in the worst history for %.0f %%", 100*mean, 100*least)
	if mean < 0.45 || least < 0.2 {
		t.Error("addresses are in use for too little of the time")
	}
}

// An agent acts by an ownership view that is not the last one for at most 10 s, and nothing reaches it meanwhile. So a
// previous granter grants what is its own no more, and an exchange goes on that it does not know of.
func TestF1_theGranterChangesByAnAgreedView(t *testing.T) {
	for seed := range uint64(*histories) {
		rng := rand.New(rand.NewPCG(seed, 4))
		m := &model{
			t: t, seed: seed, rng: rng, addressDelay: time.Duration(20+rng.IntN(1000)) * time.Millisecond,
			grace: 22 * time.Second, lateness: 10 * time.Second, isAgreed: true, overloadOdds: 10, slowOdds: 5,
			latency: 200 * time.Millisecond, lossOdds: 40,
		}
		m.run(2+rng.IntN(4), 1+rng.IntN(4), 20_000, true)
		if m.exchanges < 20 {
			t.Errorf("history %d: %d exchanges", seed, m.exchanges)
		}
	}
}

const rarely = 1 << 30

// Each agent has one host at the address.
func TestModel_oneHostEach(t *testing.T) {
	for _, agents := range []int{1, 2, 3, 4, 8} {
		m := &model{
			t: t, rng: rand.New(rand.NewPCG(uint64(agents), 2)), addressDelay: delay, grace: 10 * time.Second,
			hostDelay: 4 * time.Second, overloadOdds: rarely, slowOdds: rarely, latency: 100 * time.Millisecond,
			lossOdds: rarely,
		}
		use := m.run(agents, 1, 40_000, false)
		best := min(1, float64(agents)*0.75/4.25)
		t.Logf("%d agents: the address is in use for %.0f %% of the time, of %.0f %%; %.1f requests per exchange",
			agents, 100*use, 100*best, float64(m.requests)/float64(m.exchanges))
		if use < 0.7*best {
			t.Errorf("%d agents: in use for %.2f, want at least 0.7 of %.2f", agents, use, best)
		}
	}
}

// Each agent has many hosts at the address.
func TestModel_manyHostsEach(t *testing.T) {
	for _, agents := range []int{1, 2, 4, 8} {
		m := &model{
			t: t, rng: rand.New(rand.NewPCG(uint64(agents), 3)), addressDelay: delay, grace: 10 * time.Second,
			overloadOdds: rarely, slowOdds: rarely, latency: 100 * time.Millisecond, lossOdds: rarely,
		}
		use := m.run(agents, 1, 40_000, false)
		perExchange := float64(m.requests) / float64(m.exchanges)
		t.Logf("%d agents: the address is in use for %.0f %% of the time; %.2f requests per exchange",
			agents, 100*use, perExchange)
		if use < 0.7 || perExchange > 3 {
			t.Errorf("%d agents: in use for %.2f, %.2f requests per exchange", agents, use, perExchange)
		}
	}
}
