package sieve

const (
	// entryBytes is the size of an entry in a drawer.
	entryBytes = 12
	// offsetBits bits of an entry are its number of arrival, counted from the first entry of its slab.
	offsetBits = 24
	offsetMask = 1<<offsetBits - 1
	// drawerMax is the most entries of a drawer in a full bucket, if keys are spread evenly. They are sorted and looked
	// up within the cache of one processor.
	drawerMax = 32 << 10

	slabHeader   = 48 // bytes of a slab besides its entries
	slabBytesMax = 4 << 10
	slabBytesMin = 192
)

// packed is an entry in a drawer. The first two words are hi. The third word is lo and the arrival, counted from the
// first entry of the slab.
type packed [3]uint32

func pack(k key, since uint64) packed {
	return packed{uint32(k.hi), uint32(k.hi >> 32), uint32(k.lo)<<offsetBits | uint32(since)}
}

func (p *packed) hi() uint64            { return uint64(p[0]) | uint64(p[1])<<32 }
func (p *packed) lo() uint8             { return uint8(p[2] >> offsetBits) }
func (p *packed) arrivalOffset() uint64 { return uint64(p[2] & offsetMask) }

// drawers hold the entries of a bucket, distributed by the highest bits of their keys. So the first and most expensive
// pass of sorting happens when they are added, and the rest stays in the processor's cache. Keys that are not spread
// evenly are only slower.
type drawers struct {
	shift uint // hi >> shift is the number of the drawer of a key
	all   []drawer
	// buffer has entries that are not distributed yet. Distributing many entries together is faster, because their
	// memory accesses overlap.
	buffer    []entry
	slabLimit int // entries per slab
	n         int // number of entries
	used      int // slabs with entries
	made      int // slabs with and without entries
	free      *slab
}

// drawer is a list of slabs. Its entries are in order of arrival.
type drawer struct {
	first *slab
	last  *slab
	base  uint64   // base of the last slab
	tail  []packed // current entries of the last slab, copied here to avoid one more memory access
}

// slab is a part of a drawer.
type slab struct {
	next    *slab
	base    uint64 // number of arrival of its first entry
	entries []packed
}

// newDrawers returns drawers for the given number of bytes of entries.
func newDrawers(bytes int64) drawers {
	n, shift := 1, uint(64)
	for bytes/entryBytes/int64(n) > drawerMax {
		n, shift = 2*n, shift-1
	}
	limit := int(min(max(bytes/64, slabBytesMin), slabBytesMax)) / entryBytes
	return drawers{
		shift: shift, all: make([]drawer, n), buffer: make([]entry, 0, limit),
		slabLimit: limit,
	}
}

func (d *drawers) slabBytes() int64 { return int64(d.slabLimit)*entryBytes + slabHeader }

// usedBytes is the memory of slabs with entries, madeBytes that of all slabs.
func (d *drawers) usedBytes() int64 { return int64(d.used) * d.slabBytes() }
func (d *drawers) madeBytes() int64 { return int64(d.made) * d.slabBytes() }

// add adds an entry. Arrivals must ascend.
func (d *drawers) add(k key, arrival uint64) {
	d.buffer = append(d.buffer, newEntry(k, arrival))
	d.n++
	if len(d.buffer) == cap(d.buffer) {
		d.distribute()
	}
}

// distribute moves the entries of the buffer into their drawers.
func (d *drawers) distribute() {
	for i := range d.buffer {
		e := &d.buffer[i]
		dr := &d.all[e.hi>>d.shift]
		since := e.arrival() - dr.base
		if len(dr.tail) == cap(dr.tail) || since > offsetMask {
			d.open(dr, e.arrival())
			since = 0
		}
		dr.tail = append(dr.tail, pack(e.key(), since))
	}
	d.buffer = d.buffer[:0]
}

// open appends a slab to a drawer.
func (d *drawers) open(dr *drawer, arrival uint64) {
	s := d.free
	if s != nil {
		d.free, s.next = s.next, nil
	} else {
		s = &slab{entries: make([]packed, 0, d.slabLimit)}
		d.made++
	}
	d.used++
	s.base = arrival
	if dr.last == nil {
		dr.first = s
	} else {
		dr.storeTail()
		dr.last.next = s
	}
	dr.last, dr.base, dr.tail = s, arrival, s.entries[:0]
}

// storeTail copies the current entries to the last slab.
func (dr *drawer) storeTail() {
	if dr.last != nil {
		dr.last.entries = dr.tail
	}
}

// has reports whether a key was added. It reads the buffer and one drawer.
func (d *drawers) has(k key) bool {
	for i := range d.buffer {
		if d.buffer[i].key() == k {
			return true
		}
	}
	same := func(entries []packed) bool {
		for i := range entries {
			if entries[i].hi() == k.hi && entries[i].lo() == k.lo {
				return true
			}
		}
		return false
	}
	dr := &d.all[k.hi>>d.shift]
	for s := dr.first; s != nil; s = s.next {
		if s != dr.last && same(s.entries) {
			return true
		}
	}
	return same(dr.tail)
}

// len returns the number of entries of a drawer. storeTail must have been called.
func (dr *drawer) len() (n int) {
	for s := dr.first; s != nil; s = s.next {
		n += len(s.entries)
	}
	return n
}

// replace replaces the entries of a drawer by ascending keys, which must not be more. Later the drawer is only read,
// and without the arrivals.
func (d *drawers) replace(dr *drawer, by []entry) {
	d.n -= dr.len() - len(by)
	for s := dr.first; s != nil; s = s.next {
		n := min(len(by), cap(s.entries))
		s.entries = s.entries[:n]
		for i := range s.entries {
			s.entries[i] = pack(by[i].key(), 0)
		}
		by = by[n:]
	}
	if len(by) > 0 {
		panic("BUG: S2: more keys than a drawer had")
	}
}

// empty removes all entries and keeps their memory.
func (d *drawers) empty() {
	for i := range d.all {
		if dr := &d.all[i]; dr.last != nil {
			dr.last.next, d.free = d.free, dr.first
		}
	}
	clear(d.all)
	d.buffer, d.n, d.used = d.buffer[:0], 0, 0
}

// trim frees unused slabs until all slabs take at most the given number of bytes.
func (d *drawers) trim(bytes int64) {
	for ; d.free != nil && d.madeBytes() > bytes; d.made-- {
		d.free = d.free.next
	}
}

// drawerSource returns the keys of sorted drawers.
type drawerSource struct {
	remaining []drawer
	slab      *slab
	hi        []uint64
	lo        []uint8
}

func fromDrawers(d *drawers) *drawerSource {
	return &drawerSource{remaining: d.all, hi: make([]uint64, d.slabLimit), lo: make([]uint8, d.slabLimit)}
}

func (s *drawerSource) next() (keys, error) {
	for {
		for s.slab == nil {
			if len(s.remaining) == 0 {
				return keys{}, nil
			}
			s.slab, s.remaining = s.remaining[0].first, s.remaining[1:]
		}
		e := s.slab.entries
		s.slab = s.slab.next
		if len(e) > 0 {
			out := keys{hi: s.hi[:len(e)], lo: s.lo[:len(e)]}
			for i := range e {
				out.hi[i], out.lo[i] = e[i].hi(), e[i].lo()
			}
			return out, nil
		}
	}
}
