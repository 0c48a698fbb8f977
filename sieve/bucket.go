package sieve

import (
	"encoding/binary"
	"slices"
	"sync/atomic"
)

const (
	chunkBits     = 20
	chunkBytes    = 1 << chunkBits // at most; small buckets have smaller ones
	chunkBytesMin = 1 << 10
	entryBytes    = 16
	// reservePer: entries have room for a bucket full of payloads of 48 bytes and more from the start, or a producer would
	// have to wait while a large array grows. What is never used costs addresses, not memory.
	reservePer = entryBytes + 48
	deadBit    = 1 // of a record's length word: not to be emitted
)

// stage is how far a bucket has come on its way into the store.
type stage int

const (
	stageFilling stage = iota // entries in order of arrival
	stageSorted               // sorted, duplicates within the bucket dropped
	stageMarked               // what the store knows is dropped too: the entries are the new keys
	stageStored               // the new keys are in the store; what is left are payloads to emit
)

// bucket holds fingerprints and payloads that wait. Entries are one flat array, payloads lie in order of arrival in an
// arena of chunks; neither has a pointer. A record in the arena is uvarint(length*2 + dead) and the payload.
type bucket struct {
	entries []entry
	chunks  arena
	chunk   int // bytes of a chunk
	live    int // chunks in use
	used    int64
	stage   stage
	// cursor is how far emitting has come: chunk and byte.
	cursorChunk, cursorByte int
	// left counts what is not yet duplicate, known or emitted. Written by the adder or the flusher, read by Pending.
	left atomic.Int64

	// file has the first savedEntries entries, in savedBytes bytes, from earlier cuts; nil if there is none.
	file         *storeFile
	savedEntries int
	savedBytes   int64
	// savedLeft is what left was when file got exactly what was left of the frozen bucket; zero if it never did.
	savedLeft int64
}

func newBucket(bound int64) *bucket {
	return &bucket{
		chunk:   int(min(max(bound, chunkBytesMin), chunkBytes)),
		entries: make([]entry, 0, bound/reservePer),
	}
}

// size is what counts against the bound.
func (b *bucket) size() int64 { return int64(len(b.entries))*entryBytes + b.used }

func (b *bucket) empty() bool { return b.left.Load() == 0 }

// add appends one fingerprint and copies its payload.
func (b *bucket) add(k key, payload []byte) {
	var head [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(head[:], uint64(len(payload))<<1)
	need := n + len(payload)
	if b.live == 0 || !fitsChunk(b.chunks[b.live-1], need) {
		b.nextChunk(need)
	}
	at := b.live - 1
	c := b.chunks[at]
	b.entries = append(b.entries, newEntry(k, uint64(at)<<chunkBits|uint64(len(c))))
	c = append(c, head[:n]...)
	b.chunks[at] = append(c, payload...)
	b.used += int64(need)
	b.left.Add(1)
}

// fitsChunk: a chunk made larger for one long payload takes no other, since a place has chunkBits bits for its byte.
func fitsChunk(c []byte, need int) bool { return len(c) < chunkBytes && cap(c)-len(c) >= need }

// nextChunk brings one more chunk into use, an old one if it is large enough.
func (b *bucket) nextChunk(need int) {
	if b.live == len(b.chunks) {
		b.chunks = append(b.chunks, nil)
	}
	if cap(b.chunks[b.live]) < need {
		b.chunks[b.live] = make([]byte, 0, max(need, b.chunk))
	}
	b.chunks[b.live] = b.chunks[b.live][:0]
	b.live++
}

// arena is the chunks of a bucket as they are at one moment.
type arena [][]byte

// snapshot gives the chunks in use. Adding changes neither their order nor what is in them.
func (b *bucket) snapshot() arena { return slices.Clone(b.chunks[:b.live]) }

// record returns the payload at a place, whether it is dead, and the bytes the record takes.
func (a arena) record(chunk, at int) (payload []byte, dead bool, size int) {
	c := a[chunk][at:]
	v, n := binary.Uvarint(c)
	end := n + int(v>>1)
	return c[n:end:end], v&deadBit != 0, end
}

func (a arena) payload(e entry) []byte {
	p, _, _ := a.record(int(e.offset()>>chunkBits), int(e.offset()&(chunkBytes-1)))
	return p
}

// kill marks an entry's payload as not to be emitted.
func (b *bucket) kill(e entry) {
	b.chunks[e.offset()>>chunkBits][e.offset()&(chunkBytes-1)] |= deadBit
}

// sort orders the entries and drops all but the earliest of equal keys. It returns how many it dropped.
func (b *bucket) sort() int {
	sortEntries(b.entries)
	kept := 0
	for i, e := range b.entries {
		if i > 0 && e.key() == b.entries[kept-1].key() {
			b.kill(e)
			continue
		}
		b.entries[kept] = e
		kept++
	}
	dropped := len(b.entries) - kept
	b.entries = b.entries[:kept]
	b.left.Add(-int64(dropped))
	b.stage = stageSorted
	return dropped
}

// dropKnown drops the entries whose bit is set. It returns how many.
func (b *bucket) dropKnown(known []uint64) int {
	kept := 0
	for i, e := range b.entries {
		if isSet(known, i) {
			b.kill(e)
			continue
		}
		b.entries[kept] = e
		kept++
	}
	dropped := len(b.entries) - kept
	b.entries = b.entries[:kept]
	b.left.Add(-int64(dropped))
	b.stage = stageMarked
	return dropped
}

// emit hands out the live payloads from the cursor on, in order of arrival. After an error the cursor stands before
// the payload that was refused.
// S4: the chunks hold the payloads in the order in which they were added.
func (b *bucket) emit(f func(payload []byte) error) (n uint64, err error) {
	for ; b.cursorChunk < b.live; b.cursorChunk, b.cursorByte = b.cursorChunk+1, 0 {
		for b.cursorByte < len(b.chunks[b.cursorChunk]) {
			p, dead, size := b.chunks.record(b.cursorChunk, b.cursorByte)
			if !dead {
				if err := f(p); err != nil {
					return n, err
				}
				n++
				b.left.Add(-1)
			}
			b.cursorByte += size
		}
	}
	return n, nil
}

// arrivals gives the entries in order of arrival without disturbing the bucket.
func (b *bucket) arrivals() []entry {
	if b.stage == stageFilling {
		return b.entries
	}
	sorted := slices.Clone(b.entries)
	slices.SortFunc(sorted, func(x, y entry) int { return int(int64(x.offset()) - int64(y.offset())) })
	return sorted
}

// reset empties the bucket and keeps its memory, but for chunks that were made for one long payload.
func (b *bucket) reset() {
	for i, c := range b.chunks {
		if cap(c) > b.chunk {
			b.chunks[i] = nil
		}
	}
	*b = bucket{entries: b.entries[:0], chunks: b.chunks, chunk: b.chunk}
}
