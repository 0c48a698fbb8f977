package crawllog

import (
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/fetch/coding"
	"orbweaver/engine/state/attempt"
	"orbweaver/engine/state/queued"
	"orbweaver/internal/outcome"
	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/faultfs"
)

func TestCrawlLog_columnsAreThoseOfHeritrixAndFullLogsAreCompressed(t *testing.T) {
	fsys := vfs.NewMem(1)
	l, err := Open(fsys, "logs", func(msg string, _ ...any) { t.Error(msg) })
	if err != nil {
		t.Fatal(err)
	}
	l.rotateSize, l.rotateAt = 200, 200
	at := time.Date(2026, 11, 21, 4, 5, 6, 7e6, time.UTC)
	p := &fetch.Page{
		Status: 200, HeadLen: 44, PayloadLen: 12, Complete: true,
		Times: fetch.Times{Started: at, Ended: at.Add(250 * time.Millisecond)},
		Raw:   []byte("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"),
	}
	f := &attempt.Attempt{
		URL: []byte("http://a.test/"), Hops: queued.Hops{Depth: 2, Redirects: 1}, Outcome: outcome.OK,
		Exchange: attempt.Exchange{Worker: 7},
	}
	l.Attempt(p, f, coding.OK, "duplicate:digest")
	l.Refusal([]byte("http://a.test/no"), &queued.URL{}, outcome.RobotsDenied, 3)
	l.Flush()
	l.Attempt(p, f, coding.OK, "")
	if err := l.Close(); err != nil {
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
	want := []string{"2026-11-21T04:05:06.257Z", "200", "12", "http://a.test/", "LLR", "-", "text/html", "#007",
		"20261121040506007+250", "sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "-", "ok,duplicate:digest"}
	if got := strings.Fields(lines[0]); strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if got := strings.Fields(lines[1]); got[1] != "-9998" || got[len(got)-1] != "robots-denied" {
		t.Errorf("%v", got)
	}
}

// After a full log is compressed it cannot be truncated. At no time is a line in two files, and none is lost.
func TestCrawlLog_aRotationThatFailsWritesNoLineTwice(t *testing.T) {
	for _, op := range []faultfs.Op{faultfs.Truncate, faultfs.Write, faultfs.Rename, faultfs.Sync} {
		script := faultfs.NewScript()
		fsys := faultfs.New(vfs.NewMem(1), script)
		l, err := Open(fsys, "logs", func(string, ...any) {})
		if err != nil {
			t.Fatal(err)
		}
		l.rotateSize, l.rotateAt = 2000, 2000
		script.Add(faultfs.Rule{Op: op, Name: "logs/crawl.log*", From: 2, Count: 1, Err: syscall.EIO})
		for i := range 100 {
			l.Refusal(fmt.Appendf(nil, "http://a.test/%d", i), &queued.URL{}, outcome.RobotsDenied, 0)
			l.Flush()
			seen := 0
			if _, err := Read(t.Context(), fsys, "logs", Position{}, func(line *Line) error {
				if string(line.URL) != fmt.Sprintf("http://a.test/%d", seen) {
					t.Errorf("op %v, after %d lines: line %d has %s", op, i+1, seen, line.URL)
				}
				seen++
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if t.Failed() {
				return
			}
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Irregularities of a response are annotations after its outcome. An empty media type is written as "unknown".
func TestCrawlLog_irregularitiesAreAnnotations(t *testing.T) {
	fsys := vfs.NewMem(1)
	l, err := Open(fsys, "logs", func(msg string, _ ...any) { t.Error(msg) })
	if err != nil {
		t.Fatal(err)
	}
	head := "HTTP/1.1 200 OK\r\nContent-Type: ;charset=x\r\n\r\n"
	p := &fetch.Page{
		Status:  200,
		HeadLen: len(head),
		Raw:     []byte(head),
		Flags:   fetch.FlagBothLengths | fetch.FlagSurplus,
	}
	f := &attempt.Attempt{URL: []byte("http://a.test/"), Outcome: outcome.OK}
	l.Attempt(p, f, coding.Lie, "duplicate:digest")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := vfs.ReadFile(fsys, "logs/crawl.log")
	if err != nil {
		t.Fatal(err)
	}
	columns := strings.Fields(string(text))
	if len(columns) != 12 || columns[6] != "unknown" ||
		columns[11] != "ok,duplicate:digest,encoding:lie,both-lengths,surplus" {
		t.Errorf("%q", columns)
	}
}

// A Content-Type of 60 KB must not make a long line, and a certificate that does not verify must be annotated and
// counted.
func TestCrawlLog_longTypesAreTruncatedAndCertificatesCounted(t *testing.T) {
	fsys := vfs.NewMem(1)
	l, err := Open(fsys, "logs", func(msg string, _ ...any) { t.Error(msg) })
	if err != nil {
		t.Fatal(err)
	}
	head := "HTTP/1.1 200 OK\r\nContent-Type: a/" + strings.Repeat("b", 60_000) + "; charset=x\r\n\r\n"
	f := &attempt.Attempt{URL: []byte("http://a.test/"), Outcome: outcome.OK}
	for _, fault := range []string{"expired", "", "wrong-name", "expired"} {
		p := &fetch.Page{Status: 200, HeadLen: len(head), Raw: []byte(head)}
		p.Connection.TLS.Fault = fault
		l.Attempt(p, f, coding.OK, "")
	}
	l.Attempt(&fetch.Page{}, &attempt.Attempt{URL: f.URL, Outcome: outcome.Refused}, coding.OK, "")
	got := l.Counts()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := vfs.ReadFile(fsys, "logs/crawl.log")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	for i, want := range []string{"ok,certificate:expired,long-type", "ok,long-type",
		"ok,certificate:wrong-name,long-type", "ok,certificate:expired,long-type", "refused"} {
		columns := strings.Fields(lines[i])
		if len(lines[i]) > 500 || len(columns) != 12 || columns[11] != want {
			t.Errorf("%d bytes: %.600s, want %s at its end", len(lines[i]), lines[i], want)
		}
	}
	if got.LongTypes != 4 || len(got.Certificates) != 2 || got.Certificates["expired"] != 2 ||
		got.Certificates["wrong-name"] != 1 {
		t.Errorf("%+v", got)
	}
}
