package lease

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

var histories = flag.Int("histories", 60, "how many random histories of a town of agents are lived through")

// town is some agents that ask some addresses, by the book of keepers that change, over a post that loses and delays. It goes step by
// step, in a time of its own.
type town struct {
	t      *testing.T
	seed   uint64
	rng    *rand.Rand
	now    time.Time
	agents []*resident
	keeper int // of all addresses
	since  time.Time
	gap    time.Duration
	grace  time.Duration
	delay  time.Duration // of the agent's hosts at an address: it does not ask it again before
	hurt   int           // one exchange of so many is too much for the address
	slow   int           // one exchange of so many takes long
	way    time.Duration // the longest that a question or an answer is under way, mostly
	lost   int           // one question of so many is lost, and one is late
	seen   map[Addr]*visits
	post   map[string][]*batch // that have not arrived yet, by their senders
	used   time.Duration       // of addresses, with the delays
	begun  int
	wishes int
	cut    int
}

// resident is an agent of the town.
type resident struct {
	id     string
	book   Keeper
	holder Holder
	knows  int            // whom it takes for the keeper
	last   map[string]int // the last batch of each agent
	sent   int
	next   map[int][]Wish // that were not sent yet, by agents
	away   map[int]*batch // those that are under way
	ends   map[Addr]time.Time
	due    map[Addr]time.Time
}

// batch is wishes under way.
type batch struct {
	to      int
	number  int
	wishes  []Wish
	asked   time.Time
	arrives time.Time
	answers []Answer
	back    time.Time
	gives   time.Time
}

// visits is what an address has seen.
type visits struct {
	who   string // with an exchange under way
	last  string
	end   time.Time
	began time.Time
}

func (w *town) fail(format string, args ...any) {
	w.t.Helper()
	w.t.Fatalf("%v: %s", w.now.Sub(time.Unix(1e9, 0)), fmt.Sprintf(format, args...))
}

// waits says that an agent has wished for an address and has no answer yet.
func (r *resident) waits(a Addr) bool {
	is := func(w Wish) bool { return w.Kind == Want && w.Addr == a }
	b := r.away[r.knows]
	return slices.ContainsFunc(r.next[r.knows], is) || b != nil && slices.ContainsFunc(b.wishes, is)
}

// begin opens an exchange at an address, which sees whether it may be.
func (w *town) begin(r *resident, a Addr) {
	v := w.seen[a]
	if v == nil {
		v = &visits{}
		w.seen[a] = v
	}
	if v.who != "" {
		w.fail("history %d: %s asks %v while %s does", w.seed, r.id, a[15], v.who)
	}
	if wait := w.now.Sub(v.end); v.last != "" && wait < w.gap {
		w.fail("%s asks %v, %v after %s did", r.id, a[15], wait, v.last)
	}
	v.who, v.began = r.id, w.now
	w.begun++
}

func (w *town) end(r *resident, a Addr) {
	v := w.seen[a]
	v.who, v.last, v.end = "", r.id, w.now
	delete(r.ends, a)
	w.used += w.now.Sub(v.began) + w.gap
	rest := w.gap
	if w.rng.IntN(w.hurt) == 0 {
		rest = time.Duration(w.rng.Int64N(int64(20 * w.gap))) // somebody was too much for it
		rest = max(rest, w.gap)
	}
	r.due[a] = w.now.Add(rest)
	tell := r.holder.End(a, r.due[a], w.delay <= w.gap, w.now)
	if tell {
		r.next[r.knows] = append(r.next[r.knows], Wish{Free, a, rest})
	}
	r.due[a] = latest(r.due[a], w.now.Add(w.delay))
}

