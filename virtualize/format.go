package virtualize

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"
)

const (
	segmentMagic = "orbwvs2\n"
	segmentHead  = 2048 // bytes; the rest after the model is zero
	headModel    = 32   // position of the model
	slotBytes    = 32

	blockTarget = 8 << 10 // bytes of items at which a block of several items ends

	maxOrdinal  = 1<<48 - 1
	maxItems    = 1<<16 - 1 // in one block
	movedFlag   = 1 << 31   // in a slot's offset
	maxSegments = 1 << 24   // numbers are dense enough for a slice
)

// Errors of this package. They are wrapped with details.
var (
	ErrCorrupt  = errors.New("virtualize: corrupt")
	ErrTooLarge = errors.New("virtualize: item too large")
	ErrTooMany  = errors.New("virtualize: no more room for numbers")
	ErrClosed   = errors.New("virtualize: closed")
	ErrMapped   = errors.New("virtualize: memory-mapped file not accessible")
)

// address is the address of a block: the number of the segment in the upper half, its slot in the lower half. Zero
// means no block. A block that was moved keeps its original address.
type address uint64

func makeAddress(segment, slot uint32) address { return address(segment)<<32 | address(slot) }

func (a address) segment() uint32 { return uint32(a >> 32) }
func (a address) slot() uint32    { return uint32(a) }
func (a address) String() string  { return fmt.Sprintf("%d/%d", a.segment(), a.slot()) }

func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrCorrupt, fmt.Sprintf(format, args...))
}

func segmentName(dir string, number uint32) string {
	return path.Join(dir, fmt.Sprintf("seg-%08x", number))
}

func indexName(dir string, generation uint64) string {
	return path.Join(dir, fmt.Sprintf("idx-%016x", generation))
}

// parseName returns the number in a base name with the given prefix and number of hex digits; ok is false for other
// names.
func parseName(base, prefix string, digits int) (number uint64, ok bool) {
	hex, ok := strings.CutPrefix(base, prefix)
	if !ok || len(hex) != digits || strings.ToLower(hex) != hex {
		return 0, false
	}
	number, err := strconv.ParseUint(hex, 16, 64)
	return number, err == nil
}

func putSegmentHead(dst []byte, number uint32, m *model) {
	copy(dst, segmentMagic)
	binary.LittleEndian.PutUint64(dst[8:], uint64(number))
	binary.LittleEndian.PutUint64(dst[16:], uint64(len(dst)))
	m.put(dst[headModel:])
	binary.LittleEndian.PutUint64(dst[24:], headSum(dst))
}

// headSum returns the checksum of all other bytes of the head.
func headSum(data []byte) uint64 {
	return xxh3.HashSeed(data[headModel:segmentHead], xxh3.Hash(data[:24]))
}

func checkSegmentHead(data []byte, number uint32) error {
	switch {
	case len(data) < segmentHead || string(data[:8]) != segmentMagic,
		binary.LittleEndian.Uint64(data[24:]) != headSum(data):
		return corrupt("segment %d: not a segment of this format", number)
	case binary.LittleEndian.Uint64(data[8:]) != uint64(number):
		return corrupt("segment %d: it says that it is segment %d", number, binary.LittleEndian.Uint64(data[8:]))
	case binary.LittleEndian.Uint64(data[16:]) != uint64(len(data)):
		return corrupt("segment %d: its size was %d", number, binary.LittleEndian.Uint64(data[16:]))
	}
	return nil
}

// slot describes one block, without its next address.
type slot struct {
	key    uint64
	first  uint64 // ordinal of the first item
	items  uint32
	offset uint32
	moved  bool // the payload follows eight bytes with the original address
	sum    uint32
}

func (s slot) checksum(body []byte) uint32 {
	var about [24]byte
	binary.LittleEndian.PutUint64(about[0:], s.key)
	binary.LittleEndian.PutUint64(about[8:], s.first<<16|uint64(s.items))
	binary.LittleEndian.PutUint64(about[16:], uint64(len(body)))
	return uint32(xxh3.HashSeed(body, xxh3.Hash(about[:])))
}

func (s slot) put(dst []byte, next address) {
	offset := s.offset
	if s.moved {
		offset |= movedFlag
	}
	binary.LittleEndian.PutUint64(dst[0:], s.key)
	binary.LittleEndian.PutUint64(dst[8:], s.first<<16|uint64(s.items))
	binary.LittleEndian.PutUint64(dst[16:], uint64(next))
	binary.LittleEndian.PutUint32(dst[24:], offset)
	binary.LittleEndian.PutUint32(dst[28:], s.sum)
}

func parseSlot(src []byte) (s slot, next address) {
	meta := binary.LittleEndian.Uint64(src[8:])
	offset := binary.LittleEndian.Uint32(src[24:])
	return slot{
		key:    binary.LittleEndian.Uint64(src[0:]),
		first:  meta >> 16,
		items:  uint32(meta & maxItems),
		offset: offset &^ movedFlag,
		moved:  offset&movedFlag != 0,
		sum:    binary.LittleEndian.Uint32(src[28:]),
	}, address(binary.LittleEndian.Uint64(src[16:]))
}

// nextItem splits the first item off a payload. ok is false if the payload is not made of items.
func nextItem(payload []byte) (item, rest []byte, ok bool) {
	length, n := binary.Uvarint(payload)
	if n <= 0 || length > uint64(len(payload)-n) {
		return nil, nil, false
	}
	return payload[n : n+int(length)], payload[n+int(length):], true
}

func itemBytes(item int) int {
	n := item + 1
	for ; item >= 0x80; item >>= 7 {
		n++
	}
	return n
}
