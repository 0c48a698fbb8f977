package minhash

import (
	"math"
	"math/rand/v2"
	"slices"

	"orbweaver/internal/simhash"
)

// Parameters of FineWeb.
const (
	ShingleWords    = 5
	Buckets         = 14
	HashesPerBucket = 8

	hashes = Buckets * HashesPerBucket
)

// seed makes the hash functions. Signatures that were made with another one cannot be compared.
const seed = 1

// Signature is what is kept of a text.
type Signature struct {
	Words int
	// SimHash of the distinct words, see package simhash.
	SimHash uint64
	// Buckets are valid if there are at least ShingleWords words.
	Buckets [Buckets]uint64
}

// IsBucketed reports whether the text is long enough for buckets.
func (s *Signature) IsBucketed() bool { return s.Words >= ShingleWords }

// Signer makes signatures.
type Signer struct {
	factor, term    [hashes]uint64
	hasher          simhash.WordHasher
	words, shingles []uint64
}

// NewSigner returns a Signer. All of them make the same signatures.
func NewSigner() *Signer {
	s := &Signer{}
	random := rand.New(rand.NewPCG(seed, 0))
	for i := range s.factor {
		s.factor[i] = random.Uint64() | 1 // an odd factor makes different values of different shingles
		s.term[i] = random.Uint64()
	}
	return s
}

// Sign returns the signature of a text.
func (s *Signer) Sign(text []byte) Signature {
	s.words = s.hasher.Hashes(s.words[:0], text)
	s.shingles = simhash.Shingles(s.shingles[:0], s.words, ShingleWords)
	out := Signature{Words: len(s.words)}
	slices.Sort(s.words)
	out.SimHash = simhash.Of(slices.Compact(s.words))
	if !out.IsBucketed() {
		return out
	}
	var bucket [HashesPerBucket]uint64
	for b := range out.Buckets {
		for i := 0; i < HashesPerBucket; i += lanes {
			at := b*HashesPerBucket + i
			least := smallest(s.shingles, (*[lanes]uint64)(s.factor[at:]), (*[lanes]uint64)(s.term[at:]))
			copy(bucket[i:], least[:])
		}
		out.Buckets[b] = simhash.WordHash(bucket[:])
	}
	return out
}

// lanes is how many hash functions are computed at a time: their results do not depend on each other, so the processor
// does not wait.
const lanes = 4

// smallest returns the smallest of all factor*x+term modulo 2^64, for each pair of a factor and a term. The shingles
// are hashes already, so high bits of the product order them well: the test of quality compares this with what the
// formula says.
func smallest(shingles []uint64, factor, term *[lanes]uint64) [lanes]uint64 {
	const most = math.MaxUint64
	a, b, c, d := uint64(most), uint64(most), uint64(most), uint64(most)
	fa, fb, fc, fd := factor[0], factor[1], factor[2], factor[3]
	ta, tb, tc, td := term[0], term[1], term[2], term[3]
	for _, x := range shingles {
		a = min(a, fa*x+ta)
		b = min(b, fb*x+tb)
		c = min(c, fc*x+tc)
		d = min(d, fd*x+td)
	}
	return [lanes]uint64{a, b, c, d}
}
