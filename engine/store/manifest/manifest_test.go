package manifest

import (
	"errors"
	"io"
	"strings"
	"testing"

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
