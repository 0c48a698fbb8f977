package sieve

import (
	"fmt"
	"math/bits"
)

// tier returns how many of the runs, oldest first, stay as they are when n new keys come: the others are merged with
// the new ones. A run is merged when all that is younger has become nearly as large as it, so a key is rewritten only when
// its run all but doubles; and when there would be more than runsMax runs. Nearly: buckets are never quite equal, and a
// run that is larger by a little would be left alone, to be looked into for as long as it takes to double everything.
func tier(runs []*run, n uint64, runsMax int) int {
	kept := len(runs)
	for kept > 0 && (runs[kept-1].count <= n+n/4 || kept+1 > runsMax) {
		kept--
		n += runs[kept].count
	}
	return kept
}

// merge writes a new run of the entries and all keys of the given runs, which have none in common. If it fails its
// file is dropped and nothing has changed.
func (s *Sieve) merge(entries *drawers, runs []*run, st *FlushStats) (*run, error) {
	expected := uint64(entries.n)
	for _, r := range runs {
		expected += r.count
	}
	f, err := s.create(kindRun)
	if err != nil {
		return nil, err
	}
	w := newRunWriter(f, expected)
	r, err := writeAll(w, sideBySide(fromDrawers(entries), runs))
	st.BytesWritten += w.bytes
	if err != nil {
		s.drop(f)
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

// sideBySide gives the keys of a source and of runs, the largest first, in ascending order. They are taken in two by two, the
// small ones first: a key of a run that has half of all is compared once, one of a run that has a quarter twice.
func sideBySide(src source, runs []*run) source {
	for i := len(runs) - 1; i >= 0; i-- {
		src = &merger{a: src, b: fromRun(runs[i]), run: runs[i]}
	}
	return src
}

// mergerKeys is how many keys a merger gives at a time.
const mergerKeys = 1024

// merger gives the keys of two sources in ascending order. Two equal keys are a broken store: each fingerprint is
// written once.
type merger struct {
	a, b   source
	run    *run // b's
	ka, kb keys // of a and b, not given yet
	done   bool // one of the two has come to its end
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
		na, nb, twin := mergeKeys(out, m.ka, m.kb)
		if twin {
			k := m.ka.at(na)
			return keys{}, m.run.corrupt(0, fmt.Sprintf("key %016x%02x is in another run too", k.hi, k.lo))
		}
		m.ka, m.kb = m.ka.from(na), m.kb.from(nb)
		n += na + nb
	}
	return keys{hi: m.hi[:n], lo: m.lo[:n]}, nil
}

// fill sees to it that there are keys of both, or finds that one of them has no more.
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

// rest gives what is left of one source as it comes.
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

// mergeKeys merges until out is full or one of a and b is used up. It returns how many keys it took of each; twin says
// that the next of both are the same. Which of two is the less nobody can foretell, so nothing hangs on it but numbers.
func mergeKeys(out, a, b keys) (na, nb int, twin bool) {
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
