package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	"gonum.org/v1/plot/plotter"
)

const soak = `# orbweaver bench soak
  60 s  300000 pages  759 MiB  39 descriptors
time=2026-11-21T16:00:31.697Z level=WARN msg="the disk is slow"
 120 s  900000 pages  804 MiB  238 descriptors
  60 s  1 pages  1 MiB  the next soak
`

const table = `$ a command
sieve: something else
sieve: add and flush, half of the URLs known
       URLs held       a second  CPU ns each  memory B each  disk B each  longest pause
         1000000        7342726          137          212.2         6.83        4.717ms
        10000000       13071358          107           96.4         6.51        4.218ms
  marking a cut                                       4 us
sieve: add and flush, another
         1000000        7342726          999          212.2         6.83        4.717ms
`

const orders = `    visit_test.go:133: {Visited:0.62 BreadthFirst:0.63}, gain -0.064
    visit_test.go:124: order true breadth-first: tau -0.500, area 0.670, at 20 % 0.468, gain 0.00; by in-degree 0.567, 0.313, 0.00; curve [0.0000 0.2500]
`

func TestReaders(t *testing.T) {
	results := fstest.MapFS{
		"a-soak.txt": {Data: []byte(soak)}, "t.txt": {Data: []byte(table)}, "b-soak.txt": {Data: []byte(soak)},
		"a-order.txt": {Data: []byte(orders)},
	}
	if o, err := readOrders(results); err != nil || len(o) != 1 || o[0].name != "true breadth-first" || o[0].tau != -0.5 ||
		o[0].atFifth != 0.468 || !slices.Equal(o[0].curve, plotter.XYs{{}, {X: 1, Y: 25}}) {
		t.Errorf("%v, %v", o, err)
	}
	rate, err := readSoak(results, "a-soak.txt")
	if err != nil || !slices.Equal(rate, plotter.XYs{{X: 1, Y: 5000}, {X: 2, Y: 10000}}) {
		t.Errorf("%v, %v", rate, err)
	}
	cost, err := readGrowth(results, "t.txt", "sieve: add")
	if err != nil || !slices.Equal(cost, plotter.XYs{{X: 1e6, Y: 137}, {X: 1e7, Y: 107}}) {
		t.Errorf("%v, %v", cost, err)
	}
	if _, err := readGrowth(results, "t.txt", "cache:"); err == nil {
		t.Error("a table that is not there was read")
	}
	if name, err := latest(results, "*-soak.txt"); name != "b-soak.txt" || err != nil {
		t.Errorf("%s, %v", name, err)
	}
	if _, err := latest(results, "*.json"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// Every plot of the repository's results is drawn, twice with the same bytes.
func TestEveryPlotOfTheRepository(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	for _, out := range []string{one, two} {
		if err := draw(os.DirFS("../../bench/results"), out); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range plots() {
		a, err := os.ReadFile(filepath.Join(one, p.name+".svg"))
		if err != nil {
			t.Errorf("%s was not drawn: %v", p.name, err)
			continue
		}
		b, err := os.ReadFile(filepath.Join(two, p.name+".svg"))
		if err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: the second drawing differs: %v", p.name, err)
		}
	}
}
