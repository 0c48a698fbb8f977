package cookie

import (
	"bytes"
	"strconv"
	"time"
)

const (
	pairMax      = 4096 // bytes of a cookie's name and value
	attributeMax = 1024 // bytes of an attribute's value; a longer attribute is ignored
)

// setCookie is a Set-Cookie field as a user agent reads it (RFC 6265bis, section 5.7), which is more than servers
// should send. Its slices are parts of the field.
type setCookie struct {
	name, value, domain, path []byte
	secure                    bool
	maxAge                    int64 // seconds; 0 or less is the past
	hasMaxAge                 bool
	expires                   time.Time // zero for none
}

// readSetCookie reads a field. It returns false if a user agent ignores all of it.
func readSetCookie(field []byte) (s setCookie, ok bool) {
	if bytes.ContainsFunc(field, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		return s, false
	}
	pair, rest, _ := bytes.Cut(field, []byte{';'})
	name, value, hasName := bytes.Cut(pair, []byte{'='})
	if !hasName {
		name, value = nil, pair
	}
	s.name, s.value = trim(name), trim(value)
	if size := len(s.name) + len(s.value); size == 0 || size > pairMax {
		return s, false
	}
	for len(rest) > 0 {
		var one []byte
		one, rest, _ = bytes.Cut(rest, []byte{';'})
		name, value, _ := bytes.Cut(one, []byte{'='})
		if value = trim(value); len(value) <= attributeMax {
			s.readAttribute(trim(name), value)
		}
	}
	return s, true
}

// readAttribute reads an attribute. Of several with the same name, the last valid one counts.
func (s *setCookie) readAttribute(name, value []byte) {
	switch string(bytes.ToLower(name)) {
	case "expires":
		if t, ok := readDate(value); ok {
			s.expires = t
		}
	case "max-age":
		if seconds, ok := readMaxAge(value); ok {
			s.maxAge, s.hasMaxAge = seconds, true
		}
	case "domain":
		s.domain = bytes.TrimPrefix(value, []byte{'.'})
	case "path":
		s.path = value
	case "secure":
		s.secure = true
	}
}

// readMaxAge reads digits, with a minus sign or without. A number too large for an int64 is the largest.
func readMaxAge(value []byte) (seconds int64, ok bool) {
	digits := bytes.TrimPrefix(value, []byte{'-'})
	if len(digits) == 0 || bytes.ContainsFunc(digits, func(r rune) bool { return r < '0' || r > '9' }) {
		return 0, false
	}
	seconds, _ = strconv.ParseInt(string(value), 10, 64) // at the limits if there are more digits
	return seconds, true
}

func trim(b []byte) []byte { return bytes.Trim(b, " \t") }

// readDate reads a date as section 5.1.1 says: a time, a day, a month and a year, in any order, among other words.
func readDate(value []byte) (t time.Time, ok bool) {
	var clock [3]int
	var hasClock bool
	day, month, year := -1, 0, -1
	for _, word := range bytes.FieldsFunc(value, isDateDelimiter) {
		if !hasClock {
			if clock, hasClock = readClock(word); hasClock {
				continue
			}
		}
		if n, digits := leadingNumber(word); day < 0 && (digits == 1 || digits == 2) {
			day = n
			continue
		}
		if month == 0 {
			if month = monthOf(word); month > 0 {
				continue
			}
		}
		if n, digits := leadingNumber(word); year < 0 && digits >= 2 && digits <= 4 {
			year = n
		}
	}
	switch {
	case year >= 70 && year <= 99:
		year += 1900
	case year >= 0 && year <= 69:
		year += 2000
	}
	if !hasClock || day < 1 || day > 31 || month == 0 || year < 1601 || clock[0] > 23 || clock[1] > 59 || clock[2] > 59 {
		return t, false
	}
	t = time.Date(year, time.Month(month), day, clock[0], clock[1], clock[2], 0, time.UTC)
	return t, t.Day() == day // there is no 30 February
}

func isDateDelimiter(r rune) bool {
	return r == '\t' || r >= ' ' && r <= '/' || r >= ';' && r <= '@' || r >= '[' && r <= '`' || r >= '{' && r <= '~'
}

// leadingNumber returns the number at the beginning of a word and how many digits it has.
func leadingNumber(word []byte) (n, digits int) {
	for ; digits < len(word) && word[digits] >= '0' && word[digits] <= '9' && digits < 5; digits++ {
		n = n*10 + int(word[digits]-'0')
	}
	return n, digits
}

// readClock reads hours, minutes and seconds, with one or two digits each.
func readClock(word []byte) (clock [3]int, ok bool) {
	for i := range clock {
		n, digits := leadingNumber(word)
		if digits == 0 || digits > 2 {
			return clock, false
		}
		clock[i], word = n, word[digits:]
		if i < 2 {
			if len(word) == 0 || word[0] != ':' {
				return clock, false
			}
			word = word[1:]
		}
	}
	return clock, true
}

// monthOf returns the month whose first three letters a word begins with, or 0.
func monthOf(word []byte) int {
	const names = "janfebmaraprmayjunjulaugsepoctnovdec"
	if len(word) < 3 {
		return 0
	}
	at := bytes.Index([]byte(names), bytes.ToLower(word[:3]))
	if at < 0 || at%3 != 0 {
		return 0
	}
	return at/3 + 1
}
