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
	if cap(s.words) > wordsKept {
		s.words = nil
	}
	s.words = s.hasher.Hashes(s.words[:0], text)
	out := Signature{Words: len(s.words)}
	if out.IsBucketed() {
		s.fillBuckets(&out)
	}
	slices.Sort(s.words)
	out.SimHash = simhash.Of(slices.Compact(s.words))
	return out
}

const (
	// wordsKept is how many words memory is kept for.
	wordsKept = 256 << 10
	// shinglesMost is how many shingles are in memory.
	shinglesMost = 8 << 10
)

// fillBuckets computes the buckets of the words.
func (s *Signer) fillBuckets(out *Signature) {
	var least [hashes]uint64
	for i := range least {
		least[i] = math.MaxUint64
	}
	for rest := s.words; len(rest) >= ShingleWords; {
		piece := rest[:min(len(rest), shinglesMost+ShingleWords-1)]
		s.shingles = simhash.Shingles(s.shingles[:0], piece, ShingleWords)
		rest = rest[len(s.shingles):]
		for at := 0; at < hashes; at += lanes {
			smallest((*[lanes]uint64)(least[at:]), s.shingles, (*[lanes]uint64)(s.factor[at:]), (*[lanes]uint64)(s.term[at:]))
		}
	}
	for b := range out.Buckets {
		out.Buckets[b] = simhash.WordHash(least[b*HashesPerBucket : (b+1)*HashesPerBucket])
	}
}

// lanes is how many hash functions are computed at a time: their results do not depend on each other, so the processor
// does not wait.
const lanes = 4

// smallest lowers each of least to the smallest of all factor*x+term modulo 2^64. The shingles are hashes already, so
// high bits of the product order them well: the test of quality compares this with what the formula says.
func smallest(least *[lanes]uint64, shingles []uint64, factor, term *[lanes]uint64) {
	a, b, c, d := least[0], least[1], least[2], least[3]
	fa, fb, fc, fd := factor[0], factor[1], factor[2], factor[3]
	ta, tb, tc, td := term[0], term[1], term[2], term[3]
	for _, x := range shingles {
		a = min(a, fa*x+ta)
		b = min(b, fb*x+tb)
		c = min(c, fc*x+tc)
		d = min(d, fd*x+td)
	}
	*least = [lanes]uint64{a, b, c, d}
}
