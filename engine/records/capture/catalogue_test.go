package capture_test

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/records/capture"
	"orbweaver/internal/extsort"
	"orbweaver/internal/vfs"
)

// written writes the places, given in the order of the archive, and opens the file.
func written(
	t *testing.T, fsys vfs.FS, of map[xxh3.Uint128][]capture.Place,
) (*capture.Index, capture.IndexCheckpoint) {
	t.Helper()
	s, err := extsort.New(fsys, extsort.Options{File: "sort", MemoryBytes: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	for fp, places := range of {
		for _, at := range places {
			e, ok := capture.IndexEntry(fp, at)
			if !ok {
				t.Fatalf("%+v was refused", at)
			}
			if err := s.Add(e); err != nil {
				t.Fatal(err)
			}
		}
	}
	checkpoint, err := capture.WriteIndex(fsys, "catalogue", s)
	if err = errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	c, err := capture.OpenIndex(fsys, "catalogue", checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c, checkpoint
}

// places returns n places of one URL, with revisits among them.
func places(rng *rand.Rand, n int) (all []capture.Place) {
	for i := range n {
		all = append(all,
			capture.Place{Serial: uint32(i / 3), Offset: int64(i)*1000 + rng.Int64N(1000), Revisit: rng.IntN(3) == 0})
	}
	return all
}

// kept returns what an index keeps of the places.
func kept(all []capture.Place) (out []capture.Place) {
	for i, at := range all {
		if !at.Revisit || i == len(all)-1 {
			out = append(out, at)
		}
	}
	return out
}

// An index finds what a map finds, also if fingerprints share a half, or fill more than a block.
func TestCatalogue_findsWhatAMapFinds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, urls := range []int{0, 1, 2, 169, 170, 171, 5000} {
		of := map[xxh3.Uint128][]capture.Place{}
		for range urls {
			of[xxh3.Uint128{Hi: rng.Uint64N(uint64(urls)), Lo: rng.Uint64()}] = places(rng, 1+rng.IntN(4))
		}
		if urls > 100 {
			of[xxh3.Uint128{Hi: 7, Lo: 7}] = places(rng, 1000)
		}
		c, _ := written(t, vfs.NewMem(1), of)
		if err := c.Check(); err != nil {
			t.Errorf("%d URLs: %v", urls, err)
		}
		buf := make([]byte, capture.IndexBlockBytes)
		n := 0
		for fp, all := range of {
			want := kept(all)
			n += len(want)
			if got, err := c.Lookup(nil, buf, fp); err != nil || !slices.Equal(got, want) {
				t.Fatalf("%d URLs, %x: %v, %v; want %v", urls, fp.Bytes(), got, err, want)
			}
			other := xxh3.Uint128{Hi: fp.Hi, Lo: fp.Lo + 1}
			if got, err := c.Lookup(nil, buf, other); err != nil || !slices.Equal(got, kept(of[other])) {
				t.Fatalf("%d URLs: %v, %v for one that is not there", urls, got, err)
			}
		}
		if c.Len() != int64(n) {
			t.Errorf("%d places, want %d", c.Len(), n)
		}
	}
}

// Every changed byte is detected, and so are the file of another index and a missing file.
func TestCatalogue_believesNoByteThatWasNotWritten(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	of := map[xxh3.Uint128][]capture.Place{}
	for range 400 {
		of[xxh3.Uint128{Hi: rng.Uint64(), Lo: rng.Uint64()}] = places(rng, 1)
	}
	fsys := vfs.NewMem(1)
	_, checkpoint := written(t, fsys, of)
	good, err := vfs.ReadFile(fsys, "catalogue")
	if err != nil {
		t.Fatal(err)
	}
	put := func(b []byte) {
		f, err := fsys.Create("catalogue")
		if err == nil {
			_, err = f.WriteAt(b, 0)
		}
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	look := func() error {
		c, err := capture.OpenIndex(fsys, "catalogue", checkpoint)
		if err != nil {
			return err
		}
		defer c.Close()
		return c.Check()
	}
	for i := 0; i < len(good); i += 7 {
		bad := slices.Clone(good)
		bad[i] ^= 4
		put(bad)
		if err := look(); !errors.Is(err, capture.ErrIndexCorrupt) {
			t.Fatalf("byte %d: %v", i, err)
		}
	}
	put(good[:len(good)-1])
	if err := look(); !errors.Is(err, capture.ErrIndexCorrupt) {
		t.Errorf("cut short: %v", err)
	}
	if err := fsys.Remove("catalogue"); err != nil {
		t.Fatal(err)
	}
	if err := look(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}
