package cold

import (
	"encoding/binary"

	"github.com/zeebo/xxh3"
)

// Position is a position in the log.
type Position struct {
	Segment uint32 `json:"segment"` // number of the file, from 1
	Offset  int64  `json:"offset"`  // in the file, in bytes
}

// before reports whether p is earlier in the log than q.
func (p Position) before(q Position) bool {
	return p.Segment < q.Segment || p.Segment == q.Segment && p.Offset < q.Offset
}

// lastFile returns the number of the newest file with content, if the log ends at p. It is less than the number of the
// first file if there is none.
func (p Position) lastFile() uint32 {
	if p.Offset == 0 {
		return p.Segment - 1
	}
	return p.Segment
}

const (
	segmentMagic = "OWCOLD\x00\x01"
	segmentHead  = 16
	recordHead   = 16
	recordAlign  = 8
	removalBody  = 20

	keyMax  = 1<<16 - 1
	bodyMax = 16 << 20
)

// The kinds of records.
const (
	kindHost    = 1
	kindRemoval = 2
)

// record is a record that was read. It borrows its bytes.
type record struct {
	kind      byte
	key, form []byte  // of a host
	removal   removal // of a removal
	size      int64   // in the log
}

// removal names the record of a host that is not valid any more.
type removal struct {
	hash uint64
	at   Position
	size int64
}

func appendSegmentHead(b []byte, segment uint32) []byte {
	b = binary.LittleEndian.AppendUint32(append(b, segmentMagic...), segment)
	return binary.LittleEndian.AppendUint32(b, uint32(xxh3.Hash(b[len(b)-12:])))
}

// faultOfHead returns what is wrong with the first bytes of a file, or "".
func faultOfHead(b []byte, segment uint32) string {
	switch {
	case len(b) < segmentHead || string(b[:8]) != segmentMagic:
		return "no file of cold hosts of this version"
	case binary.LittleEndian.Uint32(b[12:]) != uint32(xxh3.Hash(b[:12])):
		return "wrong checksum of the file head"
	case binary.LittleEndian.Uint32(b[8:]) != segment:
		return "the file has the number of another one"
	}
	return ""
}

// sizeOf returns the size in the log of a record with the given body.
func sizeOf(body int) int64 {
	return int64(recordHead+body+recordAlign-1) &^ (recordAlign - 1)
}

// appendRecord appends a record for position p. The body is key and rest.
func appendRecord(b []byte, p Position, kind byte, key, rest []byte) []byte {
	from, body := len(b), len(key)+len(rest)
	b = append(b, 0, 0, 0, 0, 0, 0, 0, 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(body))
	b = binary.LittleEndian.AppendUint16(b, uint16(len(key)))
	b = append(b, kind, 0)
	b = append(append(b, key...), rest...)
	binary.LittleEndian.PutUint64(b[from:], checksum(b[from+8:], p))
	var zeros [recordAlign]byte
	return append(b, zeros[:sizeOf(body)-int64(recordHead+body)]...)
}

// checksum depends on the position, so that a record at another position is invalid.
func checksum(b []byte, p Position) uint64 {
	return xxh3.HashSeed(b, uint64(p.Segment)<<32^uint64(p.Offset))
}

func appendRemoval(b []byte, g removal) []byte {
	b = binary.LittleEndian.AppendUint64(b, g.hash)
	b = binary.LittleEndian.AppendUint32(b, g.at.Segment)
	b = binary.LittleEndian.AppendUint32(b, uint32(g.at.Offset))
	return binary.LittleEndian.AppendUint32(b, uint32(g.size))
}

// sizeInHead returns the size of the record whose head is at the start of b, or a fault.
func sizeInHead(b []byte) (size int64, fault string) {
	if len(b) < recordHead {
		return 0, "the record is truncated"
	}
	body := binary.LittleEndian.Uint32(b[8:])
	if body > bodyMax {
		return 0, "invalid length of a record"
	}
	return sizeOf(int(body)), ""
}

// parseRecord decodes the record at the start of b, which is at position p in the log.
func parseRecord(b []byte, p Position) (r record, fault string) {
	if r.size, fault = sizeInHead(b); fault != "" {
		return r, fault
	}
	if int64(len(b)) < r.size {
		return r, "the record is truncated"
	}
	end := recordHead + int(binary.LittleEndian.Uint32(b[8:]))
	if binary.LittleEndian.Uint64(b) != checksum(b[8:end], p) {
		return r, "wrong checksum"
	}
	for _, zero := range b[end:r.size] {
		if zero != 0 {
			return r, "padding is not zero"
		}
	}
	keyLen, body := int(binary.LittleEndian.Uint16(b[12:])), b[recordHead:end]
	r.kind = b[14]
	switch {
	case r.kind == kindHost && keyLen <= len(body) && b[15] == 0:
		r.key, r.form = body[:keyLen], body[keyLen:]
	case r.kind == kindRemoval && keyLen == 0 && len(body) == removalBody && b[15] == 0:
		r.removal = removal{
			hash: binary.LittleEndian.Uint64(body),
			at:   Position{binary.LittleEndian.Uint32(body[8:]), int64(binary.LittleEndian.Uint32(body[12:]))},
			size: int64(binary.LittleEndian.Uint32(body[16:])),
		}
	default:
		return r, "unknown kind of record"
	}
	return r, ""
}
