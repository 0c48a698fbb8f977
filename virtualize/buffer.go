package virtualize

import "encoding/binary"

// buffer holds the newest items of all queues until there is enough to write. Each queue's records form a ring, from
// the newest, which its entry knows, to the oldest and on. Space is given back all at once.
//
//	record:  next u32 | length u32 | item
type buffer struct {
	arena []byte // its capacity is the bound
	items uint64
	dirty []uint32 // entries that got a first record; some may have none any more, or be listed twice
}

const recordHead = 8

func (b *buffer) fits(item []byte) bool { return cap(b.arena)-len(b.arena) >= recordHead+len(item) }

// add appends an item, which fits, to a queue's ring.
func (b *buffer) add(id uint32, e *entry, item []byte) {
	at := uint32(len(b.arena))
	next := at
	if e.buffered > 0 {
		next = binary.LittleEndian.Uint32(b.arena[e.bufTail:])
		binary.LittleEndian.PutUint32(b.arena[e.bufTail:], at)
	} else {
		b.dirty = append(b.dirty, id)
	}
	b.arena = binary.LittleEndian.AppendUint32(b.arena, next)
	b.arena = binary.LittleEndian.AppendUint32(b.arena, uint32(len(item)))
	b.arena = append(b.arena, item...)
	e.bufTail = at
	e.buffered++
	b.items++
}

// record returns an item and where the ring goes on.
func (b *buffer) record(at uint32) (item []byte, next uint32) {
	next = binary.LittleEndian.Uint32(b.arena[at:])
	length := binary.LittleEndian.Uint32(b.arena[at+4:])
	return b.arena[at+recordHead : at+recordHead+length : at+recordHead+length], next
}

// oldest is where a ring that is not empty begins.
func (b *buffer) oldest(e *entry) uint32 { return binary.LittleEndian.Uint32(b.arena[e.bufTail:]) }

// drop takes the n oldest records out of a ring; next is what follows them.
func (b *buffer) drop(e *entry, n, next uint32) {
	e.buffered -= n
	b.items -= uint64(n)
	if e.buffered > 0 {
		binary.LittleEndian.PutUint32(b.arena[e.bufTail:], next)
	}
	if b.items == 0 {
		b.reset()
	}
}

// reset forgets the bytes; there must be no items. Slices that were handed out keep their bytes until the next add.
func (b *buffer) reset() { b.arena, b.dirty = b.arena[:0], b.dirty[:0] }
