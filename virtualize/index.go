package virtualize

// entry is one queue, 48 bytes. Entries contain no pointers, so the garbage collector does not scan them.
type entry struct {
	key      uint64
	first    uint64  // ordinal of the oldest item on disk, or of the next one to be written
	head     address // block with the oldest item; 0 if none is on disk
	tail     address // newest block
	disk     uint32  // items on disk
	bufTail  uint32  // newest record in the buffer, which points to the oldest
	buffered uint32  // items in the buffer
}

func (e *entry) items() uint64 { return uint64(e.disk) + uint64(e.buffered) }

const (
	chunkBits = 12
	chunkSize = 1 << chunkBits
	shardBits = 8
	noEntry   = ^uint32(0)
)

// index finds entries by key. It has many open-addressing tables of entry numbers, so that growing one takes little
// time. Entries are in chunks that never move.
type index struct {
	shards [1 << shardBits]shard
	chunks []*[chunkSize]entry
	free   []uint32 // numbers of deleted entries
	made   uint32   // numbers in use up to now, free ones included
	count  int
}

type shard struct {
	table []uint32 // noEntry, or an entry's number; the length is a power of two
	count int
}

// newIndex returns an index with memory for the given number of entries.
func newIndex(entries int) *index {
	x := &index{}
	size := 8
	for size*3 < entries>>shardBits*4 {
		size *= 2
	}
	for i := range x.shards {
		x.resize(&x.shards[i], size)
	}
	return x
}

// at returns an entry. The pointer is valid until the entry is removed.
func (x *index) at(id uint32) *entry { return &x.chunks[id>>chunkBits][id%chunkSize] }

// spread mixes the bits of a key, because keys may be counters.
func spread(key uint64) uint64 {
	key ^= key >> 32
	key *= 0x9e3779b97f4a7c15
	return key ^ key>>29
}

// home returns the table of a key and its preferred position there.
func (x *index) home(key uint64) (s *shard, at int) {
	mixed := spread(key)
	s = &x.shards[mixed>>(64-shardBits)]
	return s, int(mixed & uint64(len(s.table)-1))
}

func (x *index) find(key uint64) (id uint32, ok bool) {
	s, i := x.home(key)
	for ; ; i = (i + 1) & (len(s.table) - 1) {
		id = s.table[i]
		if id == noEntry || x.at(id).key == key {
			return id, id != noEntry
		}
	}
}

// insert adds a zero entry for a key that has none.
func (x *index) insert(key uint64) (id uint32) {
	if n := len(x.free); n > 0 {
		id, x.free = x.free[n-1], x.free[:n-1]
	} else {
		id = x.made
		x.made++
		if int(id>>chunkBits) == len(x.chunks) {
			x.chunks = append(x.chunks, new([chunkSize]entry))
		}
	}
	s, _ := x.home(key)
	if (s.count+1)*4 > len(s.table)*3 {
		x.resize(s, 2*len(s.table))
	}
	*x.at(id) = entry{key: key}
	x.place(id, key)
	s.count++
	x.count++
	return id
}

func (x *index) place(id uint32, key uint64) {
	s, i := x.home(key)
	for s.table[i] != noEntry {
		i = (i + 1) & (len(s.table) - 1)
	}
	s.table[i] = id
}

// remove removes an entry and closes the gap in its table.
func (x *index) remove(id uint32) {
	s, i := x.home(x.at(id).key)
	mask := len(s.table) - 1
	for s.table[i] != id {
		i = (i + 1) & mask
	}
	for j := (i + 1) & mask; s.table[j] != noEntry; j = (j + 1) & mask {
		// The entry at j may move into the gap unless its home is after the gap.
		if _, home := x.home(x.at(s.table[j]).key); (j-home)&mask >= (j-i)&mask {
			s.table[i] = s.table[j]
			i = j
		}
	}
	s.table[i] = noEntry
	s.count--
	*x.at(id) = entry{}
	x.free = append(x.free, id)
	x.count--
}

func (x *index) resize(s *shard, size int) {
	old := s.table
	s.table = make([]uint32, size)
	for i := range s.table {
		s.table[i] = noEntry
	}
	for _, id := range old {
		if id != noEntry {
			x.place(id, x.at(id).key)
		}
	}
}

// each calls f with every entry, by number, until it returns an error. f must not insert or remove.
func (x *index) each(f func(id uint32, e *entry) error) error {
	for id := range x.made {
		if e := x.at(id); e.items() > 0 {
			if err := f(id, e); err != nil {
				return err
			}
		}
	}
	return nil
}

// bytes returns the approximate memory of the index.
func (x *index) bytes() int64 {
	bytes := int64(cap(x.free))*4 + int64(len(x.chunks))*chunkSize*48
	for i := range x.shards {
		bytes += int64(len(x.shards[i].table)) * 4
	}
	return bytes
}
