package ring

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// The limits for 100 and 200 replicas are those of UbiCrawler's Figure 1: 6 % and 4.5 % on average. The limits for the
// default number of replicas are its promise.
func TestO3_balanceIsWithinTheLimitsOfThePaper(t *testing.T) {
	for _, c := range []struct {
		replicas    int
		mean, worst float64
	}{{100, 0.06, 0.25}, {200, 0.045, 0.18}, {DefaultReplicas, 0.01, 0.03}} {
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

// The balance that is measured with random hosts must also be close to the exact one.
func TestO3_sharesAreInProportionToCapacities(t *testing.T) {
	members := []Member{{"a", 1}, {"b", 2}, {"c", 4}}
	c, err := NewConsistent(members, DefaultReplicas)
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewRendezvous(members)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(15, 16))
	for name, a := range map[string]Assignment{"consistent": c, "rendezvous": r} {
		if b := MeasureBalance(a, 200_000, rng.Uint64); b.Worst > 0.05 {
			t.Errorf("%s: worst %.4f", name, b.Worst)
		}
	}
	if arcs, hosts := c.Balance(), MeasureBalance(c, 200_000, rng.Uint64); math.Abs(arcs.Worst-hosts.Worst) > 0.02 {
		t.Errorf("by arcs %.4f, by hosts %.4f", arcs.Worst, hosts.Worst)
	}
	single, err := NewConsistent(members[:1], 3)
	if err != nil {
		t.Fatal(err)
	}
	if b := single.Balance(); b.Worst != 0 {
		t.Errorf("a single member deviates by %v", b.Worst)
	}
}

// If one of 16 members is removed, only its own hosts move: 1/16. With "key modulo number of members", nearly all hosts
// would move.
func TestO2_removingAMemberMovesOnlyItsHosts(t *testing.T) {
	forEachKind(t, func(t *testing.T, make func([]Member) Assignment) {
		rng := rand.New(rand.NewPCG(17, 18))
		all := randomMembers(rng, 16, 1)
		before, after := make(all), make(all[:15])
		const hosts = 100_000
		moved, movedByModulo := 0, 0
		for range hosts {
			key := rng.Uint64()
			if ownerID(before, key) != ownerID(after, key) {
				moved++
			}
			if key%16 != key%15 {
				movedByModulo++
			}
		}
		share, modulo := float64(moved)/hosts, float64(movedByModulo)/hosts
		if share < 0.75/16 || share > 1.25/16 || modulo < 0.9 {
			t.Errorf("%.4f of the hosts moved, %.4f by modulo; want about 1/16, and more than 0.9", share, modulo)
		}
		t.Logf("%.4f of the hosts moved, %.4f by modulo", share, modulo)
	})
}
