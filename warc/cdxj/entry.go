package cdxj

import (
	"bytes"
	"strconv"
	"time"
	"unicode/utf8"

	"orbweaver/internal/urlx"
)

// Entry is a line of an index without the position in the archive.
type Entry struct {
	Date   time.Time
	URI    []byte
	Status int    // of HTTP, 0 for none
	MIME   []byte // value of a Content-Type field; its parameters are not written
	Digest []byte // of the payload, with or without label; empty for none
}

// stampLayout is the 14-digit time of index lines, in UTC.
const stampLayout = "20060102150405"

// Append appends the line including the comma after its last field. Fields, order and spelling are those of pywb and
// warcio: numbers are strings, the digest has no label, and unknown fields are omitted.
func (c *Entry) Append(dst []byte) []byte {
	from := len(dst)
	dst = cleanKey(appendKey(dst, c.URI), from)
	dst = append(dst, ' ')
	dst = c.Date.UTC().AppendFormat(dst, stampLayout)
	dst = append(dst, ` {"url":"`...)
	dst = appendJSON(dst, c.URI)
	dst = append(dst, '"', ',')
	if mime := MediaType(c.MIME); len(mime) > 0 {
		dst = append(dst, `"mime":"`...)
		dst = append(appendJSON(dst, mime), '"', ',')
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
		dst = append(appendJSON(dst, sum), '"', ',')
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

// appendKey appends the sort key: the SURT of web addresses, otherwise the URI itself (dns:, urn:).
func appendKey(dst, uri []byte) []byte {
	if bytes.HasPrefix(uri, []byte("http://")) || bytes.HasPrefix(uri, []byte("https://")) {
		return urlx.SURT(dst, uri)
	}
	return append(dst, uri...)
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

// appendJSON appends s as the content of a JSON string. Invalid UTF-8 becomes U+FFFD.
func appendJSON(dst, s []byte) []byte {
	const digits = "0123456789abcdef"
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < 0x20 || c == 0x7f:
			dst = append(dst, `\u00`...)
			dst = append(dst, digits[c>>4], digits[c&15])
		case c < utf8.RuneSelf:
			dst = append(dst, c)
		default:
			r, n := utf8.DecodeRune(s[i:])
			switch {
			case r == utf8.RuneError && n == 1:
				dst = append(dst, "\uFFFD"...)
			case r == '\u2028' || r == '\u2029': // some readers treat these as ends of lines
				dst = append(append(dst, `\u202`...), digits[r&15])
			default:
				dst = append(dst, s[i:i+n]...)
			}
			i += n
			continue
		}
		i++
	}
	return dst
}
