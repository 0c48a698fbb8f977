package virtualize

import "encoding/binary"

// buffer holds the newest items of all queues until there is enough to write. Each queue's records form a ring, from
// the newest, which its entry knows, to the oldest and on. There are two halves: while the one fills up the other one is
// written, a little with each item; the space of a half is given back all at once.
//
//	record:  next u32 | length u32 | item
//
// A record's place is its offset in its half, and the top bit says which half.
type buffer struct {
	halves [2]half
	now    int // the half that is being filled
	limit  int // bytes of a half
	items  uint64
}

type half struct {
	arena []byte
	items uint64
	dirty []uint32 // entries that got a record here; some may have none any more, or be listed twice
	done  int      // of dirty: these were written
}

const (
	recordHead = 8
	halfFlag   = 1 << 31
)

func newBuffer(bytes int) buffer {
	b := buffer{limit: bytes / 2}
	for i := range b.halves {
		b.halves[i].arena = make([]byte, 0, b.limit)
	}
	return b
}

func (b *buffer) filling() *half { return &b.halves[b.now] }
func (b *buffer) other() *half   { return &b.halves[1-b.now] }

func (b *buffer) fits(item []byte) bool {
	return b.limit-len(b.filling().arena) >= recordHead+len(item)
}

// turn begins to fill the other half, which must be empty.
func (b *buffer) turn() { b.now = 1 - b.now }

// add appends an item to a queue's ring, in the half that is being filled.
func (b *buffer) add(id uint32, e *entry, item []byte) {
	h := b.filling()
	at := uint32(len(h.arena)) | uint32(b.now)*halfFlag
	next := at
	if e.buffered > 0 {
		next = b.oldest(e)
		binary.LittleEndian.PutUint32(b.bytes(e.bufTail), at)
	}
	if e.buffered == 0 || (e.bufTail^at)&halfFlag != 0 {
		h.dirty = append(h.dirty, id)
	}
	h.arena = binary.LittleEndian.AppendUint32(h.arena, next)
	h.arena = binary.LittleEndian.AppendUint32(h.arena, uint32(len(item)))
	h.arena = append(h.arena, item...)
	e.bufTail = at
	e.buffered++
	h.items++
	b.items++
}

// bytes are those from a record's place on.
func (b *buffer) bytes(at uint32) []byte { return b.halves[at/halfFlag].arena[at%halfFlag:] }

// record returns an item and where the ring goes on.
func (b *buffer) record(at uint32) (item []byte, next uint32) {
	r := b.bytes(at)
	end := recordHead + binary.LittleEndian.Uint32(r[4:])
	return r[recordHead:end:end], binary.LittleEndian.Uint32(r)
}

// oldest is where a ring that is not empty begins.
func (b *buffer) oldest(e *entry) uint32 { return binary.LittleEndian.Uint32(b.bytes(e.bufTail)) }

// drop takes the n oldest records out of a ring. Slices that were handed out keep their bytes until the next add.
func (b *buffer) drop(e *entry, n uint32) {
	for ; n > 0; n-- {
		at := b.oldest(e)
		_, next := b.record(at)
		binary.LittleEndian.PutUint32(b.bytes(e.bufTail), next)
		e.buffered--
		b.items--
		h := &b.halves[at/halfFlag]
		if h.items--; h.items == 0 {
			h.reset(b.limit)
		}
	}
}

// reset forgets the bytes; there must be no items.
func (h *half) reset(limit int) {
	if cap(h.arena) > limit {
		h.arena = make([]byte, 0, limit)
	}
	h.arena, h.dirty, h.done = h.arena[:0], h.dirty[:0], 0
}

// owed is how many of the dirty queues of the other half should have been written by now, so that it is empty when the
// half that is being filled is half full.
func (b *buffer) owed() int {
	h := b.other()
	if h.items == 0 {
		return 0
	}
	return int(min(int64(len(h.dirty)), 1+int64(len(h.dirty))*2*int64(len(b.filling().arena))/int64(b.limit))) - h.done
}

// bytesHeld is how much memory the buffer takes.
func (b *buffer) bytesHeld() (n int64) {
	for i := range b.halves {
		n += int64(cap(b.halves[i].arena)) + int64(cap(b.halves[i].dirty))*4
	}
	return n
}
