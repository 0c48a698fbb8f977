package sieve

const (
	// entryBytes is what an entry takes in a drawer.
	entryBytes = 12
	// sinceBits of an entry count its arrival from that of the first in its slab.
	sinceBits = 24
	sinceMask = 1<<sinceBits - 1
	// drawerMax is how many entries a drawer of a full bucket has at most, evenly spread: they are sorted and looked up in the
	// cache of one processor.
	drawerMax = 32 << 10

	slabHeader   = 48 // bytes of a slab that hold no entries
	slabBytesMax = 4 << 10
	slabBytesMin = 192
)

// packed is an entry as it lies in a drawer: hi in two words; lo and the arrival since the slab's first in the third.
type packed [3]uint32

func pack(k key, since uint64) packed {
	return packed{uint32(k.hi), uint32(k.hi >> 32), uint32(k.lo)<<sinceBits | uint32(since)}
}

func (p *packed) hi() uint64    { return uint64(p[0]) | uint64(p[1])<<32 }
func (p *packed) lo() uint8     { return uint8(p[2] >> sinceBits) }
func (p *packed) since() uint64 { return uint64(p[2] & sinceMask) }

// drawers hold the entries of a bucket, dealt out by the highest bits of their keys as they arrive: so the first and
// dearest pass of sorting is done when they are written, and all that follows stays in the cache. Keys that are not
// evenly spread are only slower.
type drawers struct {
	shift uint // hi >> shift is the number of a key's drawer
	all   []drawer
	// hand has entries that are not dealt out yet: many at a time go to many drawers faster than one by one, since nobody has
	// to wait until each has got there.
	hand      []entry
	slabLimit int // entries of a slab
	n         int // entries
	used      int // slabs with entries
	made      int // slabs with and without
	free      *slab
}

// drawer is a chain of slabs. Within a drawer entries are in order of arrival.
type drawer struct {
	first *slab
	last  *slab
	base  uint64   // of the last slab, and
	tail  []packed // its entries as of now: both lie here, where adding has to look anyway
}

// slab is a stretch of a drawer.
type slab struct {
	next    *slab
	base    uint64 // the arrival of its first entry
	entries []packed
}

// newDrawers makes drawers for so many bytes of entries.
func newDrawers(bytes int64) drawers {
	n, shift := 1, uint(64)
	for bytes/entryBytes/int64(n) > drawerMax {
		n, shift = 2*n, shift-1
	}
	limit := int(min(max(bytes/64, slabBytesMin), slabBytesMax)) / entryBytes
	return drawers{
		shift: shift, all: make([]drawer, n), hand: make([]entry, 0, limit),
		slabLimit: limit,
	}
}

func (d *drawers) slabBytes() int64 { return int64(d.slabLimit)*entryBytes + slabHeader }

// usedBytes is the memory of slabs with entries, madeBytes that of all.
func (d *drawers) usedBytes() int64 { return int64(d.used) * d.slabBytes() }
func (d *drawers) madeBytes() int64 { return int64(d.made) * d.slabBytes() }

// add takes one more entry. Arrivals ascend.
func (d *drawers) add(k key, arrival uint64) {
	d.hand = append(d.hand, newEntry(k, arrival))
	d.n++
	if len(d.hand) == cap(d.hand) {
		d.deal()
	}
}

// deal puts the entries at hand into their drawers.
func (d *drawers) deal() {
	for i := range d.hand {
		e := &d.hand[i]
		dr := &d.all[e.hi>>d.shift]
		since := e.arrival() - dr.base
		if len(dr.tail) == cap(dr.tail) || since > sinceMask {
			d.open(dr, e.arrival())
			since = 0
		}
		dr.tail = append(dr.tail, pack(e.key(), since))
	}
	d.hand = d.hand[:0]
}

// open begins one more slab of a drawer.
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
		dr.settle()
		dr.last.next = s
	}
	dr.last, dr.base, dr.tail = s, arrival, s.entries[:0]
}

// settle writes down in the last slab what it holds.
func (dr *drawer) settle() {
	if dr.last != nil {
		dr.last.entries = dr.tail
	}
}

// len counts the entries of a drawer that is settled.
func (dr *drawer) len() (n int) {
	for s := dr.first; s != nil; s = s.next {
		n += len(s.entries)
	}
	return n
}

// replace puts ascending keys in place of what a drawer has, of which there is at least as much. Nothing is added to
// it any more, and their arrivals are forgotten.
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

// empty takes all entries out and keeps their memory.
func (d *drawers) empty() {
	for i := range d.all {
		if dr := &d.all[i]; dr.last != nil {
			dr.last.next, d.free = d.free, dr.first
		}
	}
	clear(d.all)
	d.hand, d.n, d.used = d.hand[:0], 0, 0
}

// trim gives free slabs up, down to so many bytes of all.
func (d *drawers) trim(bytes int64) {
	for ; d.free != nil && d.madeBytes() > bytes; d.made-- {
		d.free = d.free.next
	}
}

// drawerSource gives the keys of drawers that are sorted.
type drawerSource struct {
	left []drawer
	slab *slab
	hi   []uint64
	lo   []uint8
}

func fromDrawers(d *drawers) *drawerSource {
	return &drawerSource{left: d.all, hi: make([]uint64, d.slabLimit), lo: make([]uint8, d.slabLimit)}
}

func (s *drawerSource) next() (keys, error) {
	for {
		for s.slab == nil {
			if len(s.left) == 0 {
				return keys{}, nil
			}
			s.slab, s.left = s.left[0].first, s.left[1:]
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
