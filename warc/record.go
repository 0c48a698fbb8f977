package warc

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"time"

	"orbweaver/warc/header"
)

// ProfileIdentical is the profile of a revisit whose payload is equal to a stored one.
const ProfileIdentical = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"

// ProfileNotModified is the profile of a revisit for the status "304 Not Modified".
const ProfileNotModified = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"

// MediaDNS is the content type of a response of a name server; its target is "dns:" and the name.
const MediaDNS = "text/dns"

// ErrRecord is returned for a Record that cannot be written: without a type, with an invalid field name, ...
var ErrRecord = errors.New("warc: bad record")

// Record is a record to be written. Everything it points to is borrowed until Append returns. A value never adds a line
// to the header: URIs are percent-encoded, and in other values control characters become spaces. An invalid field name
// is ErrRecord.
type Record struct {
	// Type must be set.
	Type Type
	// ID is the identity. If it is zero, Append sets it, so that the next record of the group can name it in
	// ConcurrentTo.
	ID ID
	// Date is when the capture began, written in UTC with microseconds.
	Date time.Time
	// TargetURI is the captured URI. It is empty only for Warcinfo.
	TargetURI []byte
	// IP is the server address; the zero value omits the field.
	IP netip.Addr
	// ContentType of the block; empty means the usual one of the type.
	ContentType string
	// ConcurrentTo names the record of the group to which this one belongs; zero omits the field.
	ConcurrentTo ID
	// PayloadDigest is the SHA-1 of the payload (the body without chunking). It is nil if there is none, or if the body
	// did not end as its framing says.
	PayloadDigest *[20]byte
	// BlockDigest is the SHA-1 of Block if known; if nil, Append computes it.
	BlockDigest *[20]byte
	// Truncated is the reason why the block is incomplete. A Revisit of ProfileIdentical with a block always gets
	// "length", as the standard requires.
	Truncated Truncation
	// RefersTo, RefersToURI and RefersToDate name the capture that a revisit repeats. Each may be empty.
	RefersTo     ID
	RefersToURI  string
	RefersToDate time.Time
	// Profile of a revisit; empty means ProfileIdentical.
	Profile string
	// Filename is for Warcinfo, and set by the Writer.
	Filename string
	// Extra fields, written last in the given order.
	Extra []Field
	// Lines are more fields, written behind Extra as they are: whole lines with their ends.
	Lines []byte
	// Block is the content in parts, which are written in order.
	Block [][]byte
	// Source is the rest of the content, after Block. A record with a Source needs its BlockDigest, and is the first of
	// its group.
	Source Source
	// Index adds a line to the CDXJ index; nil omits the record from it.
	Index *IndexInfo
}

// Source is a part of a block that is too large for memory: the first Size bytes of From. The zero Source is empty.
type Source struct {
	From io.ReaderAt
	Size int64
}

// IndexInfo is the part of a CDXJ line that is not in the Record.
type IndexInfo struct {
	// Status is the HTTP status, 0 if there is none.
	Status int
	// MIME is the media type; parameters are removed. A Revisit always has "warc/revisit".
	MIME []byte
	// SimHash is the value of SimHashField, which is one of the Record's Lines; nil for none.
	SimHash []byte
	// Render is the value of RenderField, which is one of the Record's Lines; nil for none.
	Render []byte
}

// WallField is the header field of answers that a protection service gave in place of the page. Its value is the name
// of the service.
const WallField = "Orbweaver-Wall"

// SimHashField is the header field of captures with a fingerprint of their text. docs/warc.md has its form.
const SimHashField = "Orbweaver-SimHash"

// RenderField is the header field of captures of pages that a browser must draw. docs/warc.md has its form.
const RenderField = "Orbweaver-Needs-Render"

// dateLayout is WARC-Date: UTC, with the fraction that WARC 1.1 allows.
const dateLayout = "2006-01-02T15:04:05.000000Z"

// The first lines of every record except warcinfo. They are not compressed, because the identity of the warcinfo record
// is known only when the record is appended to a file.
const (
	versionLine  = "WARC/1.1\r\n"
	prefixBefore = versionLine + "WARC-Warcinfo-ID: <urn:uuid:"
	prefixAfter  = ">\r\n"
	prefixLen    = len(prefixBefore) + 36 + len(prefixAfter)
)

