package neardup

import (
	"slices"

	"orbweaver/internal/simhash"
)

// wordsLeast is how many different words a text needs to have a fingerprint. Fingerprints of shorter texts are near to
// each other by chance: the words that many pages of a language share are most of them.
const wordsLeast = 50

// textMost is how much of a text counts, in bytes: more says nothing that decides, and costs CPU.
const textMost = 256 << 10

// Reader makes fingerprints of texts.
type Reader struct {
	hasher simhash.WordHasher
	hashes []uint64
}

// Fingerprint returns the SimHash of the different words of a text; none if there are too few.
func (r *Reader) Fingerprint(text []byte) (fingerprint uint64, ok bool) {
	r.hashes = r.hasher.Hashes(r.hashes[:0], text[:min(len(text), textMost)])
	slices.Sort(r.hashes)
	distinct := slices.Compact(r.hashes)
	if len(distinct) < wordsLeast {
		return 0, false
	}
	return simhash.Of(distinct), true
}
