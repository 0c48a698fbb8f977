package recrawl

import (
	"strings"
	"testing"
	"time"

	"orbweaver/warc"
	"orbweaver/warc/block"
)

// headOf makes a stored head of header lines.
func headOf(t *testing.T, lines ...string) *block.Head {
	t.Helper()
	block := "HTTP/1.1 200 OK\r\n" + strings.Join(append(lines, "", ""), "\r\n")
	rec := &warc.RecordRead{Type: warc.Response, Block: []byte(block)}
	head, _, ok := rec.HTTPMessage()
	if !ok {
		t.Fatal("no head")
	}
	return &head
}

// Only valid validators are sent back.
func TestCondition_takesValidValidatorsOnly(t *testing.T) {
	stored := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	f := func(want string, lines ...string) {
		t.Helper()
		var c Condition
		ok := c.setValidators(headOf(t, lines...), stored)
		got := strings.TrimSpace(string(c.IfNoneMatch) + " " + string(c.IfModifiedSince))
		if got != want || ok != (want != "") {
			t.Errorf("%q: %q (%v), want %q", lines, got, ok, want)
		}
	}
	const date = "Mon, 06 May 2024 07:00:00 GMT"
	f(`"a"`, `ETag: "a"`)
	f(`W/"a"`, `etag: W/"a"`)
	f(`""`, `ETag: ""`)
	f(`"a" `+date, `ETag: "a"`, "Last-Modified: "+date)
	f(date, "Last-Modified: "+date)
	f(date, "Last-Modified: Monday, 06-May-24 07:00:00 GMT")
	f(date, "Last-Modified: Mon May  6 07:00:00 2024")
	// Not exactly one valid entity tag.
	f("", "ETag: a")
	f("", `ETag: "a`)
	f("", `ETag: "`)
	f("", `ETag: w/"a"`)
	f("", `ETag: "a b"`)
	f("", `ETag: "a"b"`)
	f("", `ETag: "a"`, `ETag: "b"`)
	f("", `ETag: "`+strings.Repeat("x", etagMax)+`"`)
	f(date, "ETag: a", "Last-Modified: "+date)
	// No usable date.
	f("", "Last-Modified: yesterday")
	f("", "Last-Modified: Mon, 06 May 2024 07:00:00 +0200")
	f("", "Last-Modified: Mon, 06 May 2024 07:08:09 GMT")
	f("", "Last-Modified: Mon, 06 May 2024 08:00:00 GMT")
	f("", "Last-Modified: "+date, "Last-Modified: "+date)
	// Changed in the second of the response, by the clock of the server.
	f("", "Date: "+date, "Last-Modified: "+date)
	f(date, "Date: Mon, 06 May 2024 07:00:01 GMT", "Last-Modified: "+date)
	f("")
}
