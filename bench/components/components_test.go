package components

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// smallSizes are the sizes at which the tests measure each component.
var smallSizes = map[string]Options{
	"sieve":      {URLs: 50_000, Memory: 1 << 20},
	"cache":      {URLs: 100_000, Hosts: 10_000, Memory: 1 << 20},
	"dedup":      {URLs: 20_000, Hosts: 100, Memory: 1 << 20},
	"virtualize": {URLs: 30_000, Hosts: 1000},
	"workbench":  {Hosts: 5000},
	coldName:     {Hosts: 60_000},
}

// small returns the options of a test.
func small(t *testing.T, name string) Options {
	o, ok := smallSizes[name]
	if !ok {
		t.Fatalf("smallSizes has no entry for %s", name)
	}
	o.Dir, o.Seed, o.Progress = filepath.Join(t.TempDir(), "component"), 1, io.Discard
	return o
}

// runs is how many runs a component has, and which of them have Points.
var runs = map[string]struct{ all, points int }{
	"sieve": {1, 1}, "cache": {8, 8}, "dedup": {3, 3}, "virtualize": {4, 3}, "workbench": {4, 3}, coldName: {2, 2},
}

func TestComponents(t *testing.T) {
	for _, c := range Table() {
		t.Run(c.Name, func(t *testing.T) {
			o := small(t, c.Name)
			r, err := Measure(t.Context(), c.Name, o)
			if err != nil {
				t.Fatal(err)
			}
			wantRemoved(t, &o)
			r.Print(t.Output())
			if r.Name != c.Name || len(r.Runs) != runs[c.Name].all || len(r.Runs[0].Figures) == 0 {
				t.Fatalf("%+v", r)
			}
			for _, run := range r.Runs[:runs[c.Name].points] {
				if len(run.Points) != 1 || run.Points[0].PerSecond <= 0 {
					t.Errorf("%s: %+v", run.Name, run.Points)
				}
			}
			for _, run := range r.Runs[runs[c.Name].points:] {
				if len(run.Figures) == 0 {
					t.Errorf("%s: no figures", run.Name)
				}
			}
			check(t, &o, r)
		})
		t.Run(c.Name+", cancelled", func(t *testing.T) {
			o := small(t, c.Name)
			ctx, stop := context.WithCancel(t.Context())
			stop()
			if _, err := Measure(ctx, c.Name, o); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			wantRemoved(t, &o)
		})
	}
}

// check checks the values that the size determines.
func check(t *testing.T, o *Options, r *Result) {
	disk := map[string][2]float64{"sieve": {5, 1e9}, "dedup": {100, 160}}
	if r.Name != "cache" { // whose items are look-ups
		if p := r.Runs[0].Points[0]; p.Items != max(o.URLs, 0) && p.Items != o.Hosts {
			t.Errorf("%+v", p)
		}
	}
	if within, ok := disk[r.Name]; ok {
		if p := r.Runs[0].Points[0]; p.DiskPerItem < within[0] || p.DiskPerItem > within[1] {
			t.Errorf("%+v", p)
		}
	}
	if r.Name == "cache" {
		checkCache(t, r)
	}
}

func wantRemoved(t *testing.T, o *Options) {
	t.Helper()
	if _, err := os.Stat(o.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("files are left: %v", err)
	}
}

func TestUnknownComponent(t *testing.T) {
	if _, err := Measure(t.Context(), "abacus", Options{}); err == nil {
		t.Error("no error")
	}
}

// A directory that exists is refused and kept.
func TestUsedDirectory(t *testing.T) {
	o := small(t, "sieve")
	if err := os.Mkdir(o.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Measure(t.Context(), "sieve", o); err == nil {
		t.Error("no error")
	}
	if _, err := os.Stat(o.Dir); err != nil {
		t.Error(err)
	}
}
