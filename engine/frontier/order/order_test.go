package order

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"orbweaver/engine/state/queued"
)

// link notes links from pages of so many other domains to a domain.
func link(p Policy, to string, from int) {
	for i := range from {
		p.NoteLinks(fmt.Appendf(nil, "http://www.from%d.test/page", i), [][]byte{[]byte("http://" + to + "/")})
	}
}

// queue adds n URLs of a host to their queue, and returns it.
func queue(p Policy, host string, n int) (queue int) {
	for i := range n {
		queue = p.QueueOf(&queued.URL{Rest: fmt.Appendf(nil, "http://%s/%d", host, i)})
		p.Add(queue, 1)
	}
	return queue
}

// take takes n URLs and returns how many are of each queue.
func take(t *testing.T, p Policy, n int) map[int]int {
	t.Helper()
	taken := map[int]int{}
	for range n {
		queue, ok := p.Next()
		if !ok {
			t.Fatalf("nothing is left after %v", taken)
		}
		p.Took(queue)
		taken[queue]++
	}
	return taken
}

// All hosts of a domain have one queue, and links within the domain do not count.
func TestRanked_aFarmIsOneDomain(t *testing.T) {
	p := New(Options{Visit: Visit{Mode: ModeRanked}}, 1, nil)
	for i := range 50 {
		p.NoteLinks(fmt.Appendf(nil, "http://h%d.farm.test/", i), [][]byte{fmt.Appendf(nil, "http://h%d.farm.test/", i+1)})
	}
	link(p, "other.test", 1)
	farm, other := queue(p, "h0.farm.test", 100), queue(p, "other.test", 40)
	if queue(p, "h1.farm.test", 100) != farm || farm == other || !p.Owns(farm) {
		t.Error("the hosts of a domain have several queues")
	}
	if got := take(t, p, 50); got[farm] < 8 || got[farm] > 25 {
		t.Errorf("%d of 50 pages are of the farm, and %d of another domain", got[farm], got[other])
	}
	if got := take(t, p, 190); got[farm]+got[other] != 190 {
		t.Errorf("%v", got)
	}
	if queue, ok := p.Next(); ok {
		t.Errorf("queue %d is empty, and next", queue)
	}
}

// A domain has pages in proportion to the number of domains that link to it, to the power of 1.25, however often these
// do so. It is weighed again at each link and at each page.
func TestRanked_theShareIsThatOfTheSupporters(t *testing.T) {
	for _, n := range []int{3, 10, 30, 100} {
		p := New(Options{Visit: Visit{Mode: ModeRanked}}, 1, nil)
		link(p, "one.test", 1)
		good, one := queue(p, "good.test", 4000), queue(p, "one.test", 4000)
		link(p, "www.good.test", n) // after its URLs
		link(p, "good.test", n)
		got := take(t, p, 3000)
		ratio, want := float64(got[good])/float64(got[one]), math.Pow(float64(n), 1.25)
		if most := 128.0; want > most {
			want = most // one page in 64 comes from any of the two
		}
		if ratio < 0.6*want || ratio > 2*want {
			t.Errorf("%d domains link to it, and it has %.1f times as many pages", n, ratio)
		}
	}
}

// A new link counts at once for what is queued.
func TestRanked_aLinkCountsAtOnce(t *testing.T) {
	p := New(Options{Visit: Visit{Mode: ModeRanked}}, 1, nil)
	last := 0
	for i := range 40 {
		last = queue(p, fmt.Sprintf("d%d.test", i), 50)
	}
	take(t, p, 400)
	link(p, "d39.test", 100)
	if got := take(t, p, 10); got[last] < 9 {
		t.Errorf("%d of 10 pages are of the domain that has 100 links now", got[last])
	}
}

// Largest has the queues of the largest weights, and none without URLs.
func TestRanked_largest(t *testing.T) {
	p := New(Options{Visit: Visit{Mode: ModeRanked}}, 1, nil)
	want := map[int]float64{}
	for i := range 30 {
		name := fmt.Sprintf("d%d.test", i*7%30)
		link(p, name, i*7%30)
		if q := queue(p, name, 2); i*7%30 >= 20 {
			want[q] = p.Explain(&queued.URL{Rest: []byte("http://" + name + "/")}, false).Weight
		}
	}
	link(p, "empty.test", 40)
	largest := p.Largest(10)
	for i, place := range largest {
		if place.Weight != want[place.Queue] || place.Queued != 2 || i > 0 && place.Weight > largest[i-1].Weight {
			t.Errorf("number %d is %+v, want the weight %.2f", i, place, want[place.Queue])
		}
	}
	if len(largest) != 10 || len(p.Largest(100)) != 30 || New(Options{}, 1, nil).Largest(3) != nil {
		t.Errorf("%d and %d domains", len(largest), len(p.Largest(100)))
	}
}

// The domain that came first is first, of those that are alike.
func TestRanked_isBreadthFirstAmongEquals(t *testing.T) {
	p := New(Options{Visit: Visit{Mode: ModeRanked}}, 1, nil)
	var queues []int
	for i := range 40 {
		queues = append(queues, queue(p, fmt.Sprintf("d%d.test", i), 2))
	}
	for i, want := range queues {
		if got, ok := p.Next(); got != want || !ok {
			t.Fatalf("turn %d is that of queue %d, not of %d", i, got, want)
		}
		p.Took(want)
	}
}

