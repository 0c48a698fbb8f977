package dedup

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

// tables are the two tables of the newest digests. Each digest that is in no run is in one of them. The Map's mu guards
// them.
type tables struct {
	limit     int // digests of one table
	filling   *table
	frozen    *table // full; being merged into the runs. nil: nothing is due
	frozenEnd int64  // end of its entries
	spare     *table // empty, to be filled next
	epoch     uint64 // counts the tables that have become part of a run
}

func newTables(limit int) tables { return tables{limit: limit, filling: newTable(limit)} }

// appendOffsets appends the offsets of all entries with this hash.
func (t *tables) appendOffsets(dst []int64, hash uint64) []int64 {
	dst = t.filling.appendOffsets(dst, hash)
	if t.frozen != nil {
		dst = t.frozen.appendOffsets(dst, hash)
	}
	return dst
}

// freeze makes the full table the one to be merged. end is the end of its entries. There must be no frozen table.
func (t *tables) freeze(end int64) {
	t.frozen, t.frozenEnd = t.filling, end
	if t.filling, t.spare = t.spare, nil; t.filling == nil {
		t.filling = newTable(t.limit)
	}
}

// release ends the use of the frozen table, whose entries are in a run, and returns it.
func (t *tables) release() *table {
	merged := t.frozen
	t.frozen = nil
	t.epoch++
	return merged
}

// recycle takes an empty table to be filled later.
func (t *tables) recycle(empty *table) {
	if t.spare == nil && empty.limit == t.limit {
		t.spare = empty
	}
}

// budget is what the two tables take in memory, in bytes.
func (t *tables) budget() int64 { return 2 * int64(t.limit*slotsPerDigest*slotBytes) }

// memory is what the tables take now.
func (t *tables) memory() (n int64) {
	for _, one := range []*table{t.filling, t.frozen, t.spare} {
		if one != nil {
			n += int64(len(one.slots)) * slotBytes
		}
	}
	return n
}
