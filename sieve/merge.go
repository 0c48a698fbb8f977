package sieve

import (
	"fmt"
	"math/bits"
)

// tier returns how many of the runs, oldest first, stay unchanged when n new keys are added. The others are merged with
// the new keys. A run is merged when all younger runs together are nearly as large, so a key is rewritten only when its
// run nearly doubles. It is also merged when there would be more than runsMax runs. "Nearly" matters because buckets
// are never exactly equal: otherwise a run that is a little larger would stay until everything has doubled, and cost
// lookups meanwhile.
func tier(runs []*run, n uint64, runsMax int) int {
	kept := len(runs)
	for kept > 0 && (runs[kept-1].count <= n+n/4 || kept+1 > runsMax) {
		kept--
		n += runs[kept].count
	}
	return kept
}

// merge writes a new run of the entries and all keys of the given runs, which must have no common keys. After an error
// the new file is dropped, and nothing has changed.
func (t *store) merge(entries *drawers, runs []*run, st *FlushStats) (*run, error) {
	expected := uint64(entries.n)
	for _, r := range runs {
		expected += r.count
	}
	f, err := t.files.create(kindRun)
	if err != nil {
		return nil, err
	}
	w := newRunWriter(f, expected)
	r, err := writeAll(w, mergeSources(fromDrawers(entries), runs))
	st.BytesWritten += w.bytes
	if err != nil {
		t.files.drop(f)
		return nil, err
	}
	for _, old := range runs {
		st.BlocksRead += uint64(old.blocks())
		st.BytesRead += int64(old.blocks()) * blockBytes
	}
	if r.count != expected {
		panic(fmt.Sprintf("BUG: S2: merged %d keys into %d", expected, r.count))
	}
	return r, nil
}

// writeAll copies a source into w.
func writeAll(w *runWriter, src source) (*run, error) {
	for {
		k, err := src.next()
		if err != nil {
			return nil, err
		}
		if k.len() == 0 {
			return w.finish()
		}
		if err := w.add(k); err != nil {
			return nil, err
		}
	}
}

// mergeSources returns the keys of a source and of runs, the largest run first, in ascending order. It merges two at a
// time, small ones first. A key of a run with half of all keys is compared once, a key of a run with a quarter twice.
func mergeSources(src source, runs []*run) source {
	for i := len(runs) - 1; i >= 0; i-- {
		src = &merger{a: src, b: fromRun(runs[i]), run: runs[i]}
	}
	return src
}

// mergerKeys is the number of keys that a merger returns at a time.
const mergerKeys = 1024

// merger returns the keys of two sources in ascending order. Two equal keys mean a corrupt store, because each
// fingerprint is written once.
type merger struct {
	a, b   source
	run    *run // the run of b
	ka, kb keys // next keys of a and b
	done   bool // one of the sources has ended
	hi     [mergerKeys]uint64
	lo     [mergerKeys]uint8
}

func (m *merger) next() (keys, error) {
	if m.done {
		return m.rest()
	}
	n := 0
	for n < mergerKeys {
		if err := m.fill(); err != nil {
			return keys{}, err
		}
		if m.done && n == 0 {
			return m.rest()
		}
		if m.done {
			break
		}
		out := keys{hi: m.hi[n:], lo: m.lo[n:]}
		na, nb, equal := mergeKeys(out, m.ka, m.kb)
		if equal {
			k := m.ka.at(na)
			return keys{}, m.run.corrupt(0, fmt.Sprintf("key %016x%02x is also in another run", k.hi, k.lo))
		}
		m.ka, m.kb = m.ka.from(na), m.kb.from(nb)
		n += na + nb
	}
	return keys{hi: m.hi[:n], lo: m.lo[:n]}, nil
}

// fill reads until there are keys of both sources or one has ended.
func (m *merger) fill() (err error) {
	if m.ka.len() == 0 {
		if m.ka, err = m.a.next(); err != nil {
			return err
		}
	}
	if m.kb.len() == 0 {
		if m.kb, err = m.b.next(); err != nil {
			return err
		}
	}
	m.done = m.ka.len() == 0 || m.kb.len() == 0
	return nil
}

// rest returns the remaining keys of the source that has not ended.
func (m *merger) rest() (k keys, err error) {
	switch {
	case m.ka.len() > 0:
		k, m.ka = m.ka, keys{}
		m.b = nil
	case m.kb.len() > 0:
		k, m.kb = m.kb, keys{}
		m.a = nil
	case m.a != nil:
		k, err = m.a.next()
	case m.b != nil:
		k, err = m.b.next()
	}
	return k, err
}

// mergeKeys merges until out is full or a or b is used up. It returns the numbers of keys used from a and b; equal
// reports that their next keys are equal. The comparison results are unpredictable, so the loop avoids branches on
// them.
func mergeKeys(out, a, b keys) (na, nb int, equal bool) {
	i, j, n := 0, 0, 0
	ahi, alo, bhi, blo := a.hi, a.lo[:len(a.hi)], b.hi, b.lo[:len(b.hi)]
	ohi, olo := out.hi, out.lo[:len(out.hi)]
	for i < len(ahi) && j < len(bhi) && n < len(ohi) {
		x, y := ahi[i], bhi[j]
		less := below(x, y)
		if x == y {
			if alo[i] == blo[j] {
				return i, j, true
			}
			less = below(uint64(alo[i]), uint64(blo[j]))
		}
		ohi[n] = y ^ (x^y)&-less
		olo[n] = blo[j] ^ (alo[i]^blo[j])&uint8(-less)
		i += int(less)
		j += int(less ^ 1)
		n++
	}
	return i, j, false
}

// below returns 1 if a < b, else 0.
func below(a, b uint64) uint64 {
	_, borrow := bits.Sub64(a, b, 0)
	return borrow
}
