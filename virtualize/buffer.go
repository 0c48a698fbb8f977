package virtualize

import "encoding/binary"

// buffer holds the newest items of all queues until there are enough to write. The records of a queue form a ring. The
// entry of the queue knows the newest record, which points to the oldest. There are two halves. While one fills up, the
// other is written step by step with each added item. The memory of a half is freed as a whole.
type buffer struct {
	halves [2]half
	now    int // the half that is filled
	limit  int // bytes of a half
	items  uint64
}

type half struct {
	arena []byte
	items uint64
	dirty []uint32 // entries that got a record in this half; some may have none any more or be listed twice
	done  int      // number of entries of dirty that are written
}

const (
	recordHead = 8
	halfFlag   = 1 << 31
	arenaLeast = 16 << 10
)

func (b *buffer) filling() *half { return &b.halves[b.now] }
func (b *buffer) other() *half   { return &b.halves[1-b.now] }

func (b *buffer) fits(item []byte) bool {
	return b.limit-len(b.filling().arena) >= recordHead+len(item)
}

// turn starts to fill the other half, which must be empty.
func (b *buffer) turn() { b.now = 1 - b.now }

// add appends an item to the ring of a queue, in the half that is filled.
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
	h.grow(recordHead+len(item), b.limit)
	h.arena = binary.LittleEndian.AppendUint32(h.arena, next)
	h.arena = binary.LittleEndian.AppendUint32(h.arena, uint32(len(item)))
	h.arena = append(h.arena, item...)
	e.bufTail = at
	e.buffered++
	h.items++
	b.items++
}

// grow makes room for n more bytes. Without it, append would go beyond limit.
func (h *half) grow(n, limit int) {
	if n += len(h.arena); n > cap(h.arena) {
		grown := make([]byte, len(h.arena), max(n, min(max(2*cap(h.arena), arenaLeast), limit)))
		copy(grown, h.arena)
		h.arena = grown
	}
}

// bytes returns the bytes from the position of a record on.
func (b *buffer) bytes(at uint32) []byte { return b.halves[at/halfFlag].arena[at%halfFlag:] }

// record returns an item and the position of the next record of the ring.
func (b *buffer) record(at uint32) (item []byte, next uint32) {
	r := b.bytes(at)
	end := recordHead + binary.LittleEndian.Uint32(r[4:])
	return r[recordHead:end:end], binary.LittleEndian.Uint32(r)
}

// oldest returns the position of the oldest record of a ring that is not empty.
func (b *buffer) oldest(e *entry) uint32 { return binary.LittleEndian.Uint32(b.bytes(e.bufTail)) }

// measure returns how many of the oldest items of a ring make a block, and the size of their payload in plain encoding.
// The block ends before it exceeds the target, but has at least one item.
func (b *buffer) measure(e *entry, target int) (items uint32, plain int) {
	plain = 1
	for at := b.oldest(e); items < min(e.buffered, maxItems); items++ {
		item, next := b.record(at)
		if items > 0 && plain+itemBytes(len(item)) > target {
			break
		}
		plain += itemBytes(len(item))
		at = next
	}
	return items, plain
}

// pack packs the n oldest items of a ring into a block with these codes.
func (b *buffer) pack(e *entry, n uint32, to *packer, c *codes) {
	to.begin(c)
	for at := b.oldest(e); to.items < n; {
		var item []byte
		item, at = b.record(at)
		to.add(item)
	}
}

// drop removes the n oldest records of a ring. Slices that were returned stay valid until the next add.
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

// reset frees the bytes; the half must have no items.
func (h *half) reset(limit int) {
	if cap(h.arena) > limit {
		h.arena = nil
	}
	h.arena, h.dirty, h.done = h.arena[:0], h.dirty[:0], 0
}

// dueWrites returns how many dirty queues of the other half must be written now. That half must be empty when the half
// that is filled is half full.
func (b *buffer) dueWrites() int {
	h := b.other()
	if h.items == 0 {
		return 0
	}
	return int(min(int64(len(h.dirty)), 1+int64(len(h.dirty))*2*int64(len(b.filling().arena))/int64(b.limit))) - h.done
}

// bytesHeld returns the memory of the buffer in bytes.
func (b *buffer) bytesHeld() (n int64) {
	for i := range b.halves {
		n += int64(cap(b.halves[i].arena)) + int64(cap(b.halves[i].dirty))*4
	}
	return n
}
