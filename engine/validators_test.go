package engine

import (
	"strings"
	"testing"
	"time"

	"orbweaver/warc"
)

// headOf makes a stored head of header lines.
func headOf(t *testing.T, lines ...string) *warc.HTTPHead {
	t.Helper()
	rec := &warc.RecordRead{Type: warc.Response, Block: []byte("HTTP/1.1 200 OK\r\n" + strings.Join(append(lines, "", ""), "\r\n"))}
	head, _, ok := rec.HTTPMessage()
	if !ok {
		t.Fatal("no head")
	}
	return &head
}

// Only what a server said in a form that it can be told again is sent back.
func TestQuestionsAreMadeOfWhatTheServerSaid(t *testing.T) {
	stored := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	f := func(want string, lines ...string) {
		t.Helper()
		var q question
		ok := q.put(headOf(t, lines...), stored)
		if got := strings.TrimSpace(string(q.match) + " " + string(q.since)); got != want || ok != (want != "") {
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
	// No entity tag, or more than one.
	f("", "ETag: a")
	f("", `ETag: "a`)
	f("", `ETag: "`)
	f("", `ETag: w/"a"`)
	f("", `ETag: "a b"`)
	f("", `ETag: "a"b"`)
	f("", `ETag: "a"`, `ETag: "b"`)
	f("", `ETag: "`+strings.Repeat("x", etagMax)+`"`)
	f(date, "ETag: a", "Last-Modified: "+date)
	// No date, or one that says nothing.
	f("", "Last-Modified: yesterday")
	f("", "Last-Modified: Mon, 06 May 2024 07:00:00 +0200")
	f("", "Last-Modified: Mon, 06 May 2024 07:08:09 GMT")
	f("", "Last-Modified: Mon, 06 May 2024 08:00:00 GMT")
	f("", "Last-Modified: "+date, "Last-Modified: "+date)
	// By the server's own clock it had changed just then.
	f("", "Date: "+date, "Last-Modified: "+date)
	f(date, "Date: Mon, 06 May 2024 07:00:01 GMT", "Last-Modified: "+date)
	f("")
}
