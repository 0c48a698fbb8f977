package workbench

// index finds an id by the hash of its key. It is a hash table with linear probing, divided into shards so that growing
// takes little time. It contains no pointers: a slot is 32 bits of the hash and the id. Ids start at 1.
type index struct {
	shards [1 << shardBits]shard
}

const shardBits = 10

type shard struct {
	slots []uint64 // 0 is empty; the length is a power of two
	used  int
}

func (x *index) shard(hash uint64) *shard { return &x.shards[hash>>(64-shardBits)] }

// find returns the id with this hash for which same returns true, or 0.
func (x *index) find(hash uint64, same func(id uint32) bool) uint32 {
	s := x.shard(hash)
	if s.used == 0 {
		return 0
	}
	tag, mask := uint32(hash), uint32(len(s.slots)-1)
	for i := tag & mask; s.slots[i] != 0; i = (i + 1) & mask {
		if slot := s.slots[i]; uint32(slot>>32) == tag && same(uint32(slot)) {
			return uint32(slot)
		}
	}
	return 0
}

// add inserts an id that is not in the index.
func (x *index) add(hash uint64, id uint32) {
	s := x.shard(hash)
	if 4*(s.used+1) > 3*len(s.slots) {
		s.grow()
	}
	s.put(uint64(uint32(hash))<<32 | uint64(id))
	s.used++
}

func (s *shard) grow() {
	old := s.slots
	s.slots = make([]uint64, max(8, 2*len(old)))
	for _, slot := range old {
		if slot != 0 {
			s.put(slot)
		}
	}
}

func (s *shard) put(slot uint64) {
	mask := uint32(len(s.slots) - 1)
	i := uint32(slot>>32) & mask
	for s.slots[i] != 0 {
		i = (i + 1) & mask
	}
	s.slots[i] = slot
}

// remove removes an id and closes the gap, so that no tombstones accumulate.
func (x *index) remove(hash uint64, id uint32) {
	s := x.shard(hash)
	mask := uint32(len(s.slots) - 1)
	want := uint64(uint32(hash))<<32 | uint64(id)
	i := uint32(hash) & mask
	for s.slots[i] != want {
		if s.slots[i] == 0 {
			panic("BUG: workbench: index.remove of an id that is not there")
		}
		i = (i + 1) & mask
	}
	s.slots[i] = 0
	s.used--
	for j := (i + 1) & mask; s.slots[j] != 0; j = (j + 1) & mask {
		home := uint32(s.slots[j]>>32) & mask
		// The slot at j may move to the gap at i if its home is not between them.
		if (j-home)&mask >= (j-i)&mask {
			s.slots[i], s.slots[j] = s.slots[j], 0
			i = j
		}
	}
}
