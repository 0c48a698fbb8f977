package cdxj

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"

	"orbweaver/internal/jsontext"
	"orbweaver/internal/urlx"
)

// Entry is a line of an index without the position in the archive.
type Entry struct {
	Date   time.Time
	URI    []byte
	Status int    // of HTTP, 0 for none
	MIME   []byte // value of a Content-Type field; its parameters are not written
	Digest []byte // of the payload, with or without label; empty for none
	// SimHash is a fingerprint of the text: 16 hexadecimal digits in lower case. Other values are not written.
	SimHash []byte
	// Render says how much shows that a browser must draw the page: one or two digits. Other values are not written.
	Render []byte

	// Method is that of the request; empty for GET. Request is what its body becomes in the key: see RequestQuery.
	Method, Request string
}

// keyURI is the URI with what tells the request from a GET of it.
func (c *Entry) keyURI() []byte {
	if c.Method == "" {
		return c.URI
	}
	mark := byte('?')
	if bytes.IndexByte(c.URI, '?') >= 0 {
		mark = '&'
	}
	uri := append(bytes.Clone(c.URI), mark)
	uri = append(append(uri, "__wb_method="...), c.Method...)
	if c.Request != "" {
		uri = append(append(uri, '&'), strings.NewReplacer("#", "%23").Replace(c.Request)...)
	}
	return uri
}

// simHashLen is the number of digits of a SimHash.
const simHashLen = 16

// renderLen is the largest number of digits of Render.
const renderLen = 2

// stampLayout is the 14-digit time of index lines, in UTC.
const stampLayout = "20060102150405"

// Append appends the line including the comma after its last field. Fields, order and spelling are those of pywb and
// warcio: numbers are strings, the digest has no label, and unknown fields are omitted. simhash and needs_render are
// ours.
func (c *Entry) Append(dst []byte) []byte {
	from := len(dst)
	dst = cleanKey(AppendKey(dst, c.keyURI()), from)
	dst = append(dst, ' ')
	dst = c.Date.UTC().AppendFormat(dst, stampLayout)
	dst = append(dst, ` {"url":"`...)
	dst = jsontext.AppendContent(dst, c.URI)
	dst = append(dst, '"', ',')
	if mime := MediaType(c.MIME); len(mime) > 0 {
		dst = append(dst, `"mime":"`...)
		dst = append(jsontext.AppendContent(dst, mime), '"', ',')
	}
	if c.Status > 0 {
		dst = append(dst, `"status":"`...)
		dst = append(strconv.AppendInt(dst, int64(c.Status), 10), '"', ',')
	}
	if len(c.Digest) > 0 {
		dst = append(dst, `"digest":"`...)
		_, sum, labelled := bytes.Cut(c.Digest, []byte(":"))
		if !labelled {
			sum = c.Digest
		}
		dst = append(jsontext.AppendContent(dst, sum), '"', ',')
	}
	if c.Method != "" {
		dst = append(jsontext.AppendContent(append(dst, `"method":"`...), []byte(c.Method)), '"', ',')
		dst = append(jsontext.AppendContent(append(dst, `"requestBody":"`...), []byte(c.Request)), '"', ',')
	}
	if len(c.SimHash) == simHashLen && len(bytes.Trim(c.SimHash, "0123456789abcdef")) == 0 {
		dst = append(append(append(dst, `"simhash":"`...), c.SimHash...), '"', ',')
	}
	if len(c.Render) > 0 && len(c.Render) <= renderLen && len(bytes.Trim(c.Render, "0123456789")) == 0 {
		dst = append(append(append(dst, `"needs_render":"`...), c.Render...), '"', ',')
	}
	return dst
}

// placeMax is the most bytes that appendPlace appends.
const placeMax = 64

// appendPlace adds length and offset of the record in its file; the line still lacks the file's name.
func appendPlace(dst []byte, offset, length int64) []byte {
	dst = append(dst, `"length":"`...)
	dst = append(strconv.AppendInt(dst, length, 10), `","offset":"`...)
	return append(strconv.AppendInt(dst, offset, 10), '"', ',')
}

// AppendKey appends the sort key of a URI, as package surt of Python has it: the SURT of addresses with a host; of
// others (dns:, urn:) the scheme, with path and query in the same form; of filedesc: the URI itself. The URI may be one
// that another program has written. Then it is brought into the normal form first. A fragment is left out.
func AppendKey(dst, uri []byte) []byte {
	if bytes.HasPrefix(uri, []byte("filedesc")) {
		return append(dst, uri...)
	}
	uri, _, _ = bytes.Cut(uri, []byte("#"))
	if isPlain(uri) && !bytes.ContainsAny(uri, "\t\r\n") {
		return urlx.SURT(dst, uri)
	}
	if scheme, rest, _ := bytes.Cut(uri, []byte(":")); !isWeb(scheme) {
		rest, hasHost := bytes.CutPrefix(rest, []byte("//"))
		switch {
		case !hasHost:
			return urlx.OpaqueKey(dst, uri)
		case len(rest) == 0 || rest[0] == '/': // file:///path
			return urlx.OpaqueKey(dst, slices.Concat(scheme, []byte(":"), rest))
		}
		uri = append([]byte("http://"), rest...) // ftp, whois, metadata
	}
	normal, err := urlx.Normalize(nil, uri)
	if err != nil {
		return append(dst, uri...)
	}
	return urlx.SURT(dst, normal)
}

func isWeb(scheme []byte) bool {
	return bytes.EqualFold(scheme, []byte("http")) || bytes.EqualFold(scheme, []byte("https"))
}

// isPlain reports whether a URI begins like the normal form of an address with a name and without port, so that its
// SURT is its key.
func isPlain(uri []byte) bool {
	rest, ok := bytes.CutPrefix(uri, []byte("http://"))
	if !ok {
		if rest, ok = bytes.CutPrefix(uri, []byte("https://")); !ok {
			return false
		}
	}
	last := 0 // where the last label begins: with a digit it may be an address
	for i, c := range rest {
		switch {
		case c == '/':
			return i > last && (rest[last] < '0' || rest[last] > '9')
		case c == '.':
			last = i + 1
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '_':
		default:
			return false
		}
	}
	return false
}

// cleanKey percent-encodes bytes in dst[from:] that would end the line or a column.
func cleanKey(dst []byte, from int) []byte {
	bad := func(c byte) bool { return c <= 0x20 || c == 0x7f }
	i := from
	for i < len(dst) && !bad(dst[i]) {
		i++
	}
	if i == len(dst) {
		return dst
	}
	const digits = "0123456789abcdef"
	rest := bytes.Clone(dst[i:])
	dst = dst[:i]
	for _, c := range rest {
		if bad(c) {
			dst = append(dst, '%', digits[c>>4], digits[c&15])
		} else {
			dst = append(dst, c)
		}
	}
	return dst
}

// MediaTypeMax is the length in bytes at which the media type of an index line is truncated. Type and subtype have at
// most 127 bytes each (RFC 6838).
const MediaTypeMax = 255

// MediaType returns the value of a Content-Type field without parameters and spaces, at most MediaTypeMax bytes.
func MediaType(v []byte) []byte {
	if i := bytes.IndexAny(v, ";,"); i >= 0 {
		v = v[:i]
	}
	v = bytes.TrimSpace(v)
	return v[:min(len(v), MediaTypeMax)]
}
