package recrawl

import (
	"strings"
	"time"

	"orbweaver/engine/state/attempt"
	"orbweaver/warc/block"
)

// ConditionalTries is the number of a URL's first tries that may be conditional requests. Later tries are
// unconditional: perhaps the server failed because of the condition.
const ConditionalTries = 2

// Condition is the condition of a request: the page has changed since its previous capture. A worker reuses it for all
// of its requests.
type Condition struct {
	Previous        attempt.PreviousCapture
	IfNoneMatch     []byte // value of that field; empty if the field is not sent
	IfModifiedSince []byte // value of that field; empty if the field is not sent
}

// setValidators takes the validators of a stored head (RFC 9110, section 8.8); date is when the exchange began. It
// reports false if the head has none.
func (c *Condition) setValidators(head *block.Head, date time.Time) bool {
	c.IfNoneMatch = appendETag(c.IfNoneMatch[:0], head)
	c.IfModifiedSince = appendLastModified(c.IfModifiedSince[:0], head, date)
	return len(c.IfNoneMatch)+len(c.IfModifiedSince) > 0
}

// etagMax limits the length of an entity tag that is sent back, in bytes.
const etagMax = 1 << 10

// appendETag appends the value of the head's ETag as received. It appends nothing if the field is absent, repeated or
// malformed.
func appendETag(dst []byte, head *block.Head) []byte {
	tag := singleField(head, "ETag")
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

// appendLastModified appends the head's Last-Modified as an IMF-fixdate. It appends nothing if there is no valid date,
// or if the date is less than a second before the response: the page may have changed again within that second, and the
// date would not show it.
func appendLastModified(dst []byte, head *block.Head, date time.Time) []byte {
	modified, ok := httpDate(singleField(head, "Last-Modified"))
	if !ok {
		return dst
	}
	if sent, ok := httpDate(singleField(head, "Date")); ok && sent.Before(date) {
		date = sent // by the same clock as modified
	}
	if date.Sub(modified) < time.Second {
		return dst
	}
	return modified.AppendFormat(dst, imfFixdate)
}

const imfFixdate = "Mon, 02 Jan 2006 15:04:05 GMT"

// httpDate parses a date in any of the three forms of RFC 9110.
func httpDate(s string) (time.Time, bool) {
	for _, layout := range [...]string{imfFixdate, time.RFC850, time.ANSIC} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

// singleField returns the value of a field that occurs exactly once; else "".
func singleField(head *block.Head, name string) string {
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
