package replay

import (
	"io"
	"strconv"
	"strings"

	"orbweaver/warc/lookup"
)

// byteRange is a part of a payload.
type byteRange struct {
	from, length int64
	isWhole      bool // no part was asked for
}

// sizeOf returns the length of the payload in bytes, 0 if it is not known before it is read. Browsers need it to play a
// part of a film.
func sizeOf(p *lookup.Page) int64 {
	if p.Encoding != "" || p.Truncated != "" || p.Head.Chunked() {
		return 0
	}
	size, err := strconv.ParseInt(p.Head.Get("Content-Length"), 10, 64)
	if err != nil || size < 0 {
		return 0
	}
	return size
}

// rangeOf reads a Range field. Without one, and with several parts, it is the whole payload. ok is false if no byte is
// in the part.
func rangeOf(field string, size int64) (part byteRange, ok bool) {
	whole := byteRange{0, size, true}
	first, last, found := strings.Cut(strings.TrimPrefix(strings.TrimSpace(field), "bytes="), "-")
	if !strings.HasPrefix(field, "bytes=") || !found {
		return whole, true
	}
	from, err := strconv.ParseInt(first, 10, 64)
	if first == "" { // the last bytes
		n, err := strconv.ParseInt(last, 10, 64)
		if err != nil {
			return whole, true
		}
		n = min(n, size)
		return byteRange{size - n, n, false}, n > 0
	}
	to := size - 1
	if last != "" && err == nil {
		to, err = strconv.ParseInt(last, 10, 64)
	}
	if err != nil || from < 0 || to < from && last != "" {
		return whole, true
	}
	return byteRange{from, min(to, size-1) - from + 1, false}, from < size
}

// copy writes the part of a payload. What is before it is read, too.
func (part byteRange) copy(w io.Writer, payload io.Reader) error {
	if _, err := io.CopyN(io.Discard, payload, part.from); err != nil {
		return err
	}
	_, err := io.CopyN(w, payload, part.length)
	return err
}
