package virtualize

// entry is one queue. Entries hold no pointers, so the garbage collector does not look at them.
type entry struct {
	key      uint64
	first    uint64  // ordinal of the oldest item on disk, or of the next one to be written
	head     address // of the block with the oldest item; 0 if none is on disk
	tail     address // of the newest block
	disk     uint32  // items on disk
	headByte uint32  // where in the head block's payload the oldest item begins
	bufTail  uint32  // newest record in the buffer, which points to the oldest
	buffered uint32  // items in the buffer
}

const (
	chunkBits = 12
	chunkSize = 1 << chunkBits
	noEntry   = ^uint32(0)
)

// index finds entries by key: an open-addressing table of entry numbers over entries in chunks that never move.
type index struct {
	table  []uint32 // noEntry, or an entry's number; the length is a power of two
	chunks []*[chunkSize]entry
	free   []uint32 // numbers of removed entries
	made   uint32   // numbers given out, free ones included
	count  int
}

// newIndex makes room for so many entries at once. That matters when they come in the order of another table: that is
// the order of their homes, and a table that grows under them would be one long row of neighbours each time.
func newIndex(entries int) index {
	size := 64
	for size*3 < entries*4 {
		size *= 2
	}
	x := index{}
	x.resize(size)
	return x
}

// at returns an entry by number. The pointer is good until the entry is removed.
func (x *index) at(id uint32) *entry { return &x.chunks[id>>chunkBits][id%chunkSize] }

// home is the preferred place of a key: keys may be counters or hashes, so they are mixed.
func (x *index) home(key uint64) int {
	key ^= key >> 32
	key *= 0x9e3779b97f4a7c15
	key ^= key >> 29
	return int(key & uint64(len(x.table)-1))
}

func (x *index) find(key uint64) (id uint32, ok bool) {
	for i := x.home(key); ; i = (i + 1) & (len(x.table) - 1) {
		id = x.table[i]
		if id == noEntry || x.at(id).key == key {
			return id, id != noEntry
		}
	}
}

// insert makes a zero entry for a key that has none.
func (x *index) insert(key uint64) (id uint32) {
	if (x.count+1)*4 > len(x.table)*3 {
		x.resize(2 * len(x.table))
	}
	if n := len(x.free); n > 0 {
		id, x.free = x.free[n-1], x.free[:n-1]
	} else {
		id = x.made
		x.made++
		if int(id>>chunkBits) == len(x.chunks) {
			x.chunks = append(x.chunks, new([chunkSize]entry))
		}
	}
	*x.at(id) = entry{key: key}
	x.place(id, key)
	x.count++
	return id
}

func (x *index) place(id uint32, key uint64) {
	i := x.home(key)
	for x.table[i] != noEntry {
		i = (i + 1) & (len(x.table) - 1)
	}
	x.table[i] = id
}

// remove forgets an entry and closes the gap behind it.
func (x *index) remove(id uint32) {
	mask := len(x.table) - 1
	i := x.home(x.at(id).key)
	for x.table[i] != id {
		i = (i + 1) & mask
	}
	for j := (i + 1) & mask; x.table[j] != noEntry; j = (j + 1) & mask {
		// What lies at j may move into the gap unless its home lies behind the gap.
		if home := x.home(x.at(x.table[j]).key); (j-home)&mask >= (j-i)&mask {
			x.table[i] = x.table[j]
			i = j
		}
	}
	x.table[i] = noEntry
	*x.at(id) = entry{}
	x.free = append(x.free, id)
	x.count--
}

func (x *index) resize(size int) {
	old := x.table
	x.table = make([]uint32, size)
	for i := range x.table {
		x.table[i] = noEntry
	}
	for _, id := range old {
		if id != noEntry {
			x.place(id, x.at(id).key)
		}
	}
}

// each calls f with every entry, in no order, until it returns an error. f must not insert or remove.
func (x *index) each(f func(id uint32, e *entry) error) error {
	for _, id := range x.table {
		if id != noEntry {
			if err := f(id, x.at(id)); err != nil {
				return err
			}
		}
	}
	return nil
}

// bytes is about how much memory the index takes.
func (x *index) bytes() int64 {
	return int64(len(x.table)+cap(x.free))*4 + int64(len(x.chunks))*chunkSize*48
}
