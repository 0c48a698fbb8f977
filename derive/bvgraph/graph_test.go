package bvgraph

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// randomGraph is a graph like that of a web: most links go to nodes nearby, and neighbours have similar lists.
func randomGraph(rng *rand.Rand, nodes int) [][]int64 {
	graph := make([][]int64, nodes)
	for x := range graph {
		var list []int64
		if x > 0 && rng.IntN(3) > 0 {
			for _, s := range graph[x-1-rng.IntN(min(x, 9))] {
				if rng.IntN(5) > 0 {
					list = append(list, s)
				}
			}
		}
		for range rng.IntN(6) {
			list = append(list, int64(rng.IntN(nodes)))
		}
		if rng.IntN(4) == 0 {
			from := rng.IntN(nodes)
			for s := from; s < min(from+rng.IntN(20), nodes); s++ {
				list = append(list, int64(s))
			}
		}
		slices.Sort(list)
		graph[x] = slices.Compact(list)
	}
	return graph
}

// write returns the files of a graph.
func write(tb testing.TB, graph [][]int64) (lists, offsets, properties []byte, s Stats) {
	tb.Helper()
	var g, o, p bytes.Buffer
	w, err := NewWriter(&g, &o)
	if err != nil {
		tb.Fatal(err)
	}
	for _, list := range graph {
		if err := w.Add(list); err != nil {
			tb.Fatal(err)
		}
	}
	if s, err = w.Close(); err != nil {
		tb.Fatal(err)
	}
	if err := s.WriteProperties(&p); err != nil {
		tb.Fatal(err)
	}
	return g.Bytes(), o.Bytes(), p.Bytes(), s
}

// What is written is read: lists of all lengths, with references, intervals and loops.
func TestReader_BV1_readsWhatIsWritten(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, nodes := range []int{0, 1, 2, 50, 3000} {
		graph := randomGraph(rng, nodes)
		lists, offsets, properties, stats := write(t, graph)
		p, err := ReadProperties(bytes.NewReader(properties))
		if err != nil {
			t.Fatal(err)
		}
		if p.Nodes != int64(nodes) || p.Arcs != stats.Arcs || stats.Copied+stats.Intervalised+stats.Scattered != p.Arcs {
			t.Errorf("%d nodes: the properties are %+v, the statistics %+v", nodes, p, stats)
		}
		r := NewReader(bytes.NewReader(lists), p)
		for x, want := range graph {
			got, err := r.Next()
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("%d nodes: node %d is %v (%v), want %v", nodes, x, got, err, want)
			}
		}
		if _, err := r.Next(); err != io.EOF {
			t.Errorf("after the last node: %v", err)
		}
		// The offsets lead to the length of the file.
		o := bitReader{r: bufio.NewReader(bytes.NewReader(offsets))}
		var sum int64
		for range nodes + 1 {
			sum += int64(o.gamma())
		}
		if sum != stats.Bits || o.err != nil || int64(len(lists)) != (sum+7)/8 {
			t.Errorf("offsets lead to %d, the lists have %d bits in %d bytes (%v)", sum, stats.Bits, len(lists), o.err)
		}
	}
}