// No domain starves: one URL in 64 comes from any of them.
func TestRanked_noDomainStarves(t *testing.T) {
	p := New(Options{Visit: Visit{Mode: ModeRanked}}, 1, nil)
	last := queue(p, "last.test", 200)
	take(t, p, 100)
	for i := range 5 * turnOfAny { // there is always a better one
		good := fmt.Sprintf("good%d.test", i)
		link(p, good, 30)
		queue(p, good, 1)
		if take(t, p, 1)[last] > 0 {
			return
		}
	}
	t.Error("it never has a turn")
}

// A domain that finds no place in the table shares the queue of another one, and no URL is lost.
func TestRanked_domainsBeyondTheBoundShareQueues(t *testing.T) {
	p := New(Options{Visit: Visit{Mode: ModeRanked}}, 1, nil)
	n, queues := tableSize+tableSize/4, map[int]int{}
	for i := range n {
		queues[queue(p, fmt.Sprintf("d%d.test", i), 1)]++
	}
	for queue, had := range take(t, p, n) {
		if queues[queue] != had {
			t.Fatalf("queue %d had %d URLs, and %d were taken", queue, queues[queue], had)
		}
	}
}

// The state of a checkpoint has what was learned. A later run has the same queues and the same turns. Breadth-first
// keeps the state for such a run.
func TestRanked_theStateIsWhatWasLearned(t *testing.T) {
	p := New(Options{Visit: Visit{Mode: ModeRanked}}, 7, nil)
	for i := range 2000 {
		link(p, fmt.Sprintf("d%d.test", i), i%7)
		queue(p, fmt.Sprintf("d%d.test", i), 3)
	}
	take(t, p, 1500)
	state := New(Options{}, 7, p.State()).State()
	again := New(Options{Visit: Visit{Mode: ModeRanked}}, 7, state)
	if !bytes.Equal(again.State(), p.State()) || len(state) == 0 {
		t.Errorf("%d and %d bytes", len(again.State()), len(state))
	}
	for i := range 2000 {
		url := &queued.URL{Rest: fmt.Appendf(nil, "http://d%d.test/", i)}
		if a, b := p.QueueOf(url), again.QueueOf(url); a != b {
			t.Fatalf("%s has queue %d, then %d", url.Rest, a, b)
		}
	}
}

// The table has a bound. A domain that many link to stays while a million others pass.
func TestRanked_theTableKeepsTheGreatest(t *testing.T) {
	p := New(Options{Visit: Visit{Mode: ModeRanked}}, 1, nil)
	link(p, "good.test", 30)
	before := p.QueueOf(&queued.URL{Rest: []byte("http://good.test/")})
	for i := range 3 * tableSize {
		p.QueueOf(&queued.URL{Rest: fmt.Appendf(nil, "http://www.d%d.test/", i)})
	}
	if got := p.QueueOf(&queued.URL{Rest: []byte("http://good.test/")}); got != before {
		t.Errorf("queue %d, it had %d", got, before)
	}
}

// All agents have one order, so it does not change in a running crawl of several.
func TestCurrent_ofAgentsDoesNotChange(t *testing.T) {
	for _, isShared := range []bool{false, true} {
		c := NewCurrent(Options{IsShared: isShared}, 1, nil)
		err := c.AllowsChange(Visit{Mode: ModeRanked})
		if refused := err != nil && strings.Contains(err.Error(), "resume each with --visit ranked"); refused != isShared {
			t.Errorf("shared %v: %v", isShared, err)
		}
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
		p := New(Options{Visit: Visit{Mode: ModeRanked}}, 1, state)
		if queue := queue(p, "a.test", 3); queue < Classes || queue >= Queues {
			t.Errorf("queue %d", queue)
		}
		take(t, p, 3)
	}
}

// A URL is explained by its domain, whose turn is behind those that have fewer pages for their weight.
func TestRanked_explainsTheTurn(t *testing.T) {
	p := New(Options{Visit: Visit{Mode: ModeRanked}, Budgets: Budgets{"late.test": 2 * weightUnit}}, 1, nil)
	link(p, "good.test", 20)
	queue(p, "www.good.test", 5)
	queueOfLate := queue(p, "late.test", 7)
	take(t, p, 3)
	explain := func(url string) *Place { return p.Explain(&queued.URL{Rest: []byte(url)}, false).Place }
	good, late := explain("http://a.good.test/x"), explain("http://late.test/")
	if good == nil || good.Domain != "good.test" || good.Weight < 20 || good.Budget || good.Pages != 3 ||
		good.Queued != 2 || good.Before != 0 {
		t.Errorf("%+v", good)
	}
	want := Place{Domain: "late.test", Weight: 2, Budget: true, Queued: 7, Before: 1, Queue: queueOfLate}
	if late == nil || *late != want {
		t.Errorf("%+v", late)
	}
	before := p.State()
	if got := explain("http://unknown.test/"); got != nil || !bytes.Equal(p.State(), before) {
		t.Errorf("%+v of an unknown domain, or it is known now", got)
	}
}
