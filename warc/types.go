package warc

import (
	"strings"

	"orbweaver/warc/header"
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

// ID is a record's identity.
type ID = header.ID

// ParseID parses urn:uuid:..., with or without angle brackets, in either case.
func ParseID(s string) (ID, error) { return header.ParseID(s) }

// Field is one line of a header or of a warc-fields block.
type Field struct {
	Name  string
	Value string
}
