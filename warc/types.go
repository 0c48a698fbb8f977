package warc

import (
	"encoding/hex"
	"errors"
	"strings"

	"orbweaver/warc/member"
)

// Type is the kind of a record, the value of WARC-Type.
type Type uint8

// The record types of the standard, and Unknown for all others.
const (
	Unknown Type = iota
	Warcinfo
	Response
	Request
	Revisit
	Metadata
	Resource
	Conversion
	Continuation
	typeCount
)

// String returns the value of WARC-Type.
func (t Type) String() string {
	switch t {
	case Warcinfo:
		return "warcinfo"
	case Response:
		return "response"
	case Request:
		return "request"
	case Revisit:
		return "revisit"
	case Metadata:
		return "metadata"
	case Resource:
		return "resource"
	case Conversion:
		return "conversion"
	case Continuation:
		return "continuation"
	}
	return "unknown"
}

// ParseType is the inverse of String, ignoring case. Other names are Unknown.
func ParseType(s string) Type {
	for t := Warcinfo; t < typeCount; t++ {
		if strings.EqualFold(s, t.String()) {
			return t
		}
	}
	return Unknown
}

// contentType returns the default content type of a record of this type.
func (t Type) contentType() string {
	switch t {
	case Warcinfo, Metadata:
		return "application/warc-fields"
	case Response, Revisit:
		return "application/http;msgtype=response"
	case Request:
		return "application/http;msgtype=request"
	}
	return "application/octet-stream"
}

// indexed reports whether records of this type are in the CDXJ index: those that can be replayed.
func (t Type) indexed() bool { return t == Response || t == Revisit || t == Resource }

// Truncation is the reason why a block is incomplete, the value of WARC-Truncated.
type Truncation uint8

// The reasons of the standard.
const (
	TruncatedNone Truncation = iota
	TruncatedLength
	TruncatedTime
	TruncatedDisconnect
	TruncatedUnspecified
)

// String returns the value of WARC-Truncated, empty for TruncatedNone.
func (t Truncation) String() string {
	switch t {
	case TruncatedNone:
		return ""
	case TruncatedLength:
		return "length"
	case TruncatedTime:
		return "time"
	case TruncatedDisconnect:
		return "disconnect"
	}
	return "unspecified"
}

// Compression is the compression of a file; each record is a member (or frame) of its own.
type Compression = member.Compression

// The forms of a file. The zero value is Gzip, which every reader supports.
const (
	Gzip = member.Gzip
	Zstd = member.Zstd
	None = member.None
)

// ID is a record's identity: the 16 bytes of a UUID. The zero ID means none.
type ID [16]byte

// IsZero reports whether id is the zero ID.
func (id ID) IsZero() bool { return id == ID{} }

// String returns the form used in headers, without the angle brackets: urn:uuid:xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx.
func (id ID) String() string { return string(id.append([]byte("urn:uuid:"))) }

// append appends the 36 characters of the UUID.
func (id ID) append(dst []byte) []byte {
	var b [36]byte
	id.put(b[:])
	return append(dst, b[:]...)
}

// put writes the 36 characters of the UUID over dst.
func (id ID) put(dst []byte) {
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

// Field is one line of a header or of a warc-fields block.
type Field struct {
	Name  string
	Value string
}
