package rooms

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestSeen(t *testing.T) {
	o := Options{URLs: 20_000, Hosts: 100, Dir: filepath.Join(t.TempDir(), "room"), Seed: 1, Say: io.Discard}
	r, err := Seen(t.Context(), o, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range r.Runs {
		p := run.Points
		if len(p) != 1 || p[0].Items != o.URLs || p[0].DiskPerItem < 100 || p[0].DiskPerItem > 160 || p[0].PerSecond <= 0 {
			t.Errorf("%s: %+v", run.Name, p)
		}
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Seen(stopped, o, 1<<20); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := os.Stat(o.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("files are left: %v", err)
	}
}
