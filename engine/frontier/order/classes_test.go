package order

import (
	"bytes"
	"fmt"
	"testing"

	"orbweaver/engine/state/queued"
)

// Each value is read and written, and a bad one names the choices.
func TestVisit_readsWhatItWrites(t *testing.T) {
	for _, text := range []string{"breadth-first", "ranked", "per-host:0", "per-host:8", "per-host:1000", "bottom-up",
		"focused"} {
		var v Visit
		if err := v.UnmarshalText([]byte(text)); err != nil || v.String() != text {
			t.Errorf("%s becomes %s, %v", text, v, err)
		}
	}
	for text, says := range map[string]string{
		"":               `"" is no order: write breadth-first, ranked, per-host:DEPTH, bottom-up or focused`,
		"depth-first":    `"depth-first" is no order: write breadth-first, ranked, per-host:DEPTH, bottom-up or focused`,
		"ranked:3":       `"ranked:3" is no order: write breadth-first, ranked, per-host:DEPTH, bottom-up or focused`,
		"per-host":       `"per-host" is no order: write breadth-first, ranked, per-host:DEPTH, bottom-up or focused`,
		"per-host:":      `"per-host:": write a depth from 0 to 1000, such as per-host:8`,
		"per-host:-1":    `"per-host:-1": write a depth from 0 to 1000, such as per-host:8`,
		"per-host:1001":  `"per-host:1001": write a depth from 0 to 1000, such as per-host:8`,
		"per-host:eight": `"per-host:eight": write a depth from 0 to 1000, such as per-host:8`,
	} {
		if err := new(Visit).UnmarshalText([]byte(text)); err == nil || err.Error() != says {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// of is the policy of a value of --visit.
func of(t *testing.T, visit string, state []byte) Policy {
	t.Helper()
	var o Options
	if err := o.Visit.UnmarshalText([]byte(visit)); err != nil {
		t.Fatal(err)
	}
	return New(o, 1, state)
}

// add queues a URL.
func add(p Policy, url string, depth int) {
	p.Add(p.QueueOf(&queued.URL{Rest: []byte(url), Depth: depth}), 1)
}

// A host is visited to the depth, counted from its first URL, before the next one. What is deeper comes later. Depth 0
// is the order of discovery.
func TestPerHost_aVisitHasADepth(t *testing.T) {
	for depth, want := range map[int]string{0: "11111111", 1: "10101011", 2: "10010011", 1000: "10000011"} {
		p := of(t, fmt.Sprintf("per-host:%d", depth), nil)
		got := ""
		for link := range 6 {
			url := &queued.URL{Rest: fmt.Appendf(nil, "http://a.test/%d", link), Depth: 7 + link}
			got += fmt.Sprint(p.QueueOf(url))
		}
		got += fmt.Sprint(p.QueueOf(&queued.URL{Rest: []byte("http://b.test/"), Depth: 9}))
		got += fmt.Sprint(p.QueueOf(&queued.URL{Rest: []byte("http://c.test/"), Depth: 0}))
		if got != want {
			t.Errorf("depth %d: classes %s, want %s", depth, got, want)
		}
	}
}

// A later run knows the depths at which the visits began. The states of other orders are not taken for it.
func TestPerHost_theStateIsTheDepths(t *testing.T) {
	p := of(t, "per-host:8", nil)
	add(p, "http://a.test/", 3)
	next := &queued.URL{Rest: []byte("http://a.test/x"), Depth: 5}
	if got := of(t, "per-host:8", p.State()).QueueOf(next); got != classOfVisit {
		t.Error("the page of a host under way begins a visit")
	}
	ranked := of(t, "ranked", nil)
	link(ranked, "b.test", 3)
	for name, state := range map[string][]byte{"none": nil, "ranked": ranked.State(), "cut": p.State()[1:]} {
		if got := of(t, "per-host:8", state).QueueOf(next); got != classOfNewVisit {
			t.Errorf("%s: the first page of a host is of a visit", name)
		}
	}
	between := of(t, "per-host:8", ranked.State()).State()
	if got := of(t, "ranked", between).State(); !bytes.Equal(got, ranked.State()) {
		t.Errorf("ranked has %d bytes after a run with another order, and had %d", len(got), len(ranked.State()))
	}
	if got := of(t, "bottom-up", ranked.State()).State(); len(got) != len(ranked.State()) {
		t.Errorf("%d bytes of the state of ranked are left", len(got))
	}
}

// A host that goes to another agent has the same classes there, also if deeper URLs of it came first.
func TestPerHost_anotherAgentHasTheSameClasses(t *testing.T) {
	var agents [2]*Current
	for i := range agents {
		agents[i] = NewCurrent(Options{Visit: Visit{Mode: ModePerHost, Depth: 2}}, uint64(i), nil)
	}
	add(agents[0].Policy(), "http://a.test/", 3)
	add(agents[1].Policy(), "http://a.test/deep", 4)
	site := []byte("http://a.test")
	agents[1].NoteLeastDepth(site, agents[0].LeastDepth(site))
	agents[1].NoteLeastDepth(site, 9) // a depth of long ago
	for depth := 3; depth < 12; depth++ {
		url := &queued.URL{Rest: []byte("http://a.test/x"), Depth: depth}
		if a, b := agents[0].Policy().QueueOf(url), agents[1].Policy().QueueOf(url); a != b {
			t.Errorf("depth %d: class %d, then %d", depth, a, b)
		}
	}
	other := NewCurrent(Options{}, 1, nil)
	if other.NoteLeastDepth(site, 3); other.LeastDepth(site) != 0 || agents[0].LeastDepth([]byte("http://b.test")) != 0 {
		t.Error("a depth of breadth-first, or of an unknown host")
	}
}

// Deeper folders are first, and equal ones in the order of discovery. A query is no folder.
func TestBottomUp_deeperFirst(t *testing.T) {
	p := of(t, "bottom-up", nil)
	var last int
	for _, path := range []string{
		"/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q", "/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p", "/a/b/x", "/a/y?u=/1/2/3", "/a/", "/a",
		"/?/b/c/d", "/",
	} {
		class := p.QueueOf(&queued.URL{Rest: []byte("http://a.test" + path)})
		if class < last || class >= Classes {
			t.Errorf("%s has class %d, after %d", path, class, last)
		}
		last = class
	}
	if first := p.QueueOf(&queued.URL{Rest: []byte("http://a.test/a/b/x")}); first != Classes-3 || last != Classes-1 {
		t.Errorf("classes %d and %d", first, last)
	}
}

// What an order says of a URL is its queue. It says so without a change. It says no class that depends on what is not
// known.
func TestPolicies_explainTheQueue(t *testing.T) {
	for visit, by := range map[string]string{
		"per-host:2": "its depth, 1 link below the first URL of its host", "bottom-up": "the folders of its path",
		"focused": "its score 3", "ranked": "", "breadth-first": "",
	} {
		p := of(t, visit, nil)
		add(p, "http://a.test/", 4)
		before := p.State()
		url := &queued.URL{Rest: []byte("http://a.test/b/c"), Depth: 5, Score: 3}
		e, unknown := p.Explain(url, true), p.Explain(&queued.URL{Rest: url.Rest}, false)
		p.Explain(&queued.URL{Rest: []byte("http://b.test/"), Depth: 1}, true)
		if !bytes.Equal(before, p.State()) {
			t.Errorf("%s: the order has another state", visit)
		}
		if e.Visit != visit || e.By != by || e.Classes > 0 && e.Class != p.QueueOf(url)+1 {
			t.Errorf("%s: %+v", visit, e)
		}
		if unknown.Class > 0 != (visit == "bottom-up") || e.Classes > 0 != (by != "") ||
			(e.Place != nil) != (visit == "ranked") {
			t.Errorf("%s, not queued: %+v", visit, unknown)
		}
	}
	if e := of(t, "focused", nil).Explain(&queued.URL{Seed: true}, true); e.Class != 1 || e.By != "being a seed" {
		t.Errorf("%+v", e)
	}
}

// No class starves, and what a run has left is taken.
func TestClasses_noneStarves(t *testing.T) {
	p := of(t, "bottom-up", nil)
	add(p, "http://a.test/", 0)
	p.Add(Classes-3, 1<<20)
	if got := take(t, p, 2*Classes*turnOfAny); got[Classes-1] != 1 {
		t.Errorf("%v", got)
	}
	if !p.Owns(0) || !p.Owns(Classes-1) || p.Owns(Classes) {
		t.Error("the classes are not those of the policy")
	}
}

// Seeds are first, then URLs by their score.
func TestFocused_largestScoreFirst(t *testing.T) {
	p := of(t, "focused", nil)
	if got := p.QueueOf(&queued.URL{Seed: true}); got != 0 {
		t.Errorf("a seed has class %d", got)
	}
	for score := range Classes {
		if got := p.QueueOf(&queued.URL{Score: score}); got != Classes-1-score {
			t.Errorf("score %d has class %d", score, got)
		}
	}
}
