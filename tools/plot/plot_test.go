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

func TestReaders(t *testing.T) {
	results := fstest.MapFS{
		"a-soak.txt": {Data: []byte(soak)}, "t.txt": {Data: []byte(table)}, "b-soak.txt": {Data: []byte(soak)},
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
