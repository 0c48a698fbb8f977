package centrality

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"orbweaver/derive/bvgraph"
	"orbweaver/derive/derivetest"
	"orbweaver/internal/vfs"
)

// open returns a graph on disk.
func open(t *testing.T, lists [][]int64) *Graph {
	t.Helper()
	var g, o, p bytes.Buffer
	w, err := bvgraph.NewWriter(&g, &o)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lists {
		if err := w.Add(l); err != nil {
			t.Fatal(err)
		}
	}
	stats, err := w.Close()
	if err := errors.Join(err, stats.WriteProperties(&p)); err != nil {
		t.Fatal(err)
	}
	fsys := vfs.NewMem(1)
	derivetest.Put(t, fsys, "x.graph", g.Bytes())
	derivetest.Put(t, fsys, "x.properties", p.Bytes())
	found, err := Open(fsys, "x")
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func randomLists(nodes, arcs int) [][]int64 {
	rng := rand.New(rand.NewPCG(5, 6))
	lists := make([][]int64, nodes)
	for range arcs {
		x := rng.IntN(nodes)
		lists[x] = append(lists[x], int64(rng.IntN(nodes)))
	}
	for x := range lists {
		slices.Sort(lists[x])
		lists[x] = slices.Compact(lists[x])
	}
	return lists
}

// Ranks do not depend on where the arcs are, nor on a number of arcs in the properties that is wrong.
func TestRanks_arcsInMemoryAndOnDisk(t *testing.T) {
	g := open(t, randomLists(300, 2000))
	var want []float64
	for _, arcs := range []int64{g.Arcs, g.Arcs - 1, g.Arcs + 1, 0, -1, math.MaxInt64} {
		g.Arcs = arcs
		for _, memory := range []int64{0, 300 * 300 / 8 * 3, 4 * (4*1999 + 8*300)} {
			rank, err := g.PageRank(t.Context(), Options{Memory: memory})
			if err != nil {
				t.Fatal(err)
			}
			harmonic, _, err := g.Harmonic(t.Context(), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if rank = append(rank, harmonic...); want == nil {
				want = rank
			}
			if !slices.Equal(rank, want) {
				t.Errorf("other ranks with %d arcs in the properties and %d bytes of memory", arcs, memory)
			}
		}
	}
}

// Two pages that link to each other, and one that links to the first: the ranks solve three equations.
func TestPageRank_ofThreePages(t *testing.T) {
	rank, err := open(t, [][]int64{{1}, {0}, {0}}).PageRank(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	// c = 0.05, a = 0.05 + 0.85 (b + c), b = 0.05 + 0.85 a.
	a := (0.05 + 0.85*(0.05+0.05)) / (1 - 0.85*0.85)
	for i, want := range []float64{a, 0.05 + 0.85*a, 0.05} {
		if math.Abs(rank[i]-want) > 1e-8 {
			t.Errorf("rank %d is %g, want %g", i, rank[i], want)
		}
	}
}

// Ranks have the sum 1, also with pages that have no links, and are a fixed point.
func TestPageRank_isAFixedPoint(t *testing.T) {
	lists := randomLists(300, 600)
	rank, err := open(t, lists).PageRank(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	next := make([]float64, len(rank))
	dangling, sum := 0.0, 0.0
	for x, l := range lists {
		sum += rank[x]
		if len(l) == 0 {
			dangling += rank[x]
		}
		for _, s := range l {
			next[s] += rank[x] / float64(len(l))
		}
	}
	if math.Abs(sum-1) > 1e-8 {
		t.Errorf("the sum is %g", sum)
	}
	for x := range next {
		if want := 0.85*next[x] + (0.15+0.85*dangling)/300; math.Abs(want-rank[x]) > 1e-8 {
			t.Fatalf("rank %d is %g, want %g", x, rank[x], want)
		}
	}
}

// harmonicBySearch is the definition: a search from each node, against the arcs.
func harmonicBySearch(lists [][]int64) []float64 {
	back := make([][]int, len(lists))
	for x, l := range lists {
		for _, s := range l {
			back[s] = append(back[s], x)
		}
	}
	values := make([]float64, len(lists))
	for x := range lists {
		distance := map[int]int{x: 0}
		for queue := []int{x}; len(queue) > 0; queue = queue[1:] {
			for _, y := range back[queue[0]] {
				if _, known := distance[y]; !known {
					distance[y] = distance[queue[0]] + 1
					values[x] += 1 / float64(distance[y])
					queue = append(queue, y)
				}
			}
		}
	}
	return values
}

// With memory for sets the values are exact; with little memory they are within the stated deviation.
func TestHarmonic(t *testing.T) {
	lists := randomLists(600, 1500)
	want := harmonicBySearch(lists)
	g := open(t, lists)
	got, deviation, err := g.Harmonic(t.Context(), Options{})
	if err != nil || deviation != 0 {
		t.Fatal(deviation, err)
	}
	for x := range want {
		if math.Abs(got[x]-want[x]) > 1e-9 {
			t.Fatalf("node %d: %g, want %g", x, got[x], want[x])
		}
	}
	got, deviation, err = g.Harmonic(t.Context(), Options{Memory: 600 * 2 * 16})
	if err != nil || deviation != 0.26 {
		t.Fatal(deviation, err)
	}
	errorSum, sum := 0.0, 0.0
	for x := range want {
		errorSum += math.Abs(got[x] - want[x])
		sum += want[x]
	}
	if errorSum/sum > deviation {
		t.Errorf("the mean error is %.1f %%, the deviation %.1f %%", 100*errorSum/sum, 100*deviation)
	}
}

// The larger of each byte.
func TestMaxBytes(t *testing.T) {
	if got := maxBytes(0x0102030405060708, 0x0801070206030504); got != 0x0802070406060708 {
		t.Errorf("%#x", got)
	}
}

// Degrees of a graph with a loop, a node without links and one without any arcs.
func TestCountDegrees(t *testing.T) {
	d, err := open(t, [][]int64{{0, 1}, nil, nil, {0}}).CountDegrees(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(d.In, []uint32{2, 1, 0, 0}) || !slices.Equal(d.OutCounts, []int64{2, 1, 1}) ||
		d.Loops != 1 || d.Dangling != 2 || d.Isolated != 1 || d.OutMax != 2 {
		t.Errorf("%+v", d)
	}
}

// A file that is not a graph, or shorter than it says, is an error, and takes no memory.
func TestOpen_damaged(t *testing.T) {
	fsys := vfs.NewMem(1)
	derivetest.Put(t, fsys, "x.graph", []byte{0xff})
	for _, text := range []string{"", "nodes=1000000000\narcs=1\n"} {
		derivetest.Put(t, fsys, "x.properties", []byte(text))
		if _, err := Open(fsys, "x"); !errors.Is(err, bvgraph.ErrCorrupt) {
			t.Errorf("%q: %v", text, err)
		}
	}
	derivetest.Put(t, fsys, "x.graph", []byte{0x07, 0})
	derivetest.Put(t, fsys, "x.properties", []byte("nodes=9\narcs=1\n"))
	g, err := Open(fsys, "x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.PageRank(t.Context(), Options{}); !errors.Is(err, bvgraph.ErrCorrupt) {
		t.Error(err)
	}
}
