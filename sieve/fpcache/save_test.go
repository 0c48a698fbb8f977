package fpcache

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"
)

// filled returns a cache of a few sets, some of them not full, and its saved form.
func filled(t testing.TB, sets int64, puts uint64) (*Cache, []byte) {
	t.Helper()
	c := New(sets*setBytes, 77)
	for i := range puts {
		c.Put(fpOf(i))
	}
	var b bytes.Buffer
	if err := c.Save(&b); err != nil {
		t.Fatal(err)
	}
	return c, b.Bytes()
}

func TestC3_SavedIsLoaded(t *testing.T) {
	// More sets than Load allocates at first, so that it must grow.
	for _, sets := range []int64{1, 5, frameSets, frameSets + 1, setsFirst + 3} {
		c, saved := filled(t, sets, uint64(sets)*3)
		after := bytes.NewBuffer(append(bytes.Clone(saved), "after"...))
		l, err := Load(iotest.HalfReader(after))
		if err != nil {
			t.Fatalf("%d sets: %v", sets, err)
		}
		if rest, _ := io.ReadAll(after); string(rest) != "after" {
			t.Fatalf("%d sets: Load left %q of what comes after", sets, rest)
		}
		var again bytes.Buffer
		if err := l.Save(&again); err != nil || !bytes.Equal(again.Bytes(), saved) {
			t.Fatalf("%d sets: saved again differs (%v)", sets, err)
		}
		for i := range uint64(sets) * 3 {
			if c.Seen(fpOf(i)) != l.Seen(fpOf(i)) {
				t.Fatalf("%d sets: caches disagree on fingerprint %d", sets, i)
			}
		}
	}
}

// A large cache with few fingerprints takes little on disk.
func TestSave_takesWhatIsInUse(t *testing.T) {
	c := New(64<<20, 77)
	for i := range uint64(1000) {
		c.Put(fpOf(i))
	}
	var b bytes.Buffer
	if err := c.Save(&b); err != nil {
		t.Fatal(err)
	}
	if b.Len() > 256<<10 {
		t.Errorf("%d bytes for 1000 fingerprints", b.Len())
	}
	l, err := Load(&b)
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(1000) {
		if !l.Seen(fpOf(i)) {
			t.Fatalf("fingerprint %d is lost", i)
		}
	}
}

func TestC3_DamageIsAnError(t *testing.T) {
	_, saved := filled(t, 3, 10)
	for i := range saved {
		bad := bytes.Clone(saved)
		bad[i] ^= 0x10
		if _, err := Load(bytes.NewReader(bad)); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("byte %d of %d changed: %v", i, len(saved), err)
		}
		if _, err := Load(bytes.NewReader(saved[:i])); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("cut at byte %d of %d: %v", i, len(saved), err)
		}
	}
	if _, err := Load(iotest.ErrReader(io.ErrNoProgress)); !errors.Is(err, io.ErrNoProgress) {
		t.Fatalf("the reader's own error is lost: %v", err)
	}
}

func TestSaveReportsTheWritersError(t *testing.T) {
	c, saved := filled(t, 3, 10)
	for n := range len(saved) {
		if err := c.Save(&shortWriter{room: n}); !errors.Is(err, io.ErrShortWrite) {
			t.Fatalf("room for %d bytes of %d: %v", n, len(saved), err)
		}
	}
}

type shortWriter struct{ room int }

func (w *shortWriter) Write(b []byte) (int, error) {
	if len(b) > w.room {
		return w.room, io.ErrShortWrite
	}
	w.room -= len(b)
	return len(b), nil
}

func FuzzLoad(f *testing.F) {
	_, saved := filled(f, 3, 10)
	f.Add(saved)
	f.Add(saved[:40])
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := Load(bytes.NewReader(b))
		if err != nil {
			return
		}
		for i := range c.sets {
			checkSet(t, &c.sets[i])
		}
		c.Put(fpOf(1))
		if !c.Seen(fpOf(1)) {
			t.Fatal("a loaded cache forgets at once")
		}
	})
}
