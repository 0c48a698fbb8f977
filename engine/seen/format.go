package seen

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/zeebo/xxh3"
)

const (
	fileMagic   = "OWSEEN01"
	entryHeader = 8
	bodyFixed   = 20 + 16 + 8 + 4
	// URIBytesMax is the longest URI that Insert takes.
	URIBytesMax = 1 << 20
)

var (
	// ErrCorrupt is wrapped by every error about bytes on disk that are not what was written.
	ErrCorrupt = errors.New("seen: corrupt")
	// ErrClosed is returned by calls after Close.
	ErrClosed = errors.New("seen: closed")
	// ErrURI is returned by Insert for a URI that is longer than URIBytesMax.
	ErrURI = errors.New("seen: URI too long")
)

// CorruptError says which bytes are wrong. It wraps ErrCorrupt.
type CorruptError struct {
	File   string
	Offset int64
	What   string
}

// Error names file, offset and fault.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("%v: %s at byte %d: %s", ErrCorrupt, e.File, e.Offset, e.What)
}

// Unwrap returns ErrCorrupt.
func (e *CorruptError) Unwrap() error { return ErrCorrupt }

// appendEntry appends one entry.
func appendEntry(b []byte, d Digest, f First) []byte {
	at := len(b)
	b = append(b, make([]byte, entryHeader)...)
	b = append(b, d[:]...)
	b = append(b, f.RecordID[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(f.Date.Unix()))
	b = binary.LittleEndian.AppendUint32(b, uint32(f.Date.Nanosecond()))
	b = append(b, f.URI...)
	body := b[at+entryHeader:]
	binary.LittleEndian.PutUint32(b[at:], uint32(len(body)))
	binary.LittleEndian.PutUint32(b[at+4:], uint32(xxh3.Hash(body)))
	return b
}

// entryBytes returns how long the entry with this header is, or a fault.
func entryBytes(header []byte) (n int, fault string) {
	n = int(binary.LittleEndian.Uint32(header))
	if n < bodyFixed || n > bodyFixed+URIBytesMax {
		return 0, "entry length"
	}
	return entryHeader + n, ""
}

// decodeEntry reads a whole entry, whose length entryBytes has given.
func decodeEntry(b []byte) (d Digest, f First, fault string) {
	body := b[entryHeader:]
	if binary.LittleEndian.Uint32(b[4:]) != uint32(xxh3.Hash(body)) {
		return d, f, "entry checksum"
	}
	nanos := binary.LittleEndian.Uint32(body[44:])
	if nanos >= uint32(time.Second) {
		return d, f, "entry date"
	}
	copy(d[:], body)
	copy(f.RecordID[:], body[20:])
	f.Date = time.Unix(int64(binary.LittleEndian.Uint64(body[36:])), int64(nanos)).UTC()
	f.URI = string(body[bodyFixed:])
	return d, f, ""
}
