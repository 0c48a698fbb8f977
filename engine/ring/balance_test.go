package ring

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// UbiCrawler's Figure 1: with 100 replicas the shares of equal agents differ from the mean by less than 6 % on average, with 200 by
// less than 4.5 %; with the default, by less than 1 %, and by less than 3 % at worst.
func TestBalance_isThatOfThePaperAndTheDefaultIsBetter(t *testing.T) {
	for _, c := range []struct {
		replicas    int
		mean, worst float64
	}{{100, 0.06, 0.25}, {200, 0.045, 0.18}, {ReplicasDefault, 0.01, 0.03}} {
		var mean, worst float64
		const sets = 10
		for set := range sets {
			var members []Member
			for i := range 16 {
				members = append(members, Member{fmt.Sprintf("agent-%d-%d", set, i), 1})
			}
			a, err := NewConsistent(members, c.replicas)
			if err != nil {
				t.Fatal(err)
			}
			b := a.Balance()
			mean, worst = mean+b.Mean/sets, max(worst, b.Worst)
		}
		if mean > c.mean || worst > c.worst {
			t.Errorf("%d replicas: mean %.4f, worst %.4f; want %.4f and %.4f", c.replicas, mean, worst, c.mean, c.worst)
		}
		t.Logf("%d replicas: mean %.4f, worst %.4f", c.replicas, mean, worst)
	}
}

// Shares follow capacities of 1, 2 and 4 within 5 %, by both assignments; and what is counted of hosts is what the arcs say.
func TestBalance_sharesFollowCapacities(t *testing.T) {
	members := []Member{{"a", 1}, {"b", 2}, {"c", 4}}
	c, err := NewConsistent(members, ReplicasDefault)
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewRendezvous(members)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(15, 16))
	for name, a := range map[string]Assignment{"consistent": c, "rendezvous": r} {
		if b := Measure(a, 200_000, rng.Uint64); b.Worst > 0.05 {
			t.Errorf("%s: worst %.4f", name, b.Worst)
		}
	}
	if arcs, hosts := c.Balance(), Measure(c, 200_000, rng.Uint64); math.Abs(arcs.Worst-hosts.Worst) > 0.02 {
		t.Errorf("by arcs %.4f, by hosts %.4f", arcs.Worst, hosts.Worst)
	}
	alone, err := NewConsistent(members[:1], 3)
	if err != nil {
		t.Fatal(err)
	}
	if b := alone.Balance(); b.Worst != 0 {
		t.Errorf("one member alone is off by %v", b.Worst)
	}
}

// When one of sixteen leaves, one host in sixteen moves: its own. By the rest of a division by the number of agents nearly all would. The
// same when it comes back.
func TestBalance_whoLeavesGivesItsShareAndModuloShufflesAll(t *testing.T) {
	each(t, func(t *testing.T, make func([]Member) Assignment) {
		rng := rand.New(rand.NewPCG(17, 18))
		all := agents(rng, 16, 1)
		was, is := make(all), make(all[:15])
		const hosts = 100_000
		moved, shuffled := 0, 0
		for range hosts {
			key := rng.Uint64()
			if owner(was, key) != owner(is, key) {
				moved++
			}
			if key%16 != key%15 {
				shuffled++
			}
		}
		ours, modulo := float64(moved)/hosts, float64(shuffled)/hosts
		if ours < 0.75/16 || ours > 1.25/16 || modulo < 0.9 {
			t.Errorf("%.4f of the hosts moved, %.4f by modulo; want a sixteenth, and most", ours, modulo)
		}
		t.Logf("%.4f of the hosts moved, %.4f by modulo", ours, modulo)
	})
}
