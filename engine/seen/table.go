package seen

import (
	"cmp"
	"math/bits"
	"slices"
)

const (
	// slotsPerDigest keeps the table half empty at most, so that a look-up of what is not there ends at once.
	slotsPerDigest = 2
	slotBytes      = 16
)

// slot is one digest: its hash and the offset of its entry. Offset 0 is the file's header, so it marks an empty slot.
type slot struct {
	hash   uint64
	offset int64
}

// table holds the newest digests: a multimap of fixed size from hash to offset. Slots are in the order of the hashes,
// except after collisions, so that the hashes of a segment lie together.
type table struct {
	slots []slot
	used  int
	limit int
}

func newTable(limit int) *table {
	return &table{slots: make([]slot, limit*slotsPerDigest), limit: limit}
}

func (t *table) full() bool { return t.used >= t.limit }

// home returns the preferred slot of a hash: the high word of the product, which ascends with the hash.
func (t *table) home(hash uint64) int {
	h, _ := bits.Mul64(hash, uint64(len(t.slots)))
	return int(h)
}

// appendOffsets appends the offsets of all entries with this hash.
func (t *table) appendOffsets(dst []int64, hash uint64) []int64 {
	for i := t.home(hash); t.slots[i].offset != 0; {
		if t.slots[i].hash == hash {
			dst = append(dst, t.slots[i].offset)
		}
		if i++; i == len(t.slots) {
			i = 0
		}
	}
	return dst
}

// insert adds an offset, which the table must not have. It must not be full.
func (t *table) insert(hash uint64, offset int64) {
	i := t.home(hash)
	for t.slots[i].offset != 0 {
		if i++; i == len(t.slots) {
			i = 0
		}
	}
	t.slots[i] = slot{hash: hash, offset: offset}
	t.used++
}

// appendSegment appends the slots of one segment, in the order of their hashes.
func (t *table) appendSegment(dst []slot, segment int) []slot {
	from := len(dst)
	i, end := t.home(uint64(segment)<<segmentShift), len(t.slots)
	if segment+1 < segments {
		end = t.home(uint64(segment+1) << segmentShift)
	}
	// What does not lie at home lies behind it, before the next empty slot.
	for n := 0; n < len(t.slots); n, i = n+1, i+1 {
		s := t.slots[i%len(t.slots)]
		if i >= end && s.offset == 0 {
			break
		}
		if s.offset != 0 && int(s.hash>>segmentShift) == segment {
			dst = append(dst, s)
		}
	}
	slices.SortFunc(dst[from:], slot.compare)
	return dst
}

// segmentCounts returns how many slots each segment has.
func (t *table) segmentCounts() *[segments]uint32 {
	var n [segments]uint32
	for _, s := range t.slots {
		if s.offset != 0 {
			n[s.hash>>segmentShift]++
		}
	}
	return &n
}

// compare orders by hash, and equal ones by age.
func (s slot) compare(t slot) int {
	if c := cmp.Compare(s.hash, t.hash); c != 0 {
		return c
	}
	return cmp.Compare(s.offset, t.offset)
}

func (t *table) clear() {
	clear(t.slots)
	t.used = 0
}