// prefixOf returns the first lines of records in the file of a warcinfo record. The zero ID is that of no file.
func prefixOf(info ID) (prefix [prefixLen]byte) {
	copy(prefix[:], prefixBefore)
	info.Put(prefix[len(prefixBefore):])
	copy(prefix[prefixLen-len(prefixAfter):], prefixAfter)
	return prefix
}

// appendHeader appends the header lines after the prefix, including the empty line. block is the length of the block in
// bytes.
func (r *Record) appendHeader(dst []byte, block int64, blockDigest *[20]byte) ([]byte, error) {
	if r.Type == Unknown || r.Type >= typeCount {
		return dst, fmt.Errorf("%w: no type", ErrRecord)
	}
	if len(r.TargetURI) == 0 && r.Type != Warcinfo {
		return dst, fmt.Errorf("%w: %s without a target URI", ErrRecord, r.Type)
	}
	dst = append(append(append(dst, "WARC-Type: "...), r.Type.String()...), '\r', '\n')
	dst = appendID(dst, "WARC-Record-ID", r.ID)
	dst = append(dst, "WARC-Date: "...)
	dst = r.Date.UTC().AppendFormat(dst, dateLayout)
	dst = append(dst, '\r', '\n')
	if len(r.TargetURI) > 0 {
		dst = append(header.AppendURI(append(dst, "WARC-Target-URI: "...), r.TargetURI), '\r', '\n')
	}
	if r.IP.IsValid() {
		dst = append(dst, "WARC-IP-Address: "...)
		dst = r.IP.Unmap().WithZone("").AppendTo(dst)
		dst = append(dst, '\r', '\n')
	}
	if !r.ConcurrentTo.IsZero() {
		dst = appendID(dst, "WARC-Concurrent-To", r.ConcurrentTo)
	}
	if r.Type == Revisit {
		dst = r.appendRevisit(dst)
	}
	if t := r.truncation(block); t != TruncatedNone {
		dst = append(append(append(dst, "WARC-Truncated: "...), t.String()...), '\r', '\n')
	}
	if r.PayloadDigest != nil {
		dst = append(header.AppendDigest(append(dst, "WARC-Payload-Digest: "...), r.PayloadDigest), '\r', '\n')
	}
	dst = append(header.AppendDigest(append(dst, "WARC-Block-Digest: "...), blockDigest), '\r', '\n')
	if r.Filename != "" {
		dst = header.AppendField(dst, "WARC-Filename", r.Filename)
	}
	contentType := r.ContentType
	if contentType == "" {
		contentType = r.Type.contentType()
	}
	dst = header.AppendField(dst, "Content-Type", contentType)
	dst = header.AppendLength(dst, block)
	for i := range r.Extra {
		if !header.IsToken(r.Extra[i].Name) {
			return dst, fmt.Errorf("%w: field name %q", ErrRecord, r.Extra[i].Name)
		}
		dst = header.AppendField(dst, r.Extra[i].Name, r.Extra[i].Value)
	}
	dst = append(dst, r.Lines...)
	return append(dst, '\r', '\n'), nil
}

// appendRevisit appends the fields of a revisit.
func (r *Record) appendRevisit(dst []byte) []byte {
	dst = header.AppendField(dst, "WARC-Profile", r.profile())
	if !r.RefersTo.IsZero() {
		dst = appendID(dst, "WARC-Refers-To", r.RefersTo)
	}
	if r.RefersToURI != "" {
		dst = append(dst, "WARC-Refers-To-Target-URI: "...)
		dst = append(header.AppendURI(dst, r.RefersToURI), '\r', '\n')
	}
	if !r.RefersToDate.IsZero() {
		dst = append(dst, "WARC-Refers-To-Date: "...)
		dst = r.RefersToDate.UTC().AppendFormat(dst, dateLayout)
		dst = append(dst, '\r', '\n')
	}
	return dst
}

func (r *Record) profile() string {
	if r.Profile == "" {
		return ProfileIdentical
	}
	return r.Profile
}

// truncation returns the reason to write. By the standard, a block of the identical-payload-digest profile without the
// payload must be marked as truncated for its length.
func (r *Record) truncation(block int64) Truncation {
	if r.Truncated == TruncatedNone && r.Type == Revisit && block > 0 && r.profile() == ProfileIdentical {
		return TruncatedLength
	}
	return r.Truncated
}

func appendID(dst []byte, name string, id ID) []byte {
	dst = append(append(dst, name...), ": <urn:uuid:"...)
	return append(id.Append(dst), '>', '\r', '\n')
}
