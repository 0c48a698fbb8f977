package novelty

import (
	"encoding/binary"
	"errors"
)

// The state is what a Watch has found poor, so that a resume need not find it again: version, and then for each group its hash, credit and
// counts, and its keys that are poor or stand alone. What sites have said is not in it.
const (
	stateVersion = 3
	stateMax     = 1 << 20 // bytes: what is beyond is left out
	countMax     = 1<<31 - 1
)

// ErrState says that the bytes are no state.
var ErrState = errors.New("novelty: a state that cannot be read")

// AppendState appends the state, of at most a MiB.
func (w *Watch) AppendState(dst []byte) []byte {
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

// appendState appends nothing of a group without anything poor.
func (g *group) appendState(dst []byte, hash uint64) []byte {
	n, poor := 0, false
	for i := range g.entries {
		if e := &g.entries[i]; i == 0 || e.matters() {
			n++
			poor = poor || e.suspicious() || e.late != (delayed{})
		}
	}
	if !poor {
		return dst
	}
	dst = binary.LittleEndian.AppendUint64(dst, hash)
	for _, v := range []uint64{uint64(max(g.credit, 0)), uint64(g.fresh), uint64(n)} {
		dst = binary.AppendUvarint(dst, v)
	}
	for i := range g.entries {
		e := &g.entries[i]
		if i > 0 && !e.matters() {
			continue
		}
		dst = binary.LittleEndian.AppendUint64(dst, e.key)
		alone := uint64(0)
		if e.alone {
			alone = 1
		}
		for _, v := range []uint64{uint64(e.read), uint64(e.fresh), uint64(e.stale), alone} {
			dst = binary.AppendUvarint(dst, v)
		}
		d := &e.late
		for _, v := range []uint32{d.fetched, d.led, uint32(d.streak), uint32(d.strong), d.taken, d.found, d.nested, d.read, d.fresh, d.same} {
			dst = binary.AppendUvarint(dst, uint64(v))
		}
	}
	return dst
}

// matters says that an entry is worth to be kept in the state.
func (e *entry) matters() bool { return e.alone || e.suspicious() || e.late != (delayed{}) }

// Load brings a state back, into a Watch that is new. An empty one changes nothing.
func (w *Watch) Load(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	if b[0] != stateVersion {
		return ErrState
	}
	r := stateReader{b: b[1:]}
	for len(r.b) > 0 && !r.bad {
		hash := r.fixed()
		g := &group{credit: int32(r.number()), fresh: r.number()}
		n := int(r.number())
		for range min(n, keysMax) {
			g.entries = append(g.entries, entry{
				key: r.fixed(), read: r.number(), fresh: r.number(), stale: uint16(r.number()), alone: r.number() != 0,
				late: delayed{
					fetched: r.number(), led: r.number(), streak: uint16(r.number()), strong: uint16(r.number()),
					taken: r.number(), found: r.number(), nested: r.number(), read: r.number(), fresh: r.number(), same: r.number(),
				},
			})
		}
		if r.bad || n < 1 || n > keysMax || g.entries[0].key != hash {
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

// stateReader reads numbers; its first fault sticks.
type stateReader struct {
	b   []byte
	bad bool
}

func (r *stateReader) fixed() uint64 {
	if len(r.b) < 8 {
		r.b, r.bad = nil, true
		return 0
	}
	v := binary.LittleEndian.Uint64(r.b)
	r.b = r.b[8:]
	return v
}

// number reads one that is below 2^31.
func (r *stateReader) number() uint32 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v >= 1<<31 {
		r.b, r.bad = nil, true
		return 0
	}
	r.b = r.b[n:]
	return uint32(v)
}
