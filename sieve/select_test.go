package sieve

import "testing"

func TestSelectBit(t *testing.T) {
	rng := newRand(4)
	for _, w := range []uint64{1, 1 << 63, 1<<64 - 1, 0xff00ff00ff00ff00, rng.Uint64(), rng.Uint64() & rng.Uint64(), rng.Uint64() | rng.Uint64()} {
		n := 0
		for bit := range 64 {
			if w>>bit&1 == 0 {
				continue
			}
			n++
			if got := selectBit(w, n); got != bit {
				t.Fatalf("bit number %d of %x is %d, not %d", n, w, bit, got)
			}
		}
	}
}
