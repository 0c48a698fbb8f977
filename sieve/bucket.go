package sieve

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"sync/atomic"
)

const (
	chunkBytesMax = 256 << 10 // one read or write of the pending file
	chunkBytesMin = 256
)

// stage is how far a bucket has come on its way into the store.
type stage int

const (
	stageFilling stage = iota // or on its way: the drawers that are decided have new keys only
	stageStored               // the new keys are in the store; what is left are payloads to emit
)

// bucket holds fingerprints and payloads that wait. Entries are in drawers; payloads lie in order of arrival, the older
// ones in the pending file, the others in chunks. A payload has the number of its arrival.
type bucket struct {
	bound   int64
	chunk   int // bytes of a usual one
	entries drawers
	arrived int // payloads
	stage   stage
	decided int // drawers of which everything is known: see Sieve.decide

	// chunks are the payloads from number written on. The last one takes more unless it is sealed.
	chunks []chunk
	sealed bool
	used   int64    // capacity of chunks
	free   [][]byte // of the usual size, to be used again

	// ahead: payloads are written before the bucket is flushed, so that it can have more; for ever, unless that fails.
	ahead bool
	told  bool // that it is ripe
	// marked: an image of this moment is to be written, and nothing behind it.
	marked bool

	// file has the payloads below written, in its first fileBytes bytes; nil if there are none.
	file      *storeFile
	written   int
	fileBytes int64

	// live has a bit for each payload that is still to be emitted; nil means all. left counts them from the moment in which the
	// bucket is frozen; it is written by the
	// adder or the flusher, and read by Pending.
	live []uint64
	left atomic.Int64
	// mask is the file with live as it was when left was maskLeft; nil if there is none.
	mask      *storeFile
	maskBytes int64
	maskLeft  int64
}

// chunk is a stretch of records as a frame of the pending file has them: key, uvarint of the payload's length, payload.
type chunk struct {
	buf     []byte
	records int
}

func newBucket(bound int64) *bucket {
	return &bucket{
		bound:   bound,
		chunk:   int(min(max(bound/32, chunkBytesMin), chunkBytesMax)),
		entries: newDrawers(bound),
	}
}

// size is the memory in use. Slabs once made are never anything else.
func (b *bucket) size() int64 { return b.entries.madeBytes() + b.used }

// full: nothing more may be added by who can wait.
func (b *bucket) full() bool {
	return b.size() >= b.bound || b.entries.usedBytes() >= b.bound/8*7
}

// ripe: it is time to flush, early enough that the buckets have changed places when this one would be full, and no
// producer waits for that. With payloads written ahead that is a matter of fingerprints only.
func (b *bucket) ripe() bool {
	return b.entries.usedBytes() >= b.bound/4*3 || !b.ahead && b.size() >= b.bound/8*7
}

// crowded: memory is so short that payloads have to go to the file, if they are to go there at all.
func (b *bucket) crowded() bool {
	return b.size() >= b.bound/4*3 && !b.marked && (len(b.chunks) > 1 || len(b.chunks) == 1 && b.sealed)
}

// add puts one fingerprint into its drawer and copies its payload.
func (b *bucket) add(k key, payload []byte) {
	var head [keyBytes + binary.MaxVarintLen64]byte
	binary.LittleEndian.PutUint64(head[:], k.hi)
	head[keyBytes-1] = k.lo
	n := keyBytes + binary.PutUvarint(head[keyBytes:], uint64(len(payload)))
	need := n + len(payload)
	at := len(b.chunks) - 1
	if at < 0 || b.sealed || cap(b.chunks[at].buf)-len(b.chunks[at].buf) < need {
		b.nextChunk(need)
		at++
	}
	b.entries.add(k, uint64(b.arrived))
	c := &b.chunks[at]
	c.buf = append(append(c.buf, head[:n]...), payload...)
	c.records++
	b.arrived++
}

// nextChunk brings one more chunk into use, an old one if it is large enough.
func (b *bucket) nextChunk(need int) {
	b.sealed = false
	var buf []byte
	switch last := len(b.free) - 1; {
	case need > b.chunk:
		buf = make([]byte, 0, need)
	case last >= 0:
		buf = b.free[last][:0]
		b.free[last] = nil // or the list would hold on to it when it is given up
		b.free = b.free[:last]
	default:
		buf = make([]byte, 0, b.chunk)
	}
	b.used += int64(cap(buf))
	b.chunks = append(b.chunks, chunk{buf: buf})
	b.trim()
}

// mark ends the last chunk, so that what is here now can be told from what comes.
func (b *bucket) mark() { b.sealed, b.marked = len(b.chunks) > 0, true }

// shift lets go of the first chunk, which is in the file now.
func (b *bucket) shift() {
	c := b.chunks[0]
	b.written += c.records
	b.chunks = slices.Delete(b.chunks, 0, 1)
	b.sealed = b.sealed && len(b.chunks) > 0
	b.recycle(c)
	b.trim()
}

// recycle keeps the memory of a chunk, but for one made for a long payload.
func (b *bucket) recycle(c chunk) {
	b.used -= int64(cap(c.buf))
	if cap(c.buf) == b.chunk {
		b.free = append(b.free, c.buf)
	}
}

// trim gives up free chunks as entries take their place.
func (b *bucket) trim() {
	for last := len(b.free) - 1; last >= 0 && b.size()+int64(last+1)*int64(b.chunk) > b.bound; last-- {
		b.free[last] = nil
		b.free = b.free[:last]
	}
}

// settle puts what is left on the tray back into its drawer: of what was dropped nothing is emitted.
func (b *bucket) settle(t *tray) {
	b.entries.replace(&b.entries.all[b.decided], t.entries)
	for _, arrival := range t.dropped {
		b.live[arrival/64] &^= 1 << (arrival % 64)
	}
	b.left.Add(-int64(len(t.dropped)))
	b.decided++
}

// reset empties the bucket and keeps its memory, but for entries beyond the bound.
func (b *bucket) reset() {
	for _, c := range b.chunks {
		b.recycle(c)
	}
	clear(b.chunks)
	b.entries.empty()
	if most := b.bound / 8 * 7; b.ahead {
		b.entries.trim(most)
	} else if b.entries.madeBytes() > most {
		b.entries.trim(0) // payloads have to find room too
	}
	*b = bucket{
		bound: b.bound, chunk: b.chunk, ahead: b.ahead,
		entries: b.entries, chunks: b.chunks[:0], free: b.free,
	}
	b.trim()
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
