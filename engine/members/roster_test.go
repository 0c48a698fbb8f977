package members

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// naiveAgents reads the whole book, as agents need not.
func naiveAgents(r *roster) (agents []Agent, doubted []string) {
	best := map[string]*process{r.self.agent.ID: &r.self}
	for _, p := range r.living {
		id := p.agent.ID
		if p.stage != member || id == r.self.agent.ID {
			continue
		}
		if old := best[id]; old == nil || p.beats(old) {
			best[id] = p
		}
	}
	for _, id := range slices.Sorted(maps.Keys(best)) {
		agents = append(agents, best[id].agent)
		if !best[id].doubted.IsZero() {
			doubted = append(doubted, id)
		}
	}
	return agents, doubted
}

// Whatever comes, goes, is doubted, says another thing of itself or takes another ID: the book that is kept by ID says what a search of all
// processes says.
func TestRosterAgreesWithASearch(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	cardOf := func(id int) card {
		return card{agent: Agent{ID: fmt.Sprintf("agent-%d", id), Capacity: 1 + rng.IntN(3)}, term: uint64(rng.IntN(4)), stage: []stage{candidate, member, member, leaving}[rng.IntN(4)]}
	}
	r := newRoster(process{name: "self", card: card{agent: Agent{ID: "agent-5", Capacity: 1}, stage: member}})
	now := time.Unix(1, 0)
	for step := range 20_000 {
		now = now.Add(time.Second)
		name := fmt.Sprintf("process-%d", rng.IntN(20))
		switch rng.IntN(4) {
		case 0:
			r.end(name, now, time.Minute)
		case 1:
			if p := r.living[name]; p != nil {
				p.doubted = now
			}
		default:
			id := rng.IntN(10)
			if p := r.living[name]; p != nil && rng.IntN(10) > 0 { // nearly all keep their ID
				if _, err := fmt.Sscanf(p.agent.ID, "agent-%d", &id); err != nil {
					t.Fatal(err)
				}
			}
			r.put(name, cardOf(id), now)
		}
		agents, doubted := r.agents()
		wantAgents, wantDoubted := naiveAgents(r)
		if !slices.Equal(agents, wantAgents) || !slices.Equal(doubted, wantDoubted) {
			t.Fatalf("step %d: %v doubted %v, want %v doubted %v", step, agents, doubted, wantAgents, wantDoubted)
		}
		for id := range 10 {
			there := false
			for _, p := range r.living {
				there = there || p.agent.ID == fmt.Sprintf("agent-%d", id) && p.stage == member
			}
			if got := r.isThere(fmt.Sprintf("agent-%d", id)); got != there {
				t.Fatalf("step %d: agent-%d is there: %v", step, id, got)
			}
		}
	}
}

// Whoever has the gossip key can tell of any number of agents. So many are remembered; those that are known may say more.
func TestHostilePeer_P4_theRosterIsBounded(t *testing.T) {
	r := newRoster(process{name: "a@1", card: card{agent: Agent{ID: "a", Crawl: "x"}, term: 1, stage: member}})
	taken := 0
	for i := range 3 * rosterMax {
		name := fmt.Sprintf("ghost%d@1", i)
		c := card{agent: Agent{ID: fmt.Sprintf("ghost%d", i), Crawl: "x", Capacity: 1}, term: 1, stage: member}
		if r.admits(name, &c) == nil {
			r.put(name, c, time.Now())
			taken++
		}
	}
	known := card{agent: Agent{ID: "ghost0", Crawl: "x", Capacity: 2}, term: 1, stage: member}
	if err := r.admits("ghost0@1", &known); err != nil || taken != rosterMax || len(r.living) != rosterMax {
		t.Errorf("%d are remembered, %d were taken; one that is known: %v", len(r.living), taken, err)
	}
}
