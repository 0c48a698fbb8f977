package sieve

import "fmt"

// denseRatio: with at least one key asked for per so many blocks, reading on is cheaper than jumping.
const denseRatio = 8

// joinRatio: with at least one key asked for per so many of the run, decoding all is cheaper than looking each up.
const joinRatio = 3

// markKnown sets the bit of each entry that the run has. Entries ascend. Only blocks that may have one are looked at; if
// there are few of them the others are not even read, so that a small bucket costs little however large the store.
func markKnown(r *run, entries []entry, known []uint64, st *FlushStats) error {
	if uint64(len(entries))*joinRatio >= r.count {
		return joinKnown(r, entries, known, st)
	}
	ahead := 1
	if len(entries) >= r.blocks()/denseRatio {
		ahead = windowBlocks
	}
	var w window
	w.reset(r, ahead)
	defer func() {
		st.BlocksRead += w.blocks
		st.BytesRead += w.bytes
	}()
	b := 0
	for i := 0; i < len(entries); {
		k := entries[i].key()
		if r.last.less(k) {
			return nil
		}
		if b = r.block(k, b); b < 0 {
			b = 0
			i++
			continue
		}
		if err := w.look(b); err != nil {
			return err
		}
		end, last := r.last, b+1 == r.blocks()
		if !last {
			end = r.first(b + 1)
		}
		for ; i < len(entries); i++ {
			k := entries[i].key()
			if !k.less(end) && (!last || k != end) {
				break
			}
			known[i/64] |= w.finder.has(k) << (i % 64)
		}
	}
	return nil
}

// joinKnown does what markKnown does by reading run and entries side by side.
func joinKnown(r *run, entries []entry, known []uint64, st *FlushStats) error {
	var w window
	w.reset(r, windowBlocks)
	defer func() {
		st.BlocksRead += w.blocks
		st.BytesRead += w.bytes
	}()
	i := 0
	for b := 0; b < r.blocks() && i < len(entries); b++ {
		if err := w.load(b); err != nil {
			return err
		}
		hi, lo := w.keys.hi[:w.keys.n], w.keys.lo[:w.keys.n]
		for at := 0; i < len(entries); i++ {
			k := entries[i].key()
			for at < len(hi) && (hi[at] < k.hi || hi[at] == k.hi && lo[at] < k.lo) {
				at++
			}
			if at == len(hi) {
				break // the next block may have it
			}
			if hi[at] == k.hi && lo[at] == k.lo {
				known[i/64] |= 1 << (i % 64)
			}
		}
	}
	return nil
}

// tier returns how many of the runs, oldest first, stay as they are when n new keys come: the others are merged with
// the new ones. A run is merged when all that is younger has become as large as it, so a key is rewritten only when
// its run at least doubles; and when there would be more than runsMax runs.
func tier(runs []*run, n uint64, runsMax int) int {
	kept := len(runs)
	for kept > 0 && (runs[kept-1].count <= n || kept+1 > runsMax) {
		kept--
		n += runs[kept].count
	}
	return kept
}

// merge writes a new run of the entries and all keys of the given runs, which have none in common. If it fails its
// file is dropped and nothing has changed.
func (s *Sieve) merge(entries []entry, runs []*run, st *FlushStats) (*run, error) {
	sources := []*source{fromEntries(entries)}
	expected := uint64(len(entries))
	for _, r := range runs {
		src, err := fromRun(r)
		if err != nil {
			return nil, err
		}
		sources = append(sources, src)
		expected += r.count
	}
	f, err := s.create(kindRun)
	if err != nil {
		return nil, err
	}
	w := newRunWriter(f, expected)
	r, err := writeMerged(w, sources)
	st.BytesWritten += w.bytes
	for _, src := range sources[1:] {
		st.BlocksRead += src.w.blocks
		st.BytesRead += src.w.bytes
	}
	if err != nil {
		s.drop(f)
		return nil, err
	}
	if r.count != expected {
		panic(fmt.Sprintf("BUG: S2: merged %d keys into %d", expected, r.count))
	}
	return r, nil
}

// writeMerged copies the sources into w in ascending order. Two equal keys are a broken store: each fingerprint is
// written once.
func writeMerged(w *runWriter, sources []*source) (*run, error) {
	for {
		least, bound := leastTwo(sources)
		if least == nil {
			return w.finish()
		}
		// As long as one source stays below all others there is nothing to compare.
		for least.ok && (bound == nil || least.cur.less(bound.cur)) {
			if err := w.add(least.cur); err != nil {
				return nil, err
			}
			if err := least.advance(); err != nil {
				return nil, err
			}
		}
		if least.ok && least.cur == bound.cur {
			return nil, &CorruptError{File: w.file.Name(), What: "two runs have the same key"}
		}
	}
}

// leastTwo returns the source with the least key, and the one with the next; nil where there is none.
func leastTwo(sources []*source) (least, second *source) {
	for _, s := range sources {
		switch {
		case !s.ok:
		case least == nil || s.cur.less(least.cur):
			least, second = s, least
		case second == nil || s.cur.less(second.cur):
			second = s
		}
	}
	return least, second
}
