package order

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// link notes links from pages of so many other domains to a domain.
func link(p Policy, to string, from int) {
	for i := range from {
		p.NoteLinks(fmt.Appendf(nil, "http://www.from%d.test/page", i), [][]byte{[]byte("http://" + to + "/")})
	}
}

// classesOf queues n URLs of a host and returns how many are of each class.
func classesOf(p Policy, host string, n int) (counts [Classes]int) {
	for i := range n {
		counts[p.Class(fmt.Appendf(nil, "http://%s/%d", host, i))]++
	}
	return counts
}

// Without links from others a domain has one URL in class 0, and twice as many in each further class. All hosts of a
// domain have one budget, and links within the domain do not count.
func TestRanked_aDomainWithoutSupportHasLittle(t *testing.T) {
	p := New(Options{Visit: ModeRanked}, 1, nil)
	for i := range 50 {
		p.NoteLinks(fmt.Appendf(nil, "http://h%d.farm.test/", i), [][]byte{fmt.Appendf(nil, "http://h%d.farm.test/", i+1)})
	}
	got := classesOf(p, "h0.farm.test", 8)
	more := classesOf(p, "h1.farm.test", 8)
	if got[0] != 1 || got[1] != 1 || got[2] != 2 || got[3] != 4 || more[4] != 8 {
		t.Errorf("%v, %v", got, more)
	}
}

// A domain has as many URLs of class 0 as its weight says: 1 and 1 for each domain that links to it, however often it
// does so.
func TestRanked_theWeightIsTheNumberOfSupporters(t *testing.T) {
	for _, n := range []int{1, 3, 10, 30, 100} {
		p := New(Options{Visit: ModeRanked}, 1, nil)
		link(p, "www.good.test", n)
		link(p, "good.test", n)
		got := classesOf(p, "good.test", 300)[0]
		if off := math.Abs(float64(got-n-1)) / float64(n+1); off > 0.3 {
			t.Errorf("%d domains link to it, and it has %d URLs of class 0", n, got)
		}
	}
}

// The state of a checkpoint has what was learned. Breadth-first keeps it for a later run.
func TestRanked_theStateIsWhatWasLearned(t *testing.T) {
	p := New(Options{Visit: ModeRanked}, 7, nil)
	link(p, "good.test", 20)
	classesOf(p, "good.test", 5)
	state := New(Options{}, 7, p.State()).State()
	again := New(Options{Visit: ModeRanked}, 7, state)
	if !bytes.Equal(again.State(), p.State()) || len(state) == 0 {
		t.Errorf("%d and %d bytes", len(again.State()), len(state))
	}
	if a, b := classesOf(p, "good.test", 100), classesOf(again, "good.test", 100); a != b {
		t.Errorf("%v, %v", a, b)
	}
}

// The table has a bound. A domain that many link to stays while a million others pass.
func TestRanked_theTableKeepsTheGreatest(t *testing.T) {
	p := New(Options{Visit: ModeRanked}, 1, nil)
	link(p, "good.test", 30)
	before := classesOf(p, "good.test", 10)
	for i := range 3 * tableSize {
		p.Class(fmt.Appendf(nil, "http://www.d%d.test/", i))
	}
	if got := classesOf(p, "good.test", 10); got != before {
		t.Errorf("%v, it had %v", got, before)
	}
}

// Turn takes from the lowest class that has some. One in 64 comes from the next, so that no class starves.
func TestTurn_noClassStarves(t *testing.T) {
	var turn Turn
	var took [Classes]int
	left := [Classes]uint64{2: 1 << 30, 5: 3, 9: 1}
	for range 640 {
		class, ok := turn.Next(&left)
		if !ok {
			t.Fatal("it finds nothing")
		}
		took[class]++
		left[class]--
	}
	if took[5] != 3 || took[9] != 1 || took[2] != 636 {
		t.Errorf("%v", took)
	}
	if _, ok := turn.Next(new([Classes]uint64)); ok {
		t.Error("it takes from empty queues")
	}
}

// Whatever state there is on a disk, it is read without a fault, and cannot grow the table.
func TestRanked_readsAnyState(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		state := make([]byte, rng.IntN(5000))
		for i := range state {
			state[i] = byte(rng.Uint32())
		}
		p := New(Options{Visit: ModeRanked}, 1, state)
		if class := p.Class([]byte("http://a.test/")); class < 0 || class >= Classes {
			t.Errorf("class %d", class)
		}
	}
}
