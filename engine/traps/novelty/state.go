package novelty

import (
	"encoding/binary"
	"errors"
)

// The encoded state holds what a resume should not have to find again: a version; then for each group its hash, credit
// and counts, and the keys that are poor or independent. It does not hold the words of the sites.
const (
	stateVersion = 4
	stateMax     = 1 << 20 // bytes; groups beyond that are omitted
	countMax     = 1<<31 - 1
)

// ErrState is returned for bytes that are not an encoded state.
var ErrState = errors.New("novelty: invalid encoded state")

// AppendState appends the encoded state, at most about 1 MiB.
func (w *Detector) AppendState(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, stateVersion)
	for i := range w.shards {
		s := &w.shards[i]
		s.mu.Lock()
		for hash, g := range s.groups {
			if len(dst)-start < stateMax {
				dst = g.appendState(dst, hash)
			}
		}
		s.mu.Unlock()
	}
	return dst
}

// appendState appends nothing for a group without poor keys.
func (g *group) appendState(dst []byte, hash uint64) []byte {
	n, poor := 0, false
	for i := range g.entries {
		if e := &g.entries[i]; i == 0 || e.isWorthSaving() {
			n++
			poor = poor || e.isSuspicious() || e.delayed != (delayedCounts{})
		}
	}
	if !poor {
		return dst
	}
	dst = binary.LittleEndian.AppendUint64(dst, hash)
	for _, v := range []uint64{uint64(max(g.credit, 0)), uint64(g.newPages), uint64(n)} {
		dst = binary.AppendUvarint(dst, v)
	}
	for i := range g.entries {
		e := &g.entries[i]
		if i > 0 && !e.isWorthSaving() {
			continue
		}
		dst = binary.LittleEndian.AppendUint64(dst, e.key)
		for _, v := range []uint64{uint64(e.pages), uint64(e.newPages), uint64(e.pagesWithoutNew), uint64(e.flags)} {
			dst = binary.AppendUvarint(dst, v)
		}
		d := &e.delayed
		for _, v := range []uint32{d.fetched, d.foundEver, uint32(d.evidenceWindows), uint32(d.strongWindows),
			d.windowFetched, d.windowFound, d.windowNested, d.windowPages, d.windowNewPages, d.windowSamePages} {
			dst = binary.AppendUvarint(dst, uint64(v))
		}
	}
	return dst
}

// isWorthSaving reports whether an entry belongs in the encoded state.
func (e *entry) isWorthSaving() bool {
	return e.flags != 0 || e.isSuspicious() || e.delayed != (delayedCounts{})
}

// Load reads an encoded state into a new Detector. It borrows b. Empty bytes change nothing. The error is ErrState.
func (w *Detector) Load(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	if b[0] != stateVersion {
		return ErrState
	}
	r := stateReader{b: b[1:]}
	for len(r.b) > 0 && !r.invalid {
		hash := r.fixed64()
		g := &group{credit: int32(r.number()), newPages: r.number()}
		n := int(r.number())
		for range min(n, keysMax) {
			g.entries = append(g.entries, entry{
				key: r.fixed64(), pages: r.number(), newPages: r.number(), pagesWithoutNew: uint16(r.number()),
				flags: flags(r.number()),
				delayed: delayedCounts{
					fetched: r.number(), foundEver: r.number(), evidenceWindows: uint16(r.number()), strongWindows: uint16(r.number()),
					windowFetched: r.number(), windowFound: r.number(), windowNested: r.number(),
					windowPages: r.number(), windowNewPages: r.number(), windowSamePages: r.number(),
				},
			})
		}
		if r.invalid || n < 1 || n > keysMax || g.entries[0].key != hash {
			return ErrState
		}
		s := w.shard(Group(hash))
		s.mu.Lock()
		s.groups[hash] = g
		s.bytes += g.bytes()
		s.evict()
		s.mu.Unlock()
	}
	return nil
}

// stateReader reads numbers. After the first error, invalid stays true.
type stateReader struct {
	b       []byte
	invalid bool
}

func (r *stateReader) fixed64() uint64 {
	if len(r.b) < 8 {
		r.b, r.invalid = nil, true
		return 0
	}
	v := binary.LittleEndian.Uint64(r.b)
	r.b = r.b[8:]
	return v
}

// number reads a number below 2^31.
func (r *stateReader) number() uint32 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v >= 1<<31 {
		r.b, r.invalid = nil, true
		return 0
	}
	r.b = r.b[n:]
	return uint32(v)
}
