package seen

import "math/bits"

const (
	parts       = 256
	partShift   = 56
	slotsFirst  = 8
	slotBytes   = 16
	loadPercent = 85
)

// slot is one digest: the hash of all its bytes and where its entry begins. Offset 0 is the file's magic, so it marks
// an empty slot.
type slot struct {
	hash   uint64
	offset int64
}

// part is an open-addressing table with linear probing for the hashes with one high byte.
type part struct {
	slots []slot
	used  int
}

// table is a multimap from hash to offset: two digests with one hash are possible, if not to be expected.
type table struct {
	parts [parts]part
	count uint64
	slots uint64
}

// home is the slot a hash would like: the product's high word, so that any number of slots will do.
func (p *part) home(hash uint64) int {
	h, _ := bits.Mul64(hash<<(64-partShift), uint64(len(p.slots)))
	return int(h)
}

// appendOffsets appends the offsets of all entries with this hash.
func (t *table) appendOffsets(dst []int64, hash uint64) []int64 {
	p := &t.parts[hash>>partShift]
	if p.used == 0 {
		return dst
	}
	for i := p.home(hash); p.slots[i].offset != 0; {
		if p.slots[i].hash == hash {
			dst = append(dst, p.slots[i].offset)
		}
		if i++; i == len(p.slots) {
			i = 0
		}
	}
	return dst
}

// insert adds an offset, which the table must not have.
func (t *table) insert(hash uint64, offset int64) {
	p := &t.parts[hash>>partShift]
	if (p.used+1)*100 > len(p.slots)*loadPercent {
		t.slots += uint64(p.grow())
	}
	p.put(slot{hash: hash, offset: offset})
	p.used++
	t.count++
}

func (p *part) put(s slot) {
	i := p.home(s.hash)
	for p.slots[i].offset != 0 {
		if i++; i == len(p.slots) {
			i = 0
		}
	}
	p.slots[i] = s
}

// grow makes the part a quarter larger and returns by how many slots.
func (p *part) grow() int {
	old := p.slots
	p.slots = make([]slot, max(slotsFirst, len(old)+len(old)/4))
	for _, s := range old {
		if s.offset != 0 {
			p.put(s)
		}
	}
	return len(p.slots) - len(old)
}
