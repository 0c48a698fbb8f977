package sieve

import (
	"math"
	"testing"

	"orbweaver/internal/vfs"
)

// The expected number of URLs wrongly treated as known until there are 10^10, by the birthday bound.
func TestS1_TheBudgetOfWrongAnswersIsKept(t *testing.T) {
	const n = 1e10
	bitsKept := float64(8 * keyBytes)
	if wrong := n * n / math.Exp2(bitsKept+1); wrong > 1 {
		t.Fatalf("%.3g URLs of 10^10 are wrongly called seen", wrong)
	}
	// Each stored bit makes a difference between fingerprints, and no other bit does.
	fp := fpOf(1)
	for bit := range 64 {
		low, high := fp, fp
		low.Lo ^= 1 << bit
		high.Hi ^= 1 << bit
		if keyOf(high) == keyOf(fp) || (keyOf(low) != keyOf(fp)) != (bit >= 56) {
			t.Fatalf("bit %d", bit)
		}
	}
}

// Writes the first blocks of a run of 10^9 keys. All blocks of the run hold as many keys as these.
func TestBytesOfAURLInALargeRun(t *testing.T) {
	const total, here = 1_000_000_000, 200_000
	mem := vfs.NewMem(1)
	must(t, mem.MkdirAll("sieve"))
	f, err := mem.Create(fileName("sieve", kindRun, 0))
	must(t, err)
	w := newRunWriter(&storeFile{File: f}, total)
	rng := newRand(8)
	gap := math.MaxUint64 / float64(total)
	var k keys
	for hi := uint64(0); k.len() < here; hi += uint64(rng.ExpFloat64()*gap) + 1 {
		k.hi, k.lo = append(k.hi, hi), append(k.lo, uint8(rng.Uint32()))
	}
	must(t, w.add(k))
	r, err := w.finish()
	must(t, err)
	each := float64(r.bytes) / here
	t.Logf("%.3f bytes", each)
	if each > 5.65 {
		t.Fatalf("%.3f bytes a URL at 10^9", each)
	}
}
