package membership

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// agentsBySearch is the reference implementation of table.agents: it searches all living processes.
func agentsBySearch(t *table) (agents []Agent, suspected []string) {
	best := map[string]*process{t.self.agent.ID: &t.self}
	for _, p := range t.living {
		id := p.agent.ID
		if p.stage != member || id == t.self.agent.ID {
			continue
		}
		if old := best[id]; old == nil || p.wins(old) {
			best[id] = p
		}
	}
	for _, id := range slices.Sorted(maps.Keys(best)) {
		agents = append(agents, best[id].agent)
		if !best[id].unreachableSince.IsZero() {
			suspected = append(suspected, id)
		}
	}
	return agents, suspected
}

// Random processes are added, changed, removed, become unreachable, or change their ID. The index by ID must give the
// same result as a search.
func TestTable_indexAgreesWithASearch(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	randomMetadata := func(id int) metadata {
		return metadata{
			agent:       Agent{ID: fmt.Sprintf("agent-%d", id), Capacity: 1 + rng.IntN(3)},
			incarnation: uint64(rng.IntN(4)),
			stage:       []stage{joining, member, member, leaving}[rng.IntN(4)],
		}
	}
	table := newTable(process{
		name: "self", metadata: metadata{agent: Agent{ID: "agent-5", Capacity: 1}, stage: member},
	})
	now := time.Unix(1, 0)
	for step := range 20_000 {
		now = now.Add(time.Second)
		name := fmt.Sprintf("process-%d", rng.IntN(20))
		switch rng.IntN(4) {
		case 0:
			table.remove(name, now, time.Minute)
		case 1:
			if p := table.living[name]; p != nil {
				if p.pingUnanswered = rng.IntN(2) == 0; !p.pingUnanswered {
					table.setReachable(name)
				}
				table.setUnreachable(name, now)
			}
		default:
			id := rng.IntN(10)
			if p := table.living[name]; p != nil && rng.IntN(10) > 0 { // most keep their ID
				if _, err := fmt.Sscanf(p.agent.ID, "agent-%d", &id); err != nil {
					t.Fatal(err)
				}
			}
			table.put(name, randomMetadata(id), now)
		}
		agents, suspected := table.agents()
		wantAgents, wantSuspected := agentsBySearch(table)
		if !slices.Equal(agents, wantAgents) || !slices.Equal(suspected, wantSuspected) {
			t.Fatalf("step %d: got %v, suspected %v; want %v, suspected %v", step, agents, suspected, wantAgents, wantSuspected)
		}
		for name, p := range table.living {
			if table.suspicions[name] == p && p.unreachableSince.IsZero() {
				t.Fatalf("step %d: a suspicion of %s, which is reachable", step, name)
			}
		}
		for id := range 10 {
			want := false
			for _, p := range table.living {
				want = want || p.agent.ID == fmt.Sprintf("agent-%d", id) && p.stage == member
			}
			if got := table.hasMember(fmt.Sprintf("agent-%d", id)); got != want {
				t.Fatalf("step %d: hasMember(agent-%d) is %v", step, id, got)
			}
		}
	}
}

// A process with the gossip key can report any number of agents. The table holds maxProcesses of them. Known ones may
// still be updated.
func TestHostilePeer_P4_theTableIsBounded(t *testing.T) {
	table := newTable(process{
		name: "a@1", metadata: metadata{agent: Agent{ID: "a", Crawl: "x"}, incarnation: 1, stage: member},
	})
	invented := func(i, capacity int) metadata {
		return metadata{
			agent: Agent{ID: fmt.Sprintf("invented%d", i), Crawl: "x", Capacity: capacity}, incarnation: 1, stage: member,
		}
	}
	admitted := 0
	for i := range 3 * maxProcesses {
		name := fmt.Sprintf("invented%d@1", i)
		m := invented(i, 1)
		if table.admit(name, &m) == nil {
			table.put(name, m, time.Now())
			admitted++
		}
	}
	known := invented(0, 2)
	err := table.admit("invented0@1", &known)
	if err != nil || admitted != maxProcesses || len(table.living) != maxProcesses {
		t.Errorf("%d in the table, %d admitted, want %d; a known process: %v",
			len(table.living), admitted, maxProcesses, err)
	}
}

// Of more past members than the limit, the latest ones are kept.
func TestTable_forgetsTheOldestPastMembers(t *testing.T) {
	table := newTable(process{name: "self@0", metadata: metadata{agent: sampleAgent(), stage: member, incarnation: 1}})
	now := time.Now()
	var all []string
	for i := range maxProcesses + 100 {
		m := metadata{agent: sampleAgent(), incarnation: uint64(i) + 1, stage: member}
		m.agent.ID = fmt.Sprintf("m%s%c-%d", strings.Repeat("i", i%7), 'a'+i%26, i)
		all = append(all, m.agent.ID)
		table.put(m.agent.ID+"@1", m, now)
		now = now.Add(time.Second)
		table.remove(m.agent.ID+"@1", now, time.Minute)
	}
	if len(table.ended) > maxProcesses || len(table.past) > maxProcesses ||
		len(table.removals) > 61 || len(table.living) != 0 {
		t.Errorf("%d ended, %d past, %d removals, %d living",
			len(table.ended), len(table.past), len(table.removals), len(table.living))
	}
	for i, id := range all {
		if _, kept := table.ended[id]; kept != (i >= 100) {
			t.Fatalf("past member %d of %d is kept: %v", i, len(all), kept)
		}
	}
	byID := func(a, b PastMember) int { return strings.Compare(a.Agent.ID, b.Agent.ID) }
	if !slices.IsSortedFunc(table.pastMembers(), byID) {
		t.Error("past members are not sorted")
	}
}
