package minhash

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"orbweaver/internal/simhash"
)

// The shingles of a long text are hashed in parts, and the signature is that of all together.
func TestSign_longText(t *testing.T) {
	var text strings.Builder
	for i := range 3*shinglesMost + 7 {
		fmt.Fprintf(&text, "%x ", i*i)
	}
	s := NewSigner()
	got := s.Sign([]byte(text.String()))
	all := simhash.Shingles(nil, s.hasher.Hashes(nil, []byte(text.String())), ShingleWords)
	for b := range got.Buckets {
		var least [HashesPerBucket]uint64
		for i := range least {
			least[i] = math.MaxUint64
			for _, x := range all {
				least[i] = min(least[i], s.factor[b*HashesPerBucket+i]*x+s.term[b*HashesPerBucket+i])
			}
		}
		if want := simhash.WordHash(least[:]); got.Buckets[b] != want {
			t.Errorf("bucket %d: %x, want %x", b, got.Buckets[b], want)
		}
	}
}
