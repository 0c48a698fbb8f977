package engine

import (
	"compress/gzip"
	"io"
	"strings"
	"testing"
	"time"

	"orbweaver/engine/fetch"
	"orbweaver/engine/outcome"
	"orbweaver/internal/vfs"
)

func TestCrawlLog_columnsAreThoseOfHeritrixAndFullLogsAreCompressed(t *testing.T) {
	fsys := vfs.NewMem(1)
	l, err := openCrawlLog(fsys, "logs", func(msg string, _ ...any) { t.Error(msg) })
	if err != nil {
		t.Fatal(err)
	}
	l.max, l.rotate = 200, 200
	at := time.Date(2026, 11, 21, 4, 5, 6, 7e6, time.UTC)
	p := &fetch.Page{
		Status: 200, HeadLen: 44, PayloadLen: 12, Complete: true, Started: at, Ended: at.Add(250 * time.Millisecond),
		Raw: []byte("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"),
	}
	f := &flight{url: []byte("http://a.test/"), depth: 2, hops: 1, outcome: outcome.OK, worker: 7}
	l.attempt(p, f, fetch.DecodeOK, "duplicate:digest")
	l.refusal([]byte("http://a.test/no"), &Item{}, outcome.RobotsDenied, 3)
	l.flush()
	l.attempt(p, f, fetch.DecodeOK, "")
	if err := l.close(); err != nil {
		t.Fatal(err)
	}
	names, err := fsys.List("logs")
	if err != nil || len(names) != 2 {
		t.Fatalf("%v %v", names, err)
	}
	z, err := fsys.Open("logs/crawl.log.00000.gz")
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(z)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	want := []string{"2026-11-21T04:05:06.257Z", "200", "12", "http://a.test/", "LLR", "-", "text/html", "#0007",
		"20261121040506.007+250", "sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "-", "ok,duplicate:digest"}
	if got := strings.Fields(lines[0]); strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if got := strings.Fields(lines[1]); got[1] != "-9998" || got[len(got)-1] != "robots-denied" {
		t.Errorf("%v", got)
	}
}

// What is odd about a response is told behind its outcome, and a type that is none leaves no column empty.
func TestCrawlLog_odditiesAreAnnotations(t *testing.T) {
	fsys := vfs.NewMem(1)
	l, err := openCrawlLog(fsys, "logs", func(msg string, _ ...any) { t.Error(msg) })
	if err != nil {
		t.Fatal(err)
	}
	head := "HTTP/1.1 200 OK\r\nContent-Type: ;charset=x\r\n\r\n"
	p := &fetch.Page{Status: 200, HeadLen: len(head), Raw: []byte(head), Flags: fetch.FlagBothLengths | fetch.FlagSurplus}
	f := &flight{url: []byte("http://a.test/"), outcome: outcome.OK}
	l.attempt(p, f, fetch.DecodeLie, "duplicate:digest")
	if err := l.close(); err != nil {
		t.Fatal(err)
	}
	text, err := vfs.ReadFile(fsys, "logs/crawl.log")
	if err != nil {
		t.Fatal(err)
	}
	columns := strings.Fields(string(text))
	if len(columns) != 12 || columns[6] != "unknown" || columns[11] != "ok,duplicate:digest,encoding:lie,both-lengths,surplus" {
		t.Errorf("%q", columns)
	}
}

// A Content-Type of 60 KB went whole into the log, and a certificate that does not verify was in the archive only.
func TestCrawlLog_longTypesAreCutAndCertificatesCounted(t *testing.T) {
	fsys := vfs.NewMem(1)
	l, err := openCrawlLog(fsys, "logs", func(msg string, _ ...any) { t.Error(msg) })
	if err != nil {
		t.Fatal(err)
	}
	head := "HTTP/1.1 200 OK\r\nContent-Type: a/" + strings.Repeat("b", 60_000) + "; charset=x\r\n\r\n"
	f := &flight{url: []byte("http://a.test/"), outcome: outcome.OK}
	for _, fault := range []string{"expired", "", "wrong-name", "expired"} {
		p := &fetch.Page{Status: 200, HeadLen: len(head), Raw: []byte(head), TLS: &fetch.TLSFacts{Fault: fault}}
		l.attempt(p, f, fetch.DecodeOK, "")
	}
	l.attempt(&fetch.Page{}, &flight{url: f.url, outcome: outcome.Refused}, fetch.DecodeOK, "")
	got := l.counted()
	if err := l.close(); err != nil {
		t.Fatal(err)
	}
	text, err := vfs.ReadFile(fsys, "logs/crawl.log")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	for i, want := range []string{"ok,certificate:expired,long-type", "ok,long-type", "ok,certificate:wrong-name,long-type", "ok,certificate:expired,long-type", "refused"} {
		columns := strings.Fields(lines[i])
		if len(lines[i]) > 500 || len(columns) != 12 || columns[11] != want {
			t.Errorf("%d bytes: %.600s, want %s at its end", len(lines[i]), lines[i], want)
		}
	}
	if got.longTypes != 4 || len(got.certificates) != 2 || got.certificates["expired"] != 2 || got.certificates["wrong-name"] != 1 {
		t.Errorf("%+v", got)
	}
}
