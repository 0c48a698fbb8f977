package dedup

import (
	"encoding/binary"
	"time"

	"github.com/zeebo/xxh3"
)

const (
	sumBytes = 4
	// bodyFixed is what an entry has beside its checksum, the URI and the URI's length.
	bodyFixed = 20 + 16 + 5 + 4
	// entryHead is enough of an entry to tell its length.
	entryHead = sumBytes + binary.MaxVarintLen32
	// URIBytesMax is the longest URI that Insert takes.
	URIBytesMax = 1 << 20
	secondsMax  = 1<<39 - 1
)

// dated reports whether an entry can hold the date.
func dated(t time.Time) bool { s := t.Unix(); return -secondsMax <= s && s <= secondsMax }

// appendEntry appends the entry that is to begin at the offset.
func appendEntry(b []byte, offset int64, d Digest, f First) []byte {
	at := len(b)
	b = append(b, 0, 0, 0, 0)
	b = binary.AppendUvarint(b, uint64(len(f.URI)))
	b = append(b, d[:]...)
	b = append(b, f.RecordID[:]...)
	seconds := uint64(f.Date.Unix())
	b = binary.LittleEndian.AppendUint32(b, uint32(seconds))
	b = append(b, byte(seconds>>32))
	b = binary.LittleEndian.AppendUint32(b, uint32(f.Date.Nanosecond()))
	b = append(b, f.URI...)
	binary.LittleEndian.PutUint32(b[at:], entrySum(b[at:], offset))
	return b
}

// entrySum is seeded with the place, so that an entry counts only where it was put.
func entrySum(b []byte, offset int64) uint32 {
	return uint32(xxh3.HashSeed(b[sumBytes:], uint64(offset)))
}

// entryBytes returns how long the entry is that begins with head, which has entryHead bytes or is all there is.
func entryBytes(head []byte) (n int, fault string) {
	if len(head) <= sumBytes {
		return 0, "entry ends early"
	}
	length, k := binary.Uvarint(head[sumBytes:])
	if k <= 0 || length > URIBytesMax {
		return 0, "entry length"
	}
	return sumBytes + k + bodyFixed + int(length), ""
}

// decodeEntry reads a whole entry, whose length entryBytes has given. The result borrows nothing.
func decodeEntry(b []byte, offset int64) (d Digest, f First, fault string) {
	if binary.LittleEndian.Uint32(b) != entrySum(b, offset) {
		return d, f, "entry checksum"
	}
	length, k := binary.Uvarint(b[sumBytes:])
	body := b[sumBytes+k:]
	if len(body) != bodyFixed+int(length) {
		return d, f, "entry length"
	}
	nanos := binary.LittleEndian.Uint32(body[41:])
	if nanos >= uint32(time.Second) {
		return d, f, "entry date"
	}
	copy(d[:], body)
	copy(f.RecordID[:], body[20:])
	seconds := int64(binary.LittleEndian.Uint32(body[36:])) | int64(int8(body[40]))<<32
	f.Date = time.Unix(seconds, int64(nanos)).UTC()
	f.URI = string(body[bodyFixed:])
	return d, f, ""
}