// The codes of small numbers are those of the papers: gamma, and zeta with k = 3 ("The WebGraph Framework II").
func TestCodes(t *testing.T) {
	for _, c := range []struct {
		v           uint64
		gamma, zeta string
	}{
		{0, "1", "100"}, {1, "010", "1010"}, {2, "011", "1011"}, {3, "00100", "1100"}, {4, "00101", "1101"},
		{5, "00110", "1110"}, {6, "00111", "1111"}, {7, "0001000", "0100000"},
	} {
		for _, code := range []struct {
			want  string
			width int
			put   func(*bitWriter, uint64) error
			get   func(*bitReader) uint64
		}{
			{c.gamma, gammaBits(c.v), (*bitWriter).gamma, (*bitReader).gamma},
			{c.zeta, zetaBits(c.v), (*bitWriter).zeta, (*bitReader).zeta},
		} {
			var b bytes.Buffer
			w := bitWriter{w: bufio.NewWriter(&b)}
			if err := errors.Join(code.put(&w, c.v), w.flush()); err != nil {
				t.Fatal(err)
			}
			text := ""
			for _, octet := range b.Bytes() {
				text += fmt.Sprintf("%08b", octet)
			}
			if !strings.HasPrefix(text, code.want) || code.width != len(code.want) || w.written != int64(code.width) {
				t.Errorf("%d is %s in %d bits, want %s", c.v, text, w.written, code.want)
			}
			if got := code.get(&bitReader{r: &b}); got != c.v {
				t.Errorf("%d is read as %d", c.v, got)
			}
		}
	}
}

// The graph of an example that was worked out by hand: node 1 copies from node 0, node 2 has an interval.
func TestWriter_bits(t *testing.T) {
	lists, _, _, _ := write(t, [][]int64{{1, 9, 20}, {1, 9}, {10, 11, 12, 13}})
	// Node 0: degree 3, no reference, no interval, residuals 1-0 -> 2, 9-1-1 = 7, 20-9-1 = 10.
	// Node 1: degree 2, reference 1, one block of 2; nothing is left.
	// Node 2: degree 4, no reference, one interval: 10-2 -> 16, 4-4 = 0.
	want := "00100" + "1" + "1" + "1011" + "0100000" + "0100011" +
		"011" + "01" + "010" + "011" +
		"00101" + "1" + "010" + "000010001" + "1"
	got := ""
	for _, octet := range lists {
		got += fmt.Sprintf("%08b", octet)
	}
	if strings.TrimRight(got, "0") != strings.TrimRight(want, "0") {
		t.Errorf("the bits are\n%s, want\n%s", got, want)
	}
}

// A list that does not increase is a mistake of the caller.
func TestWriter_order(t *testing.T) {
	for _, list := range [][]int64{{1, 1}, {2, 1}, {-1}} {
		w, err := NewWriter(io.Discard, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Add(list); !errors.Is(err, ErrOrder) {
			t.Errorf("%v: %v", list, err)
		}
	}
}

// No bytes make the reader panic, or return a list that is none.
func FuzzReader_BV2(f *testing.F) {
	rng := rand.New(rand.NewPCG(3, 4))
	lists, _, _, _ := write(f, randomGraph(rng, 40))
	f.Add(lists, uint16(40))
	f.Add([]byte{0, 0, 1}, uint16(3))
	f.Fuzz(func(t *testing.T, b []byte, nodes uint16) {
		r := NewReader(bytes.NewReader(b), Properties{Nodes: int64(nodes), Window: 7, IntervalMin: 4})
		for {
			list, err := r.Next()
			if err != nil {
				if err != io.EOF && !errors.Is(err, ErrCorrupt) {
					t.Fatal(err)
				}
				return
			}
			for i, s := range list {
				if s < 0 || s >= int64(nodes) || i > 0 && s <= list[i-1] {
					t.Fatalf("the list %v", list)
				}
			}
		}
	})
}

// Properties of graphs with other codes are refused, and numbers that are none.
func TestReadProperties(t *testing.T) {
	for text, good := range map[string]bool{
		"nodes=1\narcs=0\n": true,
		"nodes=1\narcs=0\nwindowsize=0\nminintervallength=0": true,
		"nodes=1\narcs=0\ncompressionflags=RESIDUALS_DELTA":  false,
		"nodes=1\narcs=0\nzetak=4":                           false,
		"nodes=-1\narcs=0":                                   false,
		"nodes=1\narcs=0\nwindowsize=99999999":               false,
		"":                                                   false,
	} {
		if _, err := ReadProperties(strings.NewReader(text)); (err == nil) != good {
			t.Errorf("%q: %v", text, err)
		}
	}
}
