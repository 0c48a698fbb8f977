package sieve

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"orbweaver/internal/vfs"

	"github.com/zeebo/xxh3"
)

// small configures a sieve whose buckets are full after about a hundred URLs.
var small = Options{Dir: "sieve", BucketBytes: 8 << 10}

func fpOf(i uint64) xxh3.Uint128 {
	return xxh3.Hash128Seed(binary.LittleEndian.AppendUint64(nil, i), 1)
}

func urlOf(i uint64) []byte { return fmt.Appendf(nil, "http://host%d.example/%d", i%97, i) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, fsys vfs.FS, o Options, cut *Checkpoint) *Sieve {
	t.Helper()
	s, err := Open(fsys, o, cut)
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

// addAll adds the URLs with these numbers without WaitRoom.
func addAll(s *Sieve, numbers ...uint64) {
	for _, i := range numbers {
		s.Add(fpOf(i), urlOf(i))
	}
}

// askRoom calls WaitRoom as a producer does before a batch, unless it would have to wait.
func askRoom(t testing.TB, s *Sieve) {
	t.Helper()
	if !s.Full() {
		must(t, s.WaitRoom(t.Context()))
	}
}

// flush calls Flush and returns the emitted URLs.
func flush(t testing.TB, s *Sieve) []string {
	t.Helper()
	var out []string
	_, err := s.Flush(func(p []byte) error {
		out = append(out, string(p))
		return nil
	})
	must(t, err)
	return out
}

func urls(numbers ...uint64) []string {
	var out []string
	for _, i := range numbers {
		out = append(out, string(urlOf(i)))
	}
	return out
}

func want(t testing.TB, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("emitted %q, want %q", got, want)
	}
}

// cutNow calls Snapshot and Write.
func cutNow(s *Sieve) (Checkpoint, error) {
	im, err := s.Snapshot()
	if err != nil {
		return Checkpoint{}, err
	}
	return im.Write()
}

// durable does what the engine does for a checkpoint.
func durable(t testing.TB, s *Sieve) *Checkpoint {
	t.Helper()
	c, err := cutNow(s)
	must(t, err)
	must(t, s.Sync())
	must(t, s.Release(c))
	return &c
}

// balanced checks that Added = Duplicates + Known + Emitted + Pending.
func balanced(t testing.TB, s *Sieve) {
	t.Helper()
	st := s.Stats()
	if st.Added != st.Duplicates+st.Known+st.Emitted+uint64(st.Pending) {
		t.Fatalf("not balanced: %+v", st)
	}
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 3)) }

// refuseAfter flushes with an emit that accepts n payloads.
func refuseAfter(t testing.TB, s *Sieve, n int) {
	t.Helper()
	_, err := s.Flush(func([]byte) error {
		if n == 0 {
			return errRefused
		}
		n--
		return nil
	})
	if !errors.Is(err, errRefused) {
		t.Fatal(err)
	}
}
