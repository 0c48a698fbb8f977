package sieve

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"sync/atomic"
)

const (
	chunkBytesMax = 256 << 10 // size of a read or write of the pending file
	chunkBytesMin = 256
)

// stage is the progress of a bucket into the store.
type stage int

const (
	stageFilling stage = iota // filling or being decided: decided drawers contain only new keys
	stageStored               // the new keys are in the store; some payloads may not be emitted yet
)

// bucket holds fingerprints and payloads before a flush. The entries are in drawers. The payloads are in order of
// arrival: older ones in the pending file, the others in chunks. A payload is identified by its number of arrival.
type bucket struct {
	bound    int64
	chunk    int // usual size of a chunk in bytes
	entries  drawers
	arrivals int // number of payloads added
	stage    stage
	decided  int // number of drawers that are decided: see decide

	// chunks are the payloads from number written on. add appends to the last one unless it is sealed.
	chunks []chunk
	sealed bool
	used   int64    // capacity of chunks in bytes
	free   [][]byte // buffers of the usual size for reuse

	// ahead: payloads are written to the file before the flush, so that the bucket can hold more fingerprints. It stays
	// set unless a write fails.
	ahead    bool
	wakeSent bool // Wake was signalled for this bucket
	// marked: a snapshot of this bucket is not yet written, so no later payload may be written.
	marked bool

	// file contains the payloads before written in its first fileBytes bytes. It is nil if there are none.
	file      *storeFile
	written   int
	fileBytes int64

	// live has a bit for each payload that must still be emitted; nil means all. unemitted is their number from the
	// moment when the bucket is frozen. Producer or flusher write it, and Pending reads it.
	live      []uint64
	unemitted atomic.Int64
	// mask is the file that stores live as it was when unemitted was maskUnemitted; nil if there is none.
	mask          *storeFile
	maskBytes     int64
	maskUnemitted int64
}

// chunk is a sequence of records in the format of a frame: key, length of the payload as a uvarint, payload.
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

// size returns the memory of the bucket. Memory of slabs is never used for anything else.
func (b *bucket) size() int64 { return b.entries.madeBytes() + b.used }

// full reports whether a producer that can wait must not add to the bucket.
func (b *bucket) full() bool {
	return b.size() >= b.bound || b.entries.usedBytes() >= b.bound/8*7
}

// flushDue reports whether a flush should start. This is before the bucket is full, so that the buckets are exchanged
// before a producer must wait. If payloads are written ahead, only fingerprints count.
func (b *bucket) flushDue() bool {
	return b.entries.usedBytes() >= b.bound/4*3 || !b.ahead && b.size() >= b.bound/8*7
}

// memoryShort reports whether payloads should be written to the file, if that is useful.
func (b *bucket) memoryShort() bool {
	return b.size() >= b.bound/4*3 && !b.marked && (len(b.chunks) > 1 || len(b.chunks) == 1 && b.sealed)
}

// add puts a fingerprint into its drawer and copies its payload.
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
	b.entries.add(k, uint64(b.arrivals))
	c := &b.chunks[at]
	c.buf = append(append(c.buf, head[:n]...), payload...)
	c.records++
	b.arrivals++
}

// nextChunk appends an empty chunk, with a reused buffer if that is large enough.
func (b *bucket) nextChunk(need int) {
	b.sealed = false
	var buf []byte
	switch last := len(b.free) - 1; {
	case need > b.chunk:
		buf = make([]byte, 0, need)
	case last >= 0:
		buf = b.free[last][:0]
		b.free[last] = nil // otherwise the list would keep the buffer alive
		b.free = b.free[:last]
	default:
		buf = make([]byte, 0, b.chunk)
	}
	b.used += int64(cap(buf))
	b.chunks = append(b.chunks, chunk{buf: buf})
	b.trim()
}

// mark ends the last chunk, which separates the payloads of the snapshot from later ones.
func (b *bucket) mark() { b.sealed, b.marked = len(b.chunks) > 0, true }

// shift removes the first chunk, which is now in the file.
func (b *bucket) shift() {
	c := b.chunks[0]
	b.written += c.records
	b.chunks = slices.Delete(b.chunks, 0, 1)
	b.sealed = b.sealed && len(b.chunks) > 0
	b.recycle(c)
	b.trim()
}

// recycle keeps the buffer of a chunk for reuse, unless it was made for a long payload.
func (b *bucket) recycle(c chunk) {
	b.used -= int64(cap(c.buf))
	if cap(c.buf) == b.chunk {
		b.free = append(b.free, c.buf)
	}
}

// trim frees unused buffers when entries need the memory.
func (b *bucket) trim() {
	for last := len(b.free) - 1; last >= 0 && b.size()+int64(last+1)*int64(b.chunk) > b.bound; last-- {
		b.free[last] = nil
		b.free = b.free[:last]
	}
}

// finishDrawer stores the entries that are left in the sorter in their drawer. Payloads of dropped entries are not
// emitted.
func (b *bucket) finishDrawer(t *sorter) {
	b.entries.replace(&b.entries.all[b.decided], t.entries)
	for _, arrival := range t.dropped {
		b.live[arrival/64] &^= 1 << (arrival % 64)
	}
	b.unemitted.Add(-int64(len(t.dropped)))
	b.decided++
}

// reset empties the bucket and keeps its memory, except entries beyond the bound.
func (b *bucket) reset() {
	for _, c := range b.chunks {
		b.recycle(c)
	}
	clear(b.chunks)
	b.entries.empty()
	if most := b.bound / 8 * 7; b.ahead {
		b.entries.trim(most)
	} else if b.entries.madeBytes() > most {
		b.entries.trim(0) // payloads need memory too
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
