package rooms

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func small(t *testing.T, urls int64) Options {
	return Options{URLs: urls, Hosts: 100, Dir: filepath.Join(t.TempDir(), "room"), Seed: 1, Say: io.Discard}
}

func gone(t *testing.T, o Options) {
	t.Helper()
	if _, err := os.Stat(o.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("files are left: %v", err)
	}
}

func TestSieve(t *testing.T) {
	o := small(t, 50_000)
	r, err := Sieve(t.Context(), o, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	gone(t, o)
	p := r.Runs[0].Points
	if len(p) != 1 || p[0].Items != o.URLs || p[0].DiskPerItem < 5 || p[0].PerSecond <= 0 {
		t.Fatalf("%+v", p)
	}
}

func TestSieveStops(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	o := small(t, 50_000)
	if _, err := Sieve(ctx, o, 1<<20); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	gone(t, o)
}
