package diskq

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"
)

const (
	magic       = "orbwdq1\n"
	segmentHead = len(magic) + 8
	blockHead   = 12
	reserved    = segmentHead + blockHead // space for both heads before the payload of a building block

	blockTarget = 64 << 10 // payload bytes at which a block is written

	// MaxItem is the size in bytes of the largest item.
	MaxItem = 64 << 20

	// maxPayload is the largest length in a block head: a full block, or one item and its length.
	maxPayload = MaxItem + binary.MaxVarintLen32
)

// Errors of this package. They are wrapped with details.
var (
	ErrCorrupt  = errors.New("diskq: corrupt")
	ErrTooLarge = errors.New("diskq: item too large")
	ErrClosed   = errors.New("diskq: closed")
)

func corrupt(segment uint64, offset int64, format string, args ...any) error {
	return fmt.Errorf("%w: segment %d at %d: %s", ErrCorrupt, segment, offset, fmt.Sprintf(format, args...))
}

// parseSegmentName returns the number in the base name of a segment; ok is false for other files.
func parseSegmentName(base string) (segment uint64, ok bool) {
	digits, ok := strings.CutPrefix(base, "q-")
	if !ok || len(digits) != 16 || strings.ToLower(digits) != digits {
		return 0, false
	}
	segment, err := strconv.ParseUint(digits, 16, 64)
	return segment, err == nil
}

func putSegmentHead(dst []byte, segment uint64) {
	copy(dst, magic)
	binary.LittleEndian.PutUint64(dst[len(magic):], segment)
}

func checkSegmentHead(head []byte, segment uint64) error {
	if len(head) < segmentHead || string(head[:len(magic)]) != magic {
		return corrupt(segment, 0, "not a segment of this format")
	}
	if got := binary.LittleEndian.Uint64(head[len(magic):]); got != segment {
		return corrupt(segment, 0, "it says that it is segment %d", got)
	}
	return nil
}

func checksum(payload []byte, segment uint64, offset int64, items uint32) uint32 {
	var place [24]byte
	binary.LittleEndian.PutUint64(place[0:], segment)
	binary.LittleEndian.PutUint64(place[8:], uint64(offset))
	binary.LittleEndian.PutUint32(place[16:], uint32(len(payload)))
	binary.LittleEndian.PutUint32(place[20:], items)
	return uint32(xxh3.HashSeed(payload, xxh3.Hash(place[:])))
}

func putBlockHead(dst, payload []byte, segment uint64, offset int64, items uint32) {
	binary.LittleEndian.PutUint32(dst[0:], uint32(len(payload)))
	binary.LittleEndian.PutUint32(dst[4:], items)
	binary.LittleEndian.PutUint32(dst[8:], checksum(payload, segment, offset, items))
}

// parseBlockHead decodes a head. room is the number of bytes that follow it in the segment.
func parseBlockHead(head []byte, segment uint64, offset, room int64) (length int, items, sum uint32, err error) {
	n := binary.LittleEndian.Uint32(head[0:])
	items = binary.LittleEndian.Uint32(head[4:])
	sum = binary.LittleEndian.Uint32(head[8:])
	if n > maxPayload || int64(n) > room || items == 0 || items > n {
		return 0, 0, 0, corrupt(segment, offset, "a block of %d bytes and %d items where %d bytes are left", n, items,
			room)
	}
	return int(n), items, sum, nil
}

// nextItem splits the first item off a payload. ok is false if the payload is not made of items.
func nextItem(payload []byte) (item, rest []byte, ok bool) {
	length, n := binary.Uvarint(payload)
	if n <= 0 || length > uint64(len(payload)-n) {
		return nil, nil, false
	}
	return payload[n : n+int(length)], payload[n+int(length):], true
}
