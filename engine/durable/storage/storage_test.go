package storage

import (
	"log/slog"
	"testing"

	"orbweaver/engine/state/layout"
	"orbweaver/engine/store/manifest"
	"orbweaver/internal/vfs"
	"orbweaver/workbench"
)

// place is an empty crawl directory.
func place(t *testing.T) Place {
	t.Helper()
	disk := vfs.NewMem(1)
	for _, dir := range []string{layout.FrontierDir, layout.LogsDir} {
		if err := disk.MkdirAll("crawl/" + dir); err != nil {
			t.Fatal(err)
		}
	}
	return Place{FS: disk, Dir: "crawl", Log: slog.New(slog.DiscardHandler)}
}

func options() (o Options) {
	o.Sieve.BucketBytes, o.Dedup.MemoryBytes = 1<<16, 1<<16
	return o
}

// open opens a Storage, and closes it after check.
func open(t *testing.T, p Place, m *manifest.Manifest, fresh bool, check func(*Storage)) error {
	t.Helper()
	s := New()
	err := s.Open(p, options(), m, fresh)
	if err == nil {
		check(&s)
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	return err
}

// A crawl begins empty. So does a new pass, whatever the manifest says about the frontier of the pass before.
func TestOpen_anEmptyFrontierIgnoresTheManifest(t *testing.T) {
	p := place(t)
	m, err := manifest.New()
	if err != nil {
		t.Fatal(err)
	}
	err = open(t, p, m, true, func(s *Storage) {
		s.NewWorkbench(workbench.Options{MemoryMax: 1 << 20})
		if err := s.Ready.Append([]byte("a URL")); err != nil {
			t.Fatal(err)
		}
		if s.Ready.Len() != 1 || s.Workbench.Counts().Sites != 0 {
			t.Errorf("%d URLs in the ready queue, %+v", s.Ready.Len(), s.Workbench.Counts())
		}
		if m.Ready, err = s.Ready.Others.Checkpoint(); err != nil {
			t.Fatal(err)
		}
		if m.Seen, err = s.Journal.Seen.Checkpoint(); err != nil {
			t.Fatal(err)
		}
		if err := s.Journal.Seen.Sync(); err != nil {
			t.Fatal(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	m.Afresh = true
	err = open(t, p, m, false, func(s *Storage) {
		if s.Ready.Len() != 0 {
			t.Errorf("a new pass: %d URLs in the ready queue", s.Ready.Len())
		}
	})
	if err != nil {
		t.Errorf("a new pass: %v", err)
	}
}

// A manifest that names more than the disk holds is an error, and what was open already is closed.
func TestOpen_refusesAManifestThatNamesLostData(t *testing.T) {
	m, err := manifest.New()
	if err != nil {
		t.Fatal(err)
	}
	m.Ready.TailOffset = 1 << 20
	if err := open(t, place(t), m, false, func(*Storage) {}); err == nil {
		t.Error("a Storage without its data was opened")
	}
}
