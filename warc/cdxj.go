package warc

import (
	"bytes"
	"errors"
	"io"
	"time"
	"unicode/utf8"

	"orbweaver/internal/urlx"
)

// indexEntry is a line of a CDXJ index without the position in the archive.
type indexEntry struct {
	date   time.Time
	uri    []byte
	status int // 0: none
	mime   []byte
	digest []byte // empty: none
}

// cdxjStamp is the 14-digit time of index lines, in UTC.
const cdxjStamp = "20060102150405"

// append appends the line including the comma after its last field. Fields, order and spelling are those of pywb and
// warcio: numbers are strings, the digest has no label, and unknown fields are omitted.
func (c *indexEntry) append(dst []byte) []byte {
	from := len(dst)
	dst = cleanKey(appendKey(dst, c.uri), from)
	dst = append(dst, ' ')
	dst = c.date.UTC().AppendFormat(dst, cdxjStamp)
	dst = append(dst, ` {"url":"`...)
	dst = appendJSON(dst, c.uri)
	dst = append(dst, '"', ',')
	if mime := mediaType(c.mime); len(mime) > 0 {
		dst = append(dst, `"mime":"`...)
		dst = append(appendJSON(dst, mime), '"', ',')
	}
	if c.status > 0 {
		dst = append(dst, `"status":"`...)
		dst = append(appendInt(dst, int64(c.status)), '"', ',')
	}
	if len(c.digest) > 0 {
		dst = append(dst, `"digest":"`...)
		_, sum, labelled := bytes.Cut(c.digest, []byte(":"))
		if !labelled {
			sum = c.digest
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
	dst = append(appendInt(dst, length), `","offset":"`...)
	return append(appendInt(dst, offset), '"', ',')
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

// mediaType returns the value of a Content-Type field without parameters and spaces, at most MediaTypeMax bytes.
func mediaType(v []byte) []byte {
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

// indexEntry returns the index entry of a record that was read, and reads the head of its block. ok is false for
// records that are not indexed.
func (r *RecordRead) indexEntry() (c indexEntry, ok bool, err error) {
	if !r.Type.indexed() {
		return c, false, nil
	}
	c.uri, c.date = r.TargetURI, r.Date
	c.digest = []byte(r.Get("WARC-Payload-Digest"))
	c.mime = []byte(r.Get("Content-Type"))
	if r.IsHTTP() {
		c.mime = nil
		h, _, err := r.HTTP(false)
		switch {
		case err == nil:
			c.status, c.mime = h.Status, []byte(h.Get("Content-Type"))
		case !errors.Is(err, errNoHead):
			return c, false, err
		}
	}
	if r.Type == Revisit {
		c.mime = []byte("warc/revisit")
	}
	return c, true, nil
}

// collect reads all records of a file and collects the lines of those that are indexed.
func (l *indexLines) collect(z *Reader) error {
	var entry []byte
	return ScanRecords(z, func(rec *RecordRead) error {
		c, ok, err := rec.indexEntry()
		if err != nil || !ok {
			return err
		}
		if err := skipBlock(rec); err != nil {
			return err
		}
		entry = c.append(entry[:0])
		l.add(entry, rec.Offset, rec.Length)
		return nil
	}, StopAtDamage)
}

// WriteIndex reads the records of a file and writes its CDXJ index, sorted by bytes. name is the file name in the
// lines. Response, revisit and resource records are indexed.
func WriteIndex(w io.Writer, z *Reader, name string) error {
	var l indexLines
	if err := l.collect(z); err != nil {
		return err
	}
	return l.writeTo(w, name)
}
