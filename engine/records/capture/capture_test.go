package capture

import (
	"fmt"
	"strings"
	"testing"

	"orbweaver/warc"
)

// What counts as an answer is what an agent says that it has when it is asked: no half a page, nothing that is tried
// again, no page that was requested only because a robots.txt redirects there.
func TestIsAnswer(t *testing.T) {
	f := func(want bool, kind, fields, block string) {
		t.Helper()
		text := fmt.Sprintf(
			"WARC/1.1\r\nWARC-Type: %s\r\nWARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000001>\r\n"+
				"WARC-Date: 2026-01-01T00:00:00Z\r\nWARC-Target-URI: http://a.test/\r\n"+
				"Content-Type: application/http; msgtype=response\r\n%sContent-Length: %d\r\n\r\n%s\r\n\r\n",
			kind,
			fields,
			len(block),
			block,
		)
		z := warc.NewReader(strings.NewReader(text), warc.ReaderOptions{Name: "x.warc"})
		defer z.Close()
		rec, err := z.Next()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := IsAnswer(rec); got != want || err != nil {
			t.Errorf("%s %s%q: %v %v", kind, fields, block, got, err)
		}
	}
	f(true, "response", "", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab")
	f(true, "response", "", "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
	f(true, "response", "", "HTTP/1.1 301 Moved\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n")
	f(true, "response", "WARC-Truncated: length\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab")
	f(true, "revisit", "WARC-Profile: "+warc.ProfileIdentical+"\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n")
	f(false, "response", "WARC-Truncated: disconnect\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab")
	f(false, "response", "", "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n")
	f(false, "response", "", "HTTP/1.1 429 Slow\r\nContent-Length: 0\r\n\r\n")
	f(false, "response", "", "HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n")
	f(false, "resource", "", "no HTTP")
	f(false, "response", "Orbweaver-Exchange: took=0.1 for=robots.txt\r\n", "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n")
	f(true, "response", "Orbweaver-Exchange: took=0.1 idle=4\r\n", "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n")
}

func TestHopPathIsReadFromMetadataRecord(t *testing.T) {
	group := []warc.RecordRead{
		{Type: warc.Response, Block: []byte("HTTP/1.1 200 OK\r\nhopsFromSeed: X\r\n\r\n")},
		{Type: warc.Request},
		{Type: warc.Metadata, Block: []byte("via: http://v.test/\r\nhopsFromSeed: LER\r\n")},
	}
	for i, want := range []string{"", "", "LER"} {
		if path := HopPath(&group[i]); string(path) != want {
			t.Errorf("%q", path)
		}
	}
}
