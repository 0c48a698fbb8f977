package sieve

import (
	"fmt"
	"time"

	"orbweaver/internal/vfs"
)

// stage is the progress of a bucket into the store.
type stage int

const (
	stageFilling stage = iota // filling or being decided: decided drawers contain only new keys
	stageStored               // the new keys are in the store; some payloads may not be emitted yet
)

// bucket holds fingerprints and payloads before a flush. The entries are in drawers.
type bucket struct {
	bound    int64
	entries  drawers
	payloads payloads
	live     liveSet
	stage    stage
	decided  int // number of drawers that are decided: see decide

	// ahead: payloads are written to the file before the flush, so that the bucket can hold more fingerprints. It stays
	// set unless a write fails.
	ahead    bool
	wakeSent bool  // Wake was signalled for this bucket
	only     []key // see Options.Only
	// marked: a snapshot of this bucket is not yet written, so no later payload may be written.
	marked bool
}

func newBucket(bound int64) *bucket {
	return &bucket{
		bound:    bound,
		entries:  newDrawers(bound),
		payloads: payloads{chunks: chunkList{size: int(min(max(bound/32, chunkBytesMin), chunkBytesMax))}},
	}
}

// size returns the memory of the bucket. Memory of slabs is never used for anything else.
func (b *bucket) size() int64 { return b.entries.madeBytes() + b.payloads.chunks.used }

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
	return b.size() >= b.bound/4*3 && !b.marked && b.payloads.chunks.complete()
}

// add puts a fingerprint into its drawer and copies its payload.
func (b *bucket) add(k key, payload []byte) {
	arrival := uint64(b.payloads.arrivals)
	if b.payloads.add(k, payload) {
		b.trim()
	}
	b.entries.add(k, arrival)
}

// appendFiles appends the files of the bucket.
func (b *bucket) appendFiles(files []*storeFile) []*storeFile {
	for _, f := range []*storeFile{b.payloads.file, b.live.mask.file} {
		if f != nil {
			files = append(files, f)
		}
	}
	return files
}

// markSnapshot ends the last chunk, which separates the payloads of the snapshot from later ones.
func (b *bucket) markSnapshot() {
	b.payloads.chunks.seal()
	b.marked = true
}

// moveFirst removes the first chunk, which is now in the file.
func (b *bucket) moveFirst(fileBytes int64) {
	b.payloads.moveFirst(fileBytes)
	b.trim()
}

// trim frees unused buffers when entries need the memory.
func (b *bucket) trim() { b.payloads.chunks.trim(b.bound - b.entries.madeBytes()) }

// decide processes the drawers and leaves in each the new keys, sorted. It drops repeated keys and keys that a run
// contains. A drawer is either decided completely or unchanged. The current drawer, and the blocks for its keys, are in
// the processor's cache.
func (b *bucket) decide(runs []*run, ranks *byteRanks, st *FlushStats) error {
	b.live.addBits(b.payloads.arrivals)
	b.entries.distribute()
	var t sorter
	var lookups []*lookup
	for _, r := range runs {
		lookups = append(lookups, newLookup(r, b.entries.n, ranks))
	}
	defer func() {
		for _, l := range lookups {
			st.BlocksRead += l.w.blocks
			st.BytesRead += l.w.bytes
		}
	}()
	for b.decided < len(b.entries.all) {
		began := time.Now()
		t.load(&b.entries.all[b.decided], b.entries.shift)
		twice := t.dropRepeated()
		sorted := time.Now()
		known := 0
		for _, l := range lookups {
			if err := l.find(t.entries, t.hits); err != nil {
				return err
			}
			known += t.dropHits() // S1: a fingerprint that a committed flush stored is not emitted again
		}
		b.finishDrawer(&t)
		st.Duplicates += uint64(twice)
		st.Known += uint64(known)
		st.Sort += sorted.Sub(began)
		st.Lookup += time.Since(sorted)
	}
	return nil
}

// finishDrawer stores the entries that are left in the sorter in their drawer. Payloads of dropped entries are not
// emitted.
func (b *bucket) finishDrawer(t *sorter) {
	b.entries.replace(&b.entries.all[b.decided], t.entries)
	b.live.drop(t.dropped)
	b.decided++
}

// emittedStep is the number of emitted payloads after which unemitted is updated.
const emittedStep = 1024

// emit passes the live payloads to f in order of arrival. After an error, the payloads that f accepted are not live any
// more; the refused one is.
func (b *bucket) emit(f func(payload []byte) error) (n uint64, err error) {
	err = b.payloads.each(&b.live, func(i int, payload []byte) error {
		if err := f(payload); err != nil {
			return err
		}
		b.live.removeBit(i)
		if n++; n%emittedStep == 0 {
			b.live.unemitted.Add(-emittedStep)
		}
		return nil
	})
	b.live.unemitted.Add(-int64(n % emittedStep))
	return n, err
}

// check reads the payloads, compares their number with want, and compares it with the number of entries.
func (b *bucket) check(want int64) error {
	var n int64
	if err := b.payloads.each(&b.live, func(int, []byte) error { n++; return nil }); err != nil {
		return err
	}
	if n != want {
		return fmt.Errorf("%w: a bucket has %d payloads and counts %d", vfs.ErrCorrupt, n, want)
	}
	if b.stage < stageStored && int64(b.entries.n) != n {
		return fmt.Errorf("%w: a bucket has %d payloads for %d fingerprints", vfs.ErrCorrupt, n, b.entries.n)
	}
	return nil
}

// reset empties the bucket and keeps its memory, except entries beyond the bound.
func (b *bucket) reset() {
	b.payloads.chunks.empty()
	b.entries.empty()
	if most := b.bound / 8 * 7; b.ahead {
		b.entries.trim(most)
	} else if b.entries.madeBytes() > most {
		b.entries.trim(0) // payloads need memory too
	}
	*b = bucket{
		bound: b.bound, ahead: b.ahead,
		entries: b.entries, payloads: payloads{chunks: b.payloads.chunks},
	}
	b.trim()
}
