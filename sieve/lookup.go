package sieve

// denseRatio: with at least one key asked for per so many blocks, reading on is cheaper than jumping.
const denseRatio = 8

// lookupBlocks is how many blocks a look-up then reads at a time: several runs are looked into by turns, and what was read
// of each should still be in the cache when it is its turn. A disk that turns is read ahead of by the system.
const lookupBlocks = 16

// lookup asks one run for ascending keys. Only blocks that may have one are looked at; if there are few of them the
// others are not even read, so that a small bucket costs little however large the store.
type lookup struct {
	w      window
	finder finder
	block  int // that the finder has; at first none, and it counts as 0
	ready  bool
	end    uint64 // every key of later blocks has at least this hi; of the last block it is the last key's
}

// newLookup is for n keys or so.
func newLookup(r *run, n int, ranks *byteRanks) *lookup {
	ahead := 1
	if n >= r.blocks()/denseRatio {
		ahead = lookupBlocks
	}
	return &lookup{w: newWindow(r, ahead), finder: finder{ranks: ranks}}
}

// ask sets the hit of each entry to 1 if the run has its key, else to 0. Entries ascend, from one call to the next too.
func (l *lookup) ask(entries []entry, hits []uint8) error {
	r := l.w.r
	for len(entries) > 0 {
		n := 0
		for l.ready && n < len(entries) && entries[n].hi < l.end {
			n++
		}
		if n == 0 { // the block must be changed, or is hard to tell from the next
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
				if err := l.look(b); err != nil {
					return err
				}
			}
		}
		l.finder.ask(entries[:n], hits[:n])
		entries, hits = entries[n:], hits[n:]
	}
	return nil
}

// look makes block b ready to be asked for keys. It verifies less than a source does: checksum, header and first key.
func (l *lookup) look(b int) error {
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
