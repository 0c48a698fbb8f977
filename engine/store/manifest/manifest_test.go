package manifest

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

func FuzzManifest(f *testing.F) {
	fsys := vfs.NewMem(1)
	if err := fsys.MkdirAll("d"); err != nil {
		f.Fatal(err)
	}
	if err := Write(fsys, "d", &Manifest{Generation: 5, State: lifecycle.Running}); err != nil {
		f.Fatal(err)
	}
	b, err := vfs.ReadFile(fsys, Path("d"))
	if err != nil {
		f.Fatal(err)
	}
	if m, err := Parse(b); err != nil || m.Generation != 5 {
		f.Fatalf("%+v %v", m, err)
	}
	f.Add(b)
	f.Add([]byte("orbweaver-manifest 12 00000000\n{}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := Parse(b); err == nil && m == nil {
			t.Error("neither a manifest nor an error")
		}
	})
}

// All manifests have a number that versions without sync marks refuse: these read 4, 5 and 6, and take a mark for a
// torn entry. What these have written is read.
func TestManifest_hasANumberThatVersionsWithoutSyncMarksRefuse(t *testing.T) {
	fsys := vfs.NewMem(1)
	for _, m := range []*Manifest{
		{Generation: 3},
		{Generation: 4, Pass: 1, From: warc.Checkpoint{Serial: 2, Length: 7}, Afresh: true},
		{Generation: 5, Peers: &cluster.Checkpoint{Births: 3}},
	} {
		if err := Write(fsys, ".", m); err != nil {
			t.Fatal(err)
		}
		b, err := vfs.ReadFile(fsys, Path("."))
		if err != nil || !strings.HasPrefix(string(b), "orbweaver-manifest 12 ") {
			t.Fatalf("%.40s, %v", b, err)
		}
		for _, magic := range append(earlierMagics(), magic) {
			former := strings.Replace(string(b), "orbweaver-manifest 12", magic, 1)
			got, err := Parse([]byte(former))
			if err != nil || got.Generation != m.Generation || got.Pass != m.Pass || got.From != m.From ||
				got.Afresh != m.Afresh || (got.Peers == nil) != (m.Peers == nil) {
				t.Errorf("%s: %+v, %v", magic, got, err)
			}
		}
	}
}

func TestHostile_S10_aManifestOfAnotherVersionIsRefused(t *testing.T) {
	fsys := vfs.NewMem(1)
	if err := vfs.WriteAtomic(fsys, Path("."), func(w io.Writer) error {
		_, err := io.WriteString(w, "orbweaver-manifest 1 00000000\n{}")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(fsys, "."); !errors.Is(err, ErrVersion) || !strings.Contains(err.Error(), "orbweaver-manifest 1") {
		t.Errorf("%v", err)
	}
}

// The first request waits for what is known of the last ones, and never longer than a site may ask for. A clock that
// was set back by a day while the crawl ran leaves times a day ahead.
func TestFirstRequest_isNeverFarAhead(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	in := func(d time.Duration) time.Time { return now.Add(d) }
	for _, c := range []struct {
		what                     string
		notBefore, uncleanResume time.Time
		want                     time.Duration // from now; below 0: at once
	}{
		{"nothing", time.Time{}, time.Time{}, -1},
		{"just resumed after a kill", time.Time{}, now, 4 * time.Second},
		{"resumed long ago", time.Time{}, in(-time.Hour), -1},
		{"rebuilt", in(time.Minute), in(-time.Hour), time.Minute},
		{"rebuilt, and killed since", in(time.Second), now, 4 * time.Second},
		{"clock set back after a kill", time.Time{}, in(24 * time.Hour), 5 * time.Minute},
		{"clock set back after a rebuild", in(24 * time.Hour), time.Time{}, 5 * time.Minute},
	} {
		m := Manifest{NotBefore: c.notBefore, UncleanResume: c.uncleanResume}
		if got := m.FirstRequest(4*time.Second, 5*time.Minute, now).Sub(now); max(got, -1) != c.want {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
}
