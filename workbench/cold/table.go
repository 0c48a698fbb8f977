package cold

import "github.com/zeebo/xxh3"

// table finds positions by the hash of a key. It is a hash table with linear probing, divided into 1,024 shards so that
// growing takes little time. A slot is 26 bits of the hash and 38 bits of position; 10 more bits of the hash select the
// shard. The slots of a shard are ordered by hash, so a shard can have any size and grows by a quarter.
type table struct {
	shards [1 << shardBits]shard
	used   int
}

const (
	shardBits = 10
	tagBits   = 26
	placeBits = 64 - tagBits
	placeMask = 1<<placeBits - 1
	shardMin  = 8
)

// segmentsMax is the largest number of files of a log: a slot of the table has this many numbers.
const segmentsMax = 1 << (placeBits - offsetBits)

const offsetBits = 23 // bits of an offset, in units of recordAlign

// placeOf encodes a position for the table.
func placeOf(p Position) uint64 {
	return uint64(p.Segment)%segmentsMax<<offsetBits | uint64(p.Offset)/recordAlign
}

type shard struct {
	slots []uint64 // 0 is empty
	used  int
}

func (t *table) shard(hash uint64) *shard { return &t.shards[hash>>(64-shardBits)] }

// tagOf returns the part of a hash that a slot contains, at its position in the slot.
func tagOf(hash uint64) uint64 { return hash << shardBits >> placeBits << placeBits }

func (s *shard) home(slot uint64) int {
	return int(slot >> placeBits * uint64(len(s.slots)) >> tagBits)
}

func (s *shard) next(i int) int {
	if i++; i < len(s.slots) {
		return i
	}
	return 0
}

// find appends the possible positions of a key with this hash.
func (t *table) find(hash uint64, dst []uint64) []uint64 {
	s := t.shard(hash)
	if s.used == 0 {
		return dst
	}
	tag := tagOf(hash)
	for i := s.home(tag); s.slots[i] != 0; i = s.next(i) {
		if s.slots[i]&^placeMask == tag {
			dst = append(dst, s.slots[i]&placeMask)
		}
	}
	return dst
}

// at returns the index of the slot, or -1.
func (s *shard) at(slot uint64) int {
	if s.used == 0 {
		return -1
	}
	for i := s.home(slot); s.slots[i] != 0; i = s.next(i) {
		if s.slots[i] == slot {
			return i
		}
	}
	return -1
}

func (t *table) has(hash, place uint64) bool { return t.shard(hash).at(tagOf(hash)|place) >= 0 }

// add inserts a position, which must not be 0.
func (t *table) add(hash, place uint64) {
	s := t.shard(hash)
	if 5*(s.used+1) > 4*len(s.slots) {
		s.resize(max(shardMin, len(s.slots)+len(s.slots)/4))
	}
	s.put(tagOf(hash) | place)
	s.used++
	t.used++
}

func (s *shard) resize(n int) {
	old := s.slots
	s.slots = make([]uint64, n)
	for _, slot := range old {
		if slot != 0 {
			s.put(slot)
		}
	}
}

func (s *shard) put(slot uint64) {
	i := s.home(slot)
	for s.slots[i] != 0 {
		i = s.next(i)
	}
	s.slots[i] = slot
}

// replace replaces a position and reports whether the old one was there.
func (t *table) replace(hash, old, place uint64) bool {
	s := t.shard(hash)
	i := s.at(tagOf(hash) | old)
	if i >= 0 {
		s.slots[i] = tagOf(hash) | place
	}
	return i >= 0
}

// remove removes a position, closes the gap, and reports whether it was there. A shard that is nearly empty releases
// memory.
func (t *table) remove(hash, place uint64) bool {
	s := t.shard(hash)
	i := s.at(tagOf(hash) | place)
	if i < 0 {
		return false
	}
	s.slots[i] = 0
	for j := s.next(i); s.slots[j] != 0; j = s.next(j) {
		// The slot at j may move to the gap at i if its home is not between them.
		if s.distance(s.home(s.slots[j]), j) >= s.distance(i, j) {
			s.slots[i], s.slots[j] = s.slots[j], 0
			i = j
		}
	}
	s.used--
	t.used--
	if n := len(s.slots); n > shardMin && 5*s.used < 2*n {
		s.resize(max(shardMin, n/2+1))
	}
	return true
}

// distance returns the number of steps from one slot to another.
func (s *shard) distance(from, to int) int {
	if to >= from {
		return to - from
	}
	return to - from + len(s.slots)
}

// bytes returns the memory of the table.
func (t *table) bytes() (n int64) {
	for i := range t.shards {
		n += int64(8 * cap(t.shards[i].slots))
	}
	return n
}

// hosts finds the hosts of a store in its log, and has the sums that a checkpoint contains.
type hosts struct {
	seed  uint64
	table table
	sum   uint64 // of the hashes of all hosts
	bytes int64  // of their records
}

// hash returns the hash by which a key is found.
func (h *hosts) hash(key []byte) uint64 { return xxh3.HashSeed(key, h.seed) }

// has reports whether the record at p is that of a host.
func (h *hosts) has(hash uint64, p Position) bool { return h.table.has(hash, placeOf(p)) }

// add adds a host whose record is at p.
func (h *hosts) add(hash uint64, p Position, size int64) {
	h.table.add(hash, placeOf(p))
	h.sum += hash
	h.bytes += size
}

// remove removes a host and reports whether it was there.
func (h *hosts) remove(hash uint64, p Position, size int64) bool {
	if !h.table.remove(hash, placeOf(p)) {
		return false
	}
	h.sum -= hash
	h.bytes -= size
	return true
}

// move changes the position of a host.
func (h *hosts) move(hash uint64, from, to Position) {
	h.table.replace(hash, placeOf(from), placeOf(to))
}
