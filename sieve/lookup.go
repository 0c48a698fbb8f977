package sieve

// denseRatio is the number of blocks per key up to which reading all blocks is cheaper than reading single blocks.
const denseRatio = 8

// lookupBlocks is the number of blocks per read in this case. The lookups of several runs alternate, and the blocks of
// each should stay in the cache until its next turn. For rotating disks the system reads ahead.
const lookupBlocks = 16

// lookup looks up ascending keys in one run. It examines only blocks that may contain a key. If these are few, the
// others are not read, so that a small bucket costs little with any size of the store.
type lookup struct {
	w      window
	finder finder
	block  int // block of the finder; 0 at first, when none is loaded
	ready  bool
	end    uint64 // every key of later blocks has at least this hi; for the last block it is the hi of the last key
}

// newLookup returns a lookup for about n keys.
func newLookup(r *run, n int, ranks *byteRanks) *lookup {
	ahead := 1
	if n >= r.blocks()/denseRatio {
		ahead = lookupBlocks
	}
	return &lookup{w: newWindow(r, ahead), finder: finder{ranks: ranks}}
}

// find sets the hit of each entry to 1 if the run has its key, else to 0. Entries must ascend, also from one call to
// the next.
func (l *lookup) find(entries []entry, hits []uint8) error {
	r := l.w.r
	for len(entries) > 0 {
		n := 0
		for l.ready && n < len(entries) && entries[n].hi < l.end {
			n++
		}
		if n == 0 { // another block may be needed
			k := entries[0].key()
			if r.last.less(k) {
				clear(hits[:len(entries)])
				return nil
			}
			n = 1
			b := r.block(k, l.block)
			if b < 0 {
				hits[0] = 0
				entries, hits = entries[1:], hits[1:]
				continue
			}
			if b != l.block || !l.ready {
				if err := l.loadBlock(b); err != nil {
					return err
				}
			}
		}
		l.finder.find(entries[:n], hits[:n])
		entries, hits = entries[n:], hits[n:]
	}
	return nil
}

// loadBlock reads block b for lookups. It verifies only checksum, header and first key.
func (l *lookup) loadBlock(b int) error {
	r := l.w.r
	l.ready = false
	src, err := l.w.fetch(b)
	if err != nil {
		return err
	}
	head, fault := readHead(src, uint32(b))
	if fault == "" && head.first(src) != r.first(b) {
		fault = "block does not agree with the index"
	}
	if fault != "" {
		return r.corrupt(int64(b)*blockBytes, fault)
	}
	l.finder.reset(src, head)
	l.block, l.ready, l.end = b, true, r.last.hi
	if b+1 < r.blocks() {
		l.end = r.firstHi[b+1]
	}
	return nil
}
