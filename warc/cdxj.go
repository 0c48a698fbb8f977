package warc

import (
	"bytes"
	"errors"
	"io"
	"time"
	"unicode/utf8"

	"orbweaver/engine/urlx"
)

// indexEntry is one line of a CDXJ without what depends on the place in the archive.
type indexEntry struct {
	date   time.Time
	uri    []byte
	status int // 0: none
	mime   []byte
	digest []byte // empty: none
}

// cdxjStamp is the 14-digit time of index lines, in UTC.
const cdxjStamp = "20060102150405"

// append adds the line up to, and with, the comma after its last field. Fields, their order and their spelling are those that
// pywb and warcio write: numbers as strings, no label on the digest, no field for what is not known.
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

// placeMax is what appendPlace appends at most: its words, and two numbers of 64 bits.
const placeMax = 64

// appendPlace adds length and offset of the record in its file; the line still lacks the file's name.
func appendPlace(dst []byte, offset, length int64) []byte {
	dst = append(dst, `"length":"`...)
	dst = append(appendInt(dst, length), `","offset":"`...)
	return append(appendInt(dst, offset), '"', ',')
}

// appendKey adds the sort key: the SURT of web addresses, and of anything else (dns:, urn:) the URI as it is.
func appendKey(dst, uri []byte) []byte {
	if bytes.HasPrefix(uri, []byte("http://")) || bytes.HasPrefix(uri, []byte("https://")) {
		return urlx.SURT(dst, uri)
	}
	return append(dst, uri...)
}

// cleanKey percent-encodes, in dst[from:], what would break the line into more columns or lines.
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

// MediaTypeMax is the length in bytes beyond which the media type of an index line is cut: type and subtype have 127 each at most
// (RFC 6838), and what is longer is none.
const MediaTypeMax = 255

// mediaType cuts parameters and spaces off the value of a Content-Type field, and what is beyond MediaTypeMax.
func mediaType(v []byte) []byte {
	if i := bytes.IndexAny(v, ";,"); i >= 0 {
		v = v[:i]
	}
	v = bytes.TrimSpace(v)
	return v[:min(len(v), MediaTypeMax)]
}

// appendJSON adds s as the inside of a JSON string. What is not UTF-8 becomes U+FFFD.
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
			case r == '\u2028' || r == '\u2029': // ends of lines to some readers
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

// indexEntry gathers what the index says of a record that was read, and reads the head of its block. ok is false for records that are not
// indexed.
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

// collect reads all records of a file and gathers their index lines, for those that are to be indexed.
func (l *indexLines) collect(z *Reader) error {
	var entry []byte
	for {
		rec, err := z.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		c, ok, err := rec.indexEntry()
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if _, err := io.Copy(io.Discard, onlyReader{rec}); err != nil {
			return err
		}
		entry = c.append(entry[:0])
		l.add(entry, rec.Offset, rec.Length)
	}
}

// WriteIndex reads the records of a file and writes its CDXJ, sorted by the bytes of its lines. name is what the lines call the
// file. Response, revisit and resource records are indexed.
func WriteIndex(w io.Writer, z *Reader, name string) error {
	var l indexLines
	if err := l.collect(z); err != nil {
		return err
	}
	return l.writeTo(w, name)
}
