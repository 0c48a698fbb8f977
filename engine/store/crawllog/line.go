package crawllog

import (
	"bytes"
	"strconv"
	"time"
)

// Line is a line of crawl.log. Its fields borrow the bytes that Parse got. A column that is "-" is nil.
type Line struct {
	Time     []byte // end of the attempt: the first column, as it is
	Status   int
	Size     int64 // bytes of the payload; -1 without a request
	URL      []byte
	Hops     []byte
	Via      []byte
	Type     []byte
	Started  []byte        // YYYYMMDDhhmmssSSS; nil without a request
	Duration time.Duration // of the attempt
	Digest   []byte
	Outcome  []byte
	End      Position // of the line; of Read alone
	notes    []byte   // all annotations, separated by commas
}

// columns is the number of columns of a line.
const columns = 12

// Parse reads a line without its newline, in this format or the one before it, which has a dot in Started. It returns
// false if the line is damaged.
func Parse(b []byte) (l Line, ok bool) {
	var column [columns][]byte
	for i := range column {
		b = bytes.TrimLeft(b, " ")
		end := bytes.IndexByte(b, ' ')
		if end < 0 {
			end = len(b)
		}
		if end == 0 || i == columns-1 && end != len(b) {
			return l, false
		}
		column[i], b = b[:end], b[end:]
	}
	status, err := strconv.Atoi(string(column[1]))
	if err != nil {
		return l, false
	}
	l = Line{
		Time: column[0], Status: status, Size: -1, URL: column[3], Hops: orNil(column[4]), Via: orNil(column[5]),
		Type: column[6], Digest: orNil(column[9]), notes: column[11],
	}
	if size := orNil(column[2]); size != nil {
		if l.Size, err = strconv.ParseInt(string(size), 10, 64); err != nil {
			return l, false
		}
	}
	if took := orNil(column[8]); took != nil {
		began, milliseconds, _ := bytes.Cut(took, []byte{'+'})
		n, err := strconv.ParseInt(string(milliseconds), 10, 64)
		if err != nil {
			return l, false
		}
		l.Started, l.Duration = began, time.Duration(n)*time.Millisecond
	}
	l.Outcome, _, _ = bytes.Cut(l.notes, []byte{','})
	return l, true
}

func orNil(column []byte) []byte {
	if len(column) == 1 && column[0] == '-' {
		return nil
	}
	return column
}

// Has reports whether the line has an annotation.
func (l *Line) Has(note string) bool {
	_, ok := l.annotation(func(n []byte) bool { return string(n) == note })
	return ok
}

// Value returns what follows the prefix of an annotation; nil if the line has none with this prefix.
func (l *Line) Value(prefix string) []byte {
	n, ok := l.annotation(func(n []byte) bool { return bytes.HasPrefix(n, []byte(prefix)) })
	if !ok {
		return nil
	}
	return n[len(prefix):]
}

// annotation returns the first annotation behind the outcome for which is returns true.
func (l *Line) annotation(is func(n []byte) bool) (found []byte, ok bool) {
	_, rest, more := bytes.Cut(l.notes, []byte{','})
	for more {
		var n []byte
		if n, rest, more = bytes.Cut(rest, []byte{','}); is(n) {
			return n, true
		}
	}
	return nil, false
}

// IsFinal reports whether the line has the outcome of a URL of the crawl. Each admitted URL that is not queued has one
// final line.
func (l *Line) IsFinal() bool {
	if l.IsNotAdmitted() {
		return false
	}
	_, other := l.annotation(func(n []byte) bool {
		switch string(n) {
		case noteRetry, noteProof, notePrerequisite, noteRequeued:
			return true
		default:
			return false
		}
	})
	return !other
}

// IsRequeued reports whether the line takes back the outcome of an earlier final line of the URL.
func (l *Line) IsRequeued() bool { return l.Has(noteRequeued) }

// IsProof reports whether the line is of a request that shows whether a failing site serves pages.
func (l *Line) IsProof() bool { return l.Has(noteProof) }

// IsDuplicate reports whether the payload was stored before.
func (l *Line) IsDuplicate() bool { return l.Value(noteDuplicate) != nil }

// IsNotAdmitted reports whether the line is of a seed that did not enter the frontier.
func (l *Line) IsNotAdmitted() bool { return string(l.Outcome) == outcomeNotAdmitted }

// IsPrerequisite reports whether the line is of a robots.txt.
func (l *Line) IsPrerequisite() bool { return l.Has(notePrerequisite) }

// Location returns the target of a redirect; nil if the line has none.
func (l *Line) Location() []byte { return l.Value(noteLocation) }

// CertificateFault returns why the certificate of the server does not verify; nil if it does, or without TLS.
func (l *Line) CertificateFault() []byte { return l.Value(noteCertificate) }

// Wall returns the protection service that answered in place of the page; nil if none did.
func (l *Line) Wall() []byte { return l.Value(noteWall) }
