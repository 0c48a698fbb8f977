package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// Whatever the values, an axis holds them all, its ticks ascend on it, and a larger value is not before a smaller one.
func TestAxisHoldsItsValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		a := axis{log: rng.IntN(2) == 0, from: 100, to: 600}
		scale := math.Pow(10, float64(rng.IntN(12)-3))
		var values []float64
		for range 1 + rng.IntN(5) {
			values = append(values, scale*(0.001+rng.Float64()))
		}
		a.widen(values)
		ticks := a.ticks()
		if len(ticks) < 2 && !a.log || len(ticks) > 14 || !slices.IsSorted(ticks) {
			t.Fatalf("ticks %v for %v", ticks, values)
		}
		for _, v := range append(values, ticks...) {
			if at := a.at(v); at < a.from-1e-6 || at > a.to+1e-6 {
				t.Fatalf("%v is at %v on %+v", v, at, a)
			}
		}
		if low, high := slices.Min(values), slices.Max(values); a.at(low) > a.at(high) {
			t.Fatalf("%v and %v on %+v", low, high, a)
		}
	}
}

func TestTextOfTicks(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 0.2: "0.2", 64: "64", 500: "500", 1000: "1,000", 16000: "16,000", 2.5e6: "2.5M", 1e7: "10M", 3e9: "3G", 0.05: "0.05", 123.456: "123",
	} {
		if got := text(v); got != want {
			t.Errorf("%v is written %q, want %q", v, got, want)
		}
	}
}

// parse reads a picture as XML and returns every number of the named attributes.
func parse(t *testing.T, svg []byte, attributes ...string) (numbers []float64) {
	t.Helper()
	in := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := in.Token()
		if errors.Is(err, io.EOF) {
			return numbers
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, svg)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		for _, a := range start.Attr {
			if !slices.Contains(attributes, a.Name.Local) {
				continue
			}
			for s := range strings.FieldsFuncSeq(a.Value, func(r rune) bool { return r == ' ' || r == ',' }) {
				v, err := strconv.ParseFloat(s, 64)
				if err != nil {
					t.Fatalf("%s=%q: %v", a.Name.Local, a.Value, err)
				}
				numbers = append(numbers, v)
			}
		}
	}
}

// A picture is sound XML, the same at every drawing, everything in it lies within it, and the names of its lines do not lie on each other.
func TestChart(t *testing.T) {
	c := &chart{title: "Cost & size <of it>", x: axis{label: "items", log: true}, y: axis{label: "ns"}}
	for i := range 5 {
		c.series = append(c.series, series{name: "line", dots: true, points: []point{{10, 0}, {1e5, 100 + float64(i)}}})
	}
	one, err := c.svg()
	if err != nil {
		t.Fatal(err)
	}
	two, err := c.svg()
	if err != nil || !bytes.Equal(one, two) {
		t.Errorf("two drawings differ, %v", err)
	}
	for _, v := range parse(t, one, "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "points") {
		if v < 0 || v > width {
			t.Errorf("%v lies outside", v)
		}
	}
	places := c.namePlaces()
	slices.Sort(places)
	for k := 1; k < len(places); k++ {
		if places[k]-places[k-1] < nameApart-1e-9 || places[k] > height-below {
			t.Errorf("names at %v", places)
		}
	}
}

func TestChartRefuses(t *testing.T) {
	for _, c := range []*chart{
		{},
		{series: []series{{points: []point{{1, math.NaN()}}}}},
		{y: axis{log: true}, series: []series{{points: []point{{1, 0}}}}},
		{series: []series{{points: []point{{1, math.Inf(1)}}}}},
	} {
		if _, err := c.svg(); !errors.Is(err, errNothing) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

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
	results := fstest.MapFS{"a-soak.txt": {Data: []byte(soak)}, "t.txt": {Data: []byte(table)}, "b-soak.txt": {Data: []byte(soak)}}
	rate, _, err := readSoak(results, "a-soak.txt")
	if err != nil || !slices.Equal(rate, []point{{1, 5000}, {2, 10000}}) {
		t.Errorf("%v, %v", rate, err)
	}
	cost, err := readGrowth(results, "t.txt", "sieve: add")
	if err != nil || !slices.Equal(cost, []point{{1e6, 137}, {1e7, 107}}) {
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

// noteMost is how many letters fit below a title.
const noteMost = 105

// What lies in the repository can be drawn, every picture of it.
func TestEveryPlotOfTheRepository(t *testing.T) {
	out := t.TempDir()
	if err := draw(os.DirFS("../../bench/results"), out); err != nil {
		t.Fatal(err)
	}
	for _, p := range plots() {
		b, err := os.ReadFile(filepath.Join(out, p.name+".svg"))
		if err != nil {
			t.Errorf("%s was not drawn: %v", p.name, err)
			continue
		}
		if len(parse(t, b, "points")) < 4 {
			t.Errorf("%s has no line", p.name)
		}
		if c, err := p.chart(os.DirFS("../../bench/results")); err != nil || len(c.note) > noteMost || c.title == "" {
			t.Errorf("%s: %v, or its note is too long: %q", p.name, err, c.note)
		}
	}
}