// step lets one agent do what it has to.
func (w *town) step(r *resident, addresses int) {
	for a := range r.ends {
		if !w.now.Before(r.ends[a]) {
			w.end(r, a)
		}
	}
	prolong, cut := r.holder.Ending(w.now)
	w.cut += cut
	w.prolong(r, prolong)
	a := Addr{15: byte(w.rng.IntN(addresses))}
	if _, busy := r.ends[a]; !busy && !w.now.Before(r.due[a]) {
		abort := func() {
			if _, busy := r.ends[a]; busy {
				r.ends[a] = w.now // its end comes before anything else of this agent
			}
		}
		ok, again := r.holder.Begin(a, w.agents[r.knows].id, context.CancelFunc(abort), w.now)
		switch {
		case ok:
			w.begin(r, a)
			took := time.Duration(w.rng.Int64N(int64(500 * time.Millisecond)))
			if w.rng.IntN(w.slow) == 0 {
				took = time.Duration(w.rng.Int64N(int64(30 * time.Second)))
			}
			r.ends[a] = w.now.Add(took)
		case !w.now.Before(again) && !r.waits(a):
			r.next[r.knows] = append(r.next[r.knows], Wish{Want, a, w.gap})
		}
	}
	for a := range r.ends {
		if !w.now.Before(r.ends[a]) {
			w.end(r, a)
		}
	}
	for k := range w.agents {
		w.carry(r, k)
	}
}

func (w *town) prolong(r *resident, all []Prolong) {
	for _, p := range all {
		k := slices.IndexFunc(w.agents, func(other *resident) bool { return other.id == p.Keeper })
		r.next[k] = append(r.next[k], Wish{Hold, p.Addr, w.gap})
	}
}

// learn lets an agent know who keeps the book.
func (w *town) learn(r *resident) {
	r.knows = w.keeper
	w.prolong(r, r.holder.Moved(func(Addr) string { return w.agents[w.keeper].id }, func(string) bool { return true }, w.now))
}

// carry moves what an agent has wished of another, and what it was answered.
func (w *town) carry(r *resident, to int) {
	k := w.agents[to]
	w.post[r.id] = slices.DeleteFunc(w.post[r.id], func(b *batch) bool {
		if b.to != to || w.now.Before(b.arrives) {
			return false
		}
		if b.number > k.last[r.id] { // else a later one came before it
			k.last[r.id] = b.number
			for _, wish := range b.wishes {
				b.answers = append(b.answers, w.answer(r, k, wish))
			}
			b.back = w.now.Add(time.Duration(w.rng.Int64N(int64(w.way))))
		}
		return true
	})
	if b := r.away[to]; b != nil {
		switch {
		case b.answers != nil && !w.now.Before(b.back):
			r.holder.Take(k.id, b.wishes, b.answers, b.asked, w.now)
			r.away[to] = nil
		case !w.now.Before(b.gives):
			r.holder.Fail(k.id, b.wishes, w.now.Add(time.Second))
			r.away[to] = nil
		}
	}
	if r.away[to] == nil && len(r.next[to]) > 0 {
		w.wishes += len(r.next[to])
		r.sent++
		b := &batch{to: to, number: r.sent, wishes: r.next[to], asked: w.now, gives: w.now.Add(time.Second)}
		took := time.Duration(w.rng.Int64N(int64(w.way)))
		lot := w.rng.IntN(w.lost)
		if lot == 0 {
			took *= 20 // it arrives when nobody waits for the answer any more
		}
		if b.arrives = w.now.Add(took); lot != 1 {
			w.post[r.id] = append(w.post[r.id], b)
		}
		r.away[to], r.next[to] = b, nil
	}
}

// answer is what an agent says who takes itself for the keeper, or for none.
func (w *town) answer(r, k *resident, wish Wish) Answer {
	grace := time.Time{}
	if k == w.agents[w.keeper] {
		grace = w.since.Add(w.grace)
	}
	if wish.Kind == Want && w.agents[k.knows] != k {
		return Answer{For: time.Second}
	}
	return k.book.Ask(r.id, wish, grace, w.now)
}

