package fetch

import (
	"bytes"
	"iter"
	"math"
	"time"

	"orbweaver/internal/httphead"
	"orbweaver/internal/mediatype"
)

// Head is the head of a response as received: the status line, the fields and the empty line. It is empty if no
// complete head came.
type Head []byte

// Value returns the value of the first field of that name, in any case, without outer spaces; nil if there is none. It
// aliases h, unless the value was folded over several lines.
func (h Head) Value(name string) []byte {
	_, fields := httphead.Split(h)
	return firstValue(fields, name)
}

// Values ranges over the values of all fields of that name, in any case, in order.
func (h Head) Values(name string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		_, fields := httphead.Split(h)
		for field, value := range httphead.Fields(fields) {
			if httphead.EqualFold(field, name) && !yield(value) {
				return
			}
		}
	}
}

// Fields ranges over all fields in order: name as sent, value.
func (h Head) Fields() iter.Seq2[[]byte, []byte] {
	_, fields := httphead.Split(h)
	return httphead.Fields(fields)
}

// HasField reports whether a field has a name that is wanted. It allocates nothing.
func (h Head) HasField(isWanted func(name []byte) bool) bool {
	_, fields := httphead.Split(h)
	for name := range httphead.Fields(fields) {
		if isWanted(name) {
			return true
		}
	}
	return false
}

// EarlyHints ranges over the fields of those interim responses that have status 103 (RFC 8297), in order. It borrows
// heads, which are one after the other as in Page.Interim.
func EarlyHints(heads []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		for rest := heads; len(rest) > 0; {
			n := httphead.Length(rest)
			if n == 0 {
				return
			}
			line, fields := httphead.Split(rest[:n])
			rest = rest[n:]
			if status, _ := httphead.Status(line); status != earlyHints {
				continue
			}
			for name, value := range httphead.Fields(fields) {
				if !yield(name, value) {
					return
				}
			}
		}
	}
}

const earlyHints = 103

// ContentType returns the media type that the fields Content-Type have, with parameters, as package mediatype reads
// them. It is nil if there is no valid one. It aliases h if there is one field with one valid type.
func (h Head) ContentType() []byte { return mediatype.Declared(h.DeclaredType()) }

// DeclaredType returns what ContentType reads: the values of all fields Content-Type. It aliases h if there is one.
func (h Head) DeclaredType() []byte {
	_, fields := httphead.Split(h)
	return joinValues(fields, "content-type")
}

// Location returns the first Location, or nil.
func (h Head) Location() []byte { return h.Value("location") }

// Patience is the wait that Retry-After asks for, however long: politeness.Policy.RetryAfterMax is its only limit.
type Patience struct {
	Wait     time.Duration // at least 0; the longest duration for all that is longer
	Negative bool          // a field asked for less than 0
}

// RetryAfter returns the wait that the site asks for, counted from ended, when the exchange ended: seconds or a date
// (RFC 9110, section 10.2.3). The longest counts if there are several. It returns false if there is no valid value.
func (h Head) RetryAfter(ended time.Time) (asked Patience, ok bool) {
	for value := range h.Values("retry-after") {
		if d, read := retryAfter(value, ended); read {
			asked.Wait, asked.Negative, ok = max(asked.Wait, d), asked.Negative || d < 0, true
		}
	}
	return asked, ok
}

// retryAfter parses one value. A number too large for a duration counts as the longest one, and a negative one as -1.
func retryAfter(value []byte, now time.Time) (time.Duration, bool) {
	number := bytes.TrimPrefix(value, []byte{'-'})
	if len(number) > 0 && len(number) == digitsOf(number) {
		n, ok := parseDecimal(number)
		switch {
		case len(number) < len(value) && (!ok || n > 0):
			return -time.Second, true
		case !ok || n > math.MaxInt64/int64(time.Second):
			return math.MaxInt64, true
		}
		return time.Duration(n) * time.Second, true
	}
	if len(value) == 0 || len(value) > 64 {
		return 0, false
	}
	for _, layout := range [...]string{"Mon, 02 Jan 2006 15:04:05 GMT", time.RFC850, time.ANSIC, time.RFC1123Z} {
		if t, err := time.Parse(layout, string(value)); err == nil {
			return t.Sub(now), true
		}
	}
	return 0, false
}
