package dedup

import "math/bits"

// filter knows the hashes of one segment of a run well enough to say of most others that they are not there, and of one
// that may be there which record of the segment it is: Elias and Fano's code of the first bits of sorted hashes.
//
// A hash without the bits of its segment falls by its first bits into one of 2^n buckets, about as many as there are
// keys; the bitmap has a one for each key and a zero behind each bucket. The next bits of each key are kept in the
// order of the keys.
type filter struct {
	keys    int
	width   uint // bits kept of each key beside its bucket
	buckets uint // log2 of their number
	words   []uint64
	// The parts of words.
	bitmap, low, ranks []uint64 // ranks: two in a word, keys before bucket i*rankEvery
}

const (
	rankEvery = 256
	// widthMax is as precise as a filter gets.
	widthMax = 20
)

// log2 is rounded down; that of 0 is 0.
func log2(n int) int { return max(0, bits.Len(uint(n))-1) }

func newFilter(keys int, width uint) *filter {
	f := &filter{keys: keys, width: width, buckets: uint(log2(keys))}
	bitmap, low, ranks := f.shape()
	f.words = make([]uint64, bitmap+low+ranks)
	f.split()
	return f
}

// shape is the length of the parts in words.
func (f *filter) shape() (bitmap, low, ranks int) {
	buckets := 1 << f.buckets
	return (f.keys + buckets + 63) / 64, (f.keys*int(f.width) + 63) / 64, (buckets/rankEvery + 2) / 2
}

// filterBytes is what a filter takes in memory, and, without its ranks, on disk.
func filterBytes(keys int, width uint) (memory, disk int64) {
	if keys == 0 {
		return 0, 0
	}
	f := filter{keys: keys, width: width, buckets: uint(log2(keys))}
	bitmap, low, ranks := f.shape()
	return int64(bitmap+low+ranks) * 8, int64(bitmap+low) * 8
}

func (f *filter) split() {
	bitmap, low, _ := f.shape()
	f.bitmap, f.low, f.ranks = f.words[:bitmap], f.words[bitmap:bitmap+low], f.words[bitmap+low:]
}

func (f *filter) bucket(hash uint64) uint64 { return hash << segmentBits >> (64 - f.buckets) }

func (f *filter) fingerprint(hash uint64) uint64 {
	return hash << (segmentBits + f.buckets) >> (64 - f.width)
}

// put sets key i of the segment. Keys are put in ascending order, each once, and end is called behind the last.
func (f *filter) put(i int, hash uint64) {
	at := uint64(i) + f.bucket(hash)
	f.bitmap[at/64] |= 1 << (at % 64)
	if f.width == 0 {
		return
	}
	at = uint64(i) * uint64(f.width)
	v := f.fingerprint(hash)
	f.low[at/64] |= v << (at % 64)
	if at%64+uint64(f.width) > 64 {
		f.low[at/64+1] |= v >> (64 - at%64)
	}
}

// end counts the ranks. It reports whether the bitmap is one: with a one for each key and as many zeros as buckets.
func (f *filter) end() bool {
	ones := 0
	for _, w := range f.bitmap {
		ones += bits.OnesCount64(w)
	}
	size := uint(f.keys) + 1<<f.buckets
	if ones != f.keys || size%64 != 0 && f.bitmap[size/64]>>(size%64) != 0 {
		return false
	}
	last := uint64(1<<f.buckets-1) / rankEvery
	at := uint64(0)
	for g := uint64(1); g <= last; g++ {
		at = behindZero(f.bitmap, at, rankEvery)
		f.ranks[g/2] |= (at - g*rankEvery) << (g % 2 * 32)
	}
	return true
}

// kept is what is written: the ranks are counted again.
func (f *filter) kept() []uint64 { return f.words[:len(f.bitmap)+len(f.low)] }

func (f *filter) rank(g uint64) uint64 { return f.ranks[g/2] >> (g % 2 * 32) & 0xffffffff }

// find returns the keys [from, to) that look like the hash.
func (f *filter) find(hash uint64) (from, to int) {
	b := f.bucket(hash)
	g := b / rankEvery
	at := f.rank(g) + g*rankEvery
	if skip := b - g*rankEvery; skip > 0 {
		at = behindZero(f.bitmap, at, skip)
	}
	want := f.fingerprint(hash)
	i := int(at - b)
	for ; i < f.keys && f.bitmap[at/64]>>(at%64)&1 == 1; i, at = i+1, at+1 {
		if v := f.lowAt(i); v == want {
			break
		} else if v > want {
			return 0, 0
		}
	}
	from = i
	for ; i < f.keys && f.bitmap[at/64]>>(at%64)&1 == 1 && f.lowAt(i) == want; i, at = i+1, at+1 {
	}
	return from, i
}

func (f *filter) lowAt(i int) uint64 {
	if f.width == 0 {
		return 0
	}
	at := uint64(i) * uint64(f.width)
	v := f.low[at/64] >> (at % 64)
	if at%64+uint64(f.width) > 64 {
		v |= f.low[at/64+1] << (64 - at%64)
	}
	return v & (1<<f.width - 1)
}

// behindZero returns the place behind the n-th zero, n at least 1, at or after a place. There must be as many.
func behindZero(bitmap []uint64, at, n uint64) uint64 {
	word := ^bitmap[at/64] >> (at % 64) << (at % 64)
	for {
		if c := uint64(bits.OnesCount64(word)); c < n {
			n -= c
			at = at/64*64 + 64
			word = ^bitmap[at/64]
			continue
		}
		for ; n > 1; n-- {
			word &= word - 1
		}
		return at/64*64 + uint64(bits.TrailingZeros64(word)) + 1
	}
}
