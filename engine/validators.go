package engine

import (
	"strings"
	"time"

	"orbweaver/engine/attempt"
	"orbweaver/warc"
)

// question asks whether a page has changed since it was stored. It belongs to a worker, who asks one after the other.
type question struct {
	before attempt.PreviousCapture
	match  []byte // value of If-None-Match; empty for none
	since  []byte // of If-Modified-Since
}

// put fills in what a stored head says by which the page can be known again (RFC 9110, section 8.8); date is when the
// exchange began. False means that it says nothing.
func (q *question) put(head *warc.HTTPHead, date time.Time) bool {
	q.match = appendETag(q.match[:0], head)
	q.since = appendModified(q.since[:0], head, date)
	return len(q.match)+len(q.since) > 0
}

// etagMax is the longest entity tag that is sent back, in bytes.
const etagMax = 1 << 10

// appendETag appends the value of the head's ETag, as it came; nothing if there is none, or more than one, or one that
// is none.
func appendETag(dst []byte, head *warc.HTTPHead) []byte {
	tag := one(head, "ETag")
	opaque := tag
	if len(opaque) > 2 && opaque[:2] == "W/" {
		opaque = opaque[2:]
	}
	if len(tag) > etagMax || len(opaque) < 2 || opaque[0] != '"' || opaque[len(opaque)-1] != '"' {
		return dst
	}
	for _, c := range []byte(opaque[1 : len(opaque)-1]) {
		if c <= ' ' || c == '"' || c == 0x7f {
			return dst
		}
	}
	return append(dst, tag...)
}

// appendModified appends the head's Last-Modified in the one form that is to be sent; nothing if there is none, or if
// it lies not at least a second before the answer: the page may have changed again in that second, and the date would
// not tell.
func appendModified(dst []byte, head *warc.HTTPHead, date time.Time) []byte {
	modified, ok := httpDate(one(head, "Last-Modified"))
	if !ok {
		return dst
	}
	if sent, ok := httpDate(one(head, "Date")); ok && sent.Before(date) {
		date = sent // by the server's clock, as the other
	}
	if date.Sub(modified) < time.Second {
		return dst
	}
	return modified.AppendFormat(dst, imfFixdate)
}

const imfFixdate = "Mon, 02 Jan 2006 15:04:05 GMT"

// httpDate reads a date in any of the three forms that RFC 9110 has.
func httpDate(s string) (time.Time, bool) {
	for _, layout := range [...]string{imfFixdate, time.RFC850, time.ANSIC} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

// one is the value of a field that is there once, empty for any other.
func one(head *warc.HTTPHead, name string) string {
	value, n := "", 0
	for i := range head.Fields {
		if strings.EqualFold(head.Fields[i].Name, name) {
			value = head.Fields[i].Value
			n++
		}
	}
	if n != 1 {
		return ""
	}
	return value
}
