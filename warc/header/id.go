package header

import (
	"encoding/hex"
	"errors"
	"strings"
)

// ID is a record's identity: the 16 bytes of a UUID. The zero ID means none.
type ID [16]byte

// IsZero reports whether id is the zero ID.
func (id ID) IsZero() bool { return id == ID{} }

// String returns the form used in headers, without the angle brackets: urn:uuid:xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx.
func (id ID) String() string { return string(id.Append([]byte("urn:uuid:"))) }

// Append appends the 36 characters of the UUID.
func (id ID) Append(dst []byte) []byte {
	var b [36]byte
	id.Put(b[:])
	return append(dst, b[:]...)
}

// Put writes the 36 characters of the UUID over dst.
func (id ID) Put(dst []byte) {
	hex.Encode(dst[0:8], id[0:4])
	dst[8] = '-'
	hex.Encode(dst[9:13], id[4:6])
	dst[13] = '-'
	hex.Encode(dst[14:18], id[6:8])
	dst[18] = '-'
	hex.Encode(dst[19:23], id[8:10])
	dst[23] = '-'
	hex.Encode(dst[24:36], id[10:16])
}

// errID is returned for a text that is no urn:uuid.
var errID = errors.New("warc: not a urn:uuid")

// ParseID parses urn:uuid:..., with or without angle brackets, in either case.
func ParseID(s string) (ID, error) {
	var id ID
	s = strings.TrimSuffix(strings.TrimPrefix(s, "<"), ">")
	const prefix = "urn:uuid:"
	if len(s) != len(prefix)+36 || !strings.EqualFold(s[:len(prefix)], prefix) {
		return id, errID
	}
	s = s[len(prefix):]
	if s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return id, errID
	}
	if _, err := hex.Decode(id[:], []byte(s[:8]+s[9:13]+s[14:18]+s[19:23]+s[24:])); err != nil {
		return ID{}, errID
	}
	return id, nil
}
