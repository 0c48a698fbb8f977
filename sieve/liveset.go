package sieve

import (
	"math/bits"
	"sync/atomic"
)

// liveSet says which payloads of a bucket must still be emitted. The zero value contains all payloads.
type liveSet struct {
	bitmap []uint64 // a bit for each payload; nil means all
	// unemitted is the number of live payloads from the moment when the bucket is frozen. Producer or flusher write it,
	// and Pending reads it.
	unemitted atomic.Int64
	mask      maskFile
}

// maskFile is the file that stores the bitmap of a liveSet as it was when unemitted had the value here.
type maskFile struct {
	file      *storeFile // nil if there is none
	bytes     int64
	unemitted int64
}

// addBits gives each of n payloads its bit, unless they have them already.
func (l *liveSet) addBits(n int) {
	if l.bitmap == nil {
		l.bitmap = allSet(n)
	}
}

// drop removes the payloads with these numbers, which are known.
func (l *liveSet) drop(arrivals []uint64) {
	for _, arrival := range arrivals {
		l.bitmap[arrival/64] &^= 1 << (arrival % 64)
	}
	l.unemitted.Add(-int64(len(arrivals)))
}

// removeBit removes payload i. The caller updates unemitted.
func (l *liveSet) removeBit(i int) { l.bitmap[i/64] &^= 1 << (i % 64) }

// contains reports whether at least one of the n payloads from number i on is live.
func (l *liveSet) contains(i, n int) bool {
	if l.bitmap == nil {
		return n > 0
	}
	for end := i + n; i < end; {
		w := l.bitmap[i/64] >> (i % 64)
		if skip := bits.TrailingZeros64(w); w != 0 && i+skip < end {
			return true
		}
		i += 64 - i%64
	}
	return false
}

// visit calls the function with the live ones of n payloads in records. The first has number base. The result is false
// if records does not contain exactly n payloads.
func (l *liveSet) visit(records []byte, base, n int, visit func(i int, payload []byte) error) (ok bool, err error) {
	for i := base; i < base+n; i++ {
		_, payload, rest, ok := splitRecord(records)
		if !ok {
			return false, nil
		}
		if l.bitmap == nil || isSet(l.bitmap, i) {
			if err := visit(i, payload); err != nil {
				return true, err
			}
		}
		records = rest
	}
	return len(records) == 0, nil
}

func allSet(n int) []uint64 {
	set := make([]uint64, (n+63)/64)
	for i := range set {
		set[i] = ^uint64(0)
	}
	if n%64 != 0 {
		set[n/64] = 1<<(n%64) - 1
	}
	return set
}

func isSet(bitmap []uint64, i int) bool { return bitmap[i/64]>>(i%64)&1 == 1 }

func countSet(bitmap []uint64) (n int64) {
	for _, w := range bitmap {
		n += int64(bits.OnesCount64(w))
	}
	return n
}
