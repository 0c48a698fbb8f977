package sha1pair

import (
	"bytes"
	"crypto/sha1"
	"fmt"
	"math/rand/v2"
	"testing"
)

// Two at a time give what each gives alone, whatever their lengths.
func TestSumsAreTheLibrarys(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	whole := make([]byte, 70_000)
	for i := range whole {
		whole[i] = byte(rng.Uint32())
	}
	h := NewHasher()
	check := func(a, b []byte) {
		t.Helper()
		if x, y := h.Sums(a, b); x != sha1.Sum(a) || y != sha1.Sum(b) {
			t.Fatalf("%d and %d bytes: %x and %x", len(a), len(b), x, y)
		}
	}
	for n := range 300 {
		for m := range 300 {
			check(whole[n:n+n], whole[:m])
		}
	}
	for range 200 {
		a, b := rng.IntN(len(whole)), rng.IntN(len(whole))
		check(whole[a:], whole[b:])
		check(whole[:a], whole[:b])
	}
	check(nil, whole)
	check(whole, nil)
}

func TestSumsAllocateNothing(t *testing.T) {
	h, m := NewHasher(), make([]byte, 20_000)
	if n := testing.AllocsPerRun(100, func() { h.Sums(m, m[300:]) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzSums(f *testing.F) {
	f.Add([]byte("a response: head and body"), 16)
	f.Add(bytes.Repeat([]byte("x"), 1000), 300)
	h := NewHasher()
	f.Fuzz(func(t *testing.T, m []byte, at int) {
		part := m[min(max(at, 0), len(m)):]
		if x, y := h.Sums(m, part); x != sha1.Sum(m) || y != sha1.Sum(part) {
			t.Errorf("%x and %x", x, y)
		}
	})
}

func BenchmarkSums(b *testing.B) {
	for _, n := range []int{600, 16 << 10, 240 << 10} {
		m := make([]byte, n+300)
		h := NewHasher()
		b.Run(fmt.Sprintf("together-%d", n), func(b *testing.B) {
			for b.Loop() {
				h.Sums(m, m[300:])
			}
		})
		b.Run(fmt.Sprintf("one-after-the-other-%d", n), func(b *testing.B) {
			for b.Loop() {
				h.sum(m)
				h.sum(m[300:])
			}
		})
	}
}
