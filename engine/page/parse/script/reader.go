package script

import "bytes"

// Place is where a script stands. It decides against which URL a relative string is resolved, and what is looked for.
type Place uint8

// The places.
const (
	File    Place = iota // a file of its own, or data: a location in it is relative to a page that is not known
	Page                 // an element of a page
	Handler              // an attribute of an element, or a javascript: URL
)

// Link is a URL in a script.
type Link struct {
	Ref      []byte // without escapes, not resolved
	IsImport bool   // the script needs this script
}

// locationsMost is how many bytes of the start of each script of a page are searched for relative locations. Scripts
// that lead to another page are short.
const locationsMost = 4 << 10

// handlerMost is how many bytes of a handler are searched.
const handlerMost = 4 << 10

// Reader finds the links of one script at a time. It is not safe for concurrent use.
type Reader struct {
	b     []byte
	place Place
	pass  pass
	p     int    // what is before it was read
	arena []byte // strings without escapes, of all scripts since Begin
}

// pass is one way of reading a script. A script is read once in each of them.
type pass uint8

const (
	bySlash    pass = iota // strings with a slash
	byEscape               // strings whose first slash is escaped
	byLocation             // strings behind the word location
	byQuote                // all strings
	ended
)

// arenaKept is the most memory that is kept for the next page, in bytes.
const arenaKept = 1 << 20

// Begin forgets the links of the previous page.
func (r *Reader) Begin() {
	if cap(r.arena) > arenaKept {
		r.arena = nil
	}
	r.arena, r.b, r.pass = r.arena[:0], nil, ended
}

// Open starts to read a script, which it borrows until Begin.
func (r *Reader) Open(b []byte, place Place) {
	if place == Handler {
		b = r.unpercent(b[:min(len(b), handlerMost)])
	}
	r.b, r.place, r.pass, r.p = b, place, bySlash, 0
}

// unpercent returns the script of a javascript: URL whose quotes are percent-encoded. Any other stays as it is.
func (r *Reader) unpercent(b []byte) []byte {
	if bytes.IndexByte(b, '%') < 0 || bytes.ContainsAny(b, "\"'`") {
		return b
	}
	start := len(r.arena)
	for len(b) > 0 {
		c, size := b[0], 1
		if c == '%' && len(b) > 2 {
			if value, ok := number(b[1:3]); ok {
				c, size = byte(value), 3
			}
		}
		r.arena, b = append(r.arena, c), b[size:]
	}
	return r.arena[start:len(r.arena):len(r.arena)]
}

// Next returns the next link; false at the end.
func (r *Reader) Next() (Link, bool) {
	for {
		var l Link
		var ok bool
		switch r.pass {
		case bySlash:
			l, ok = r.nextString()
		case byEscape:
			l, ok = r.nextEscaped()
		case byLocation:
			l, ok = r.nextLocation()
		case byQuote:
			l, ok = r.nextFile()
		default:
			return Link{}, false
		}
		if ok {
			return l, true
		}
		r.p = 0
		r.pass = r.passAfter(r.pass)
	}
}

// passAfter returns which pass comes next.
func (r *Reader) passAfter(p pass) pass {
	switch {
	case p == bySlash:
		return byEscape
	case p == byEscape && r.place == Page:
		return byLocation
	case p == byEscape && r.place == Handler:
		return byQuote
	}
	return ended
}