// live lets a town of so many agents and addresses live for a while, step by step, and says for what part of it an address was in use,
// delays included.
func (w *town) live(agents, addresses, steps int, changes bool) float64 {
	w.now, w.seen, w.post = time.Unix(1e9, 0), map[Addr]*visits{}, map[string][]*batch{}
	for i := range agents {
		w.agents = append(w.agents, &resident{id: fmt.Sprint("agent-", i), last: map[string]int{}, next: map[int][]Wish{}, away: map[int]*batch{}, ends: map[Addr]time.Time{}, due: map[Addr]time.Time{}})
	}
	for i := range steps {
		w.now = w.now.Add(time.Duration(w.rng.Int64N(int64(100*time.Millisecond) / int64(agents))))
		if changes && w.rng.IntN(4000) == 0 && w.now.Sub(w.since) > w.grace {
			w.keeper, w.since = w.rng.IntN(agents), w.now
			w.learn(w.agents[w.keeper])
		}
		r := w.agents[i%agents]
		if r.knows != w.keeper && (w.rng.IntN(200) == 0 || w.now.Sub(w.since) > 3*time.Second) { // it learns of it a little later
			w.learn(r)
		}
		w.step(r, addresses)
	}
	return float64(w.used) / float64(addresses) / float64(w.now.Sub(time.Unix(1e9, 0)))
}

// Whatever is lost, late or aborted, and whoever keeps the book: no two agents ask an address at a time, or without the delay between.
func TestTheDelayOfAnAddressIsKeptByAllAgentsTogether(t *testing.T) {
	least, sum := 1.0, 0.0
	for seed := range uint64(*histories) {
		rng := rand.New(rand.NewPCG(seed, 1))
		w := &town{t: t, seed: seed, rng: rng, gap: time.Duration(20+rng.IntN(1000)) * time.Millisecond, grace: 10 * time.Second, hurt: 10, slow: 20, way: 200 * time.Millisecond, lost: 40}
		part := w.live(2+rng.IntN(4), 1+rng.IntN(4), 20_000, rng.IntN(2) == 0)
		least = min(least, part)
		sum += part
		if w.cut > 5+w.begun/50 {
			t.Errorf("history %d: of %d exchanges %d were aborted", seed, w.begun, w.cut)
		}
	}
	mean := sum / float64(*histories)
	t.Logf("addresses are in use for %.0f %% of the time, %.0f %% in the worst history", 100*mean, 100*least)
	if mean < 0.45 || least < 0.2 {
		t.Error("nobody gets anywhere")
	}
}

// Agents with one host each at an address ask in turns, and are not held up by each other for as long as there is time enough for all.
func TestHostsOfOneAddressAreNotHeldUp(t *testing.T) {
	for _, agents := range []int{1, 2, 3, 4, 8} {
		w := &town{t: t, rng: rand.New(rand.NewPCG(uint64(agents), 2)), gap: 500 * time.Millisecond, grace: 10 * time.Second, delay: 4 * time.Second, hurt: 1 << 30, slow: 1 << 30, way: 100 * time.Millisecond, lost: 1 << 30}
		part := w.live(agents, 1, 40_000, false)
		best := min(1, float64(agents)*0.75/4.25)
		t.Logf("%d agents: the address is in use for %.0f %% of the time, of %.0f %%; %.1f wishes an exchange", agents, 100*part, 100*best, float64(w.wishes)/float64(w.begun))
		if part < 0.7*best {
			t.Error("they hold each other up")
		}
	}
}

// Agents with many hosts each at an address use it in turns, for some exchanges at a time.
func TestCrowdsOfOneAddressTakeTurns(t *testing.T) {
	for _, agents := range []int{1, 2, 4, 8} {
		w := &town{t: t, rng: rand.New(rand.NewPCG(uint64(agents), 3)), gap: 500 * time.Millisecond, grace: 10 * time.Second, hurt: 1 << 30, slow: 1 << 30, way: 100 * time.Millisecond, lost: 1 << 30}
		part := w.live(agents, 1, 40_000, false)
		t.Logf("%d agents: the address is in use for %.0f %% of the time; %.2f wishes an exchange", agents, 100*part, float64(w.wishes)/float64(w.begun))
		if part < 0.7 || float64(w.wishes) > 3*float64(w.begun) {
			t.Error("they hold each other up")
		}
	}
}
