package minhash

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"orbweaver/derive/simhash"
	"orbweaver/derive/words"
)

// Parameters of FineWeb.
const (
	ShingleWords    = 5
	Buckets         = 14
	HashesPerBucket = 8

	hashes = Buckets * HashesPerBucket
)

// prime is 2^61-1: arithmetic modulo this number needs no division.
const prime = 1<<61 - 1

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
	hasher          words.Hasher
	words, shingles []uint64
}

// NewSigner returns a Signer. All of them make the same signatures.
func NewSigner() *Signer {
	s := &Signer{}
	random := rand.New(rand.NewPCG(seed, 0))
	for i := range s.factor {
		s.factor[i] = 1 + random.Uint64N(prime-1)
		s.term[i] = random.Uint64N(prime)
	}
	return s
}

// Sign returns the signature of a text.
func (s *Signer) Sign(text []byte) Signature {
	s.words = s.hasher.Hashes(s.words[:0], text)
	s.shingles = words.Shingles(s.shingles[:0], s.words, ShingleWords)
	out := Signature{Words: len(s.words)}
	slices.Sort(s.words)
	out.SimHash = simhash.Of(slices.Compact(s.words))
	if !out.IsBucketed() {
		return out
	}
	for i, x := range s.shingles {
		s.shingles[i] = x % prime
	}
	var bucket [HashesPerBucket]uint64
	for b := range out.Buckets {
		for i := range bucket {
			bucket[i] = smallest(s.shingles, s.factor[b*HashesPerBucket+i], s.term[b*HashesPerBucket+i])
		}
		out.Buckets[b] = words.Hash(bucket[:])
	}
	return out
}

// smallest returns the smallest of all (factor*x+term) mod prime. A value of prime may stand for 0. That is as rare as
// a collision, and the same in all signatures.
func smallest(shingles []uint64, factor, term uint64) uint64 {
	least := uint64(math.MaxUint64)
	for _, x := range shingles {
		high, low := bits.Mul64(factor, x)
		sum := low&prime + (high<<3 | low>>61) + term // 2^61 is 1 modulo the prime
		least = min(least, sum&prime+sum>>61)
	}
	return least
}
