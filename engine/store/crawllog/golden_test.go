package crawllog

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/fetch/coding"
	"orbweaver/engine/state/attempt"
	"orbweaver/engine/state/queued"
	"orbweaver/internal/golden"
	"orbweaver/internal/outcome"
	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/vfstest"
)

// The lines must equal those of the golden file, and Parse must read them.
func TestGolden_crawlLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := vfs.NewMem(1)
		l, err := Open(disk, "logs", func(msg string, _ ...any) { t.Error(msg) })
		if err != nil {
			t.Fatal(err)
		}
		at := time.Date(2026, 11, 21, 4, 5, 6, 7e6, time.UTC)
		page := func(status int, head string) *fetch.Page {
			return &fetch.Page{
				Status: status, HeadLen: len(head), PayloadLen: 12, Complete: true, Raw: []byte(head),
				Times: fetch.Times{Started: at, Ended: at.Add(250 * time.Millisecond)},
			}
		}
		html := page(200, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
		l.Attempt(html, &attempt.Attempt{
			URL: []byte("http://a.test/"), Via: []byte("http://b.test/"), Hops: queued.Hops{Depth: 2, Redirects: 1},
			Outcome: outcome.OK, Exchange: attempt.Exchange{Worker: 7},
		}, coding.OK, "duplicate:digest")
		l.Attempt(&fetch.Page{Times: fetch.Times{Started: at, Ended: at}},
			&attempt.Attempt{URL: []byte("http://b.test/"), Outcome: outcome.Refused, WillRetry: true}, coding.OK, "")
		l.Attempt(page(200, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"),
			&attempt.Attempt{URL: []byte("http://a.test/robots.txt"), Outcome: outcome.OK, IsRobots: true}, coding.OK, "")
		l.Attempt(page(302, "HTTP/1.1 302 Found\r\nLocation: /a,b\r\n\r\n"),
			&attempt.Attempt{
				URL: []byte("http://a.test/to"), Hops: queued.Hops{Depth: 1}, Outcome: outcome.Redirect,
			}, coding.OK, "")
		l.Refusal([]byte("http://a.test/no"), &queued.URL{Depth: 1}, outcome.RobotsDenied, 3)
		l.Refusal([]byte("http://a.test/trap"), &queued.URL{Depth: 60}, outcome.Novelty, 0)
		l.Requeue([]byte("http://a.test/trap"), &queued.URL{Depth: 60}, outcome.Novelty)
		l.Attempt(html, &attempt.Attempt{
			URL: []byte("http://cdn.test/a.css"), Hops: queued.Hops{Depth: 1, Embeds: 2, Redirects: 1}, Outcome: outcome.OK,
		}, coding.OK, "")
		l.Attempt(html, &attempt.Attempt{
			URL: []byte("http://a.test/x"), Hops: queued.Hops{Depth: 2, Speculative: true}, Outcome: outcome.OK,
		}, coding.OK, "")
		l.Refusal([]byte("http://a.test/y"), &queued.URL{
			Depth: 2, Embeds: 1, Via: []byte("http://a.test/"), HopPath: []byte("RLXE"),
		}, outcome.RobotsDenied, 3)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		golden.Compare(t, "crawl-3.log", sumOfVersion3, vfstest.ReadAll(t, disk, "logs/crawl.log"))
	})
}

const (
	sumOfVersion1 = "0dcc9cbd7bd9e53129576d0b71c5d436c2c8809ffa0a5a3011d9f67781be9c53"
	sumOfVersion2 = "90133698b7f1da90a1ea24f3345dbc13a13ebee51100c7e525e966d9fbf4f609"
	sumOfVersion3 = "2c3b4827756dff00030effe3ce02611905ff3e39ee9d4a32d334226515d1fccd"
)

// All versions of the format are read.
func TestGolden_parseReadsAllVersions(t *testing.T) {
	for name, want := range map[string][]string{
		"crawl-1.log": {
			"final 200 12 http://a.test/ LLR  text/html 20261121040506.007 250ms ok",
			"retry -2 0 http://b.test/   unknown 20261121040506.007 0s refused",
			"final -9998 -1 http://a.test/no L  unknown  0s robots-denied",
		},
		"crawl-2.log": {
			"final 200 12 http://a.test/ LLR http://b.test/ text/html 20261121040506007 250ms ok",
			"retry -2 0 http://b.test/   unknown 20261121040506007 0s refused",
			"prerequisite 200 12 http://a.test/robots.txt   text/plain 20261121040506007 250ms ok",
			"final 302 12 http://a.test/to L  unknown 20261121040506007 250ms redirect http://a.test/a%2Cb",
			"final -9998 -1 http://a.test/no L  unknown  0s robots-denied",
			"final -4000 -1 http://a.test/trap " + strings.Repeat("L", 50) + "  unknown  0s novelty",
			"requeued -4000 -1 http://a.test/trap " + strings.Repeat("L", 50) + "  unknown  0s novelty",
		},
		"crawl-3.log": {
			"final 200 12 http://a.test/ LLR http://b.test/ text/html 20261121040506007 250ms ok",
			"retry -2 0 http://b.test/   unknown 20261121040506007 0s refused",
			"prerequisite 200 12 http://a.test/robots.txt P  text/plain 20261121040506007 250ms ok",
			"final 302 12 http://a.test/to L  unknown 20261121040506007 250ms redirect http://a.test/a%2Cb",
			"final -9998 -1 http://a.test/no L  unknown  0s robots-denied",
			"final -4000 -1 http://a.test/trap " + strings.Repeat("L", 50) + "  unknown  0s novelty",
			"requeued -4000 -1 http://a.test/trap " + strings.Repeat("L", 50) + "  unknown  0s novelty",
			"final 200 12 http://cdn.test/a.css LEER  text/html 20261121040506007 250ms ok",
			"final 200 12 http://a.test/x LX  text/html 20261121040506007 250ms ok",
			"final -9998 -1 http://a.test/y RLXE http://a.test/ unknown  0s robots-denied",
		},
	} {
		sum := map[string]string{
			"crawl-1.log": sumOfVersion1, "crawl-2.log": sumOfVersion2, "crawl-3.log": sumOfVersion3,
		}[name]
		var got []string
		for line := range bytes.Lines(golden.Read(t, name, sum)) {
			l, ok := Parse(bytes.TrimSuffix(line, []byte{'\n'}))
			if !ok {
				t.Fatalf("%s: %q is not read", name, line)
			}
			kind := "retry"
			switch {
			case l.IsFinal():
				kind = "final"
			case l.IsPrerequisite():
				kind = "prerequisite"
			case l.IsRequeued():
				kind = "requeued"
			}
			text := fmt.Sprintf("%s %d %d %s %s %s %s %s %v %s", kind, l.Status, l.Size, l.URL, l.Hops, l.Via, l.Type, l.Started,
				l.Duration, l.Outcome)
			if to := l.Location(); to != nil {
				text += " " + string(to)
			}
			got = append(got, text)
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}
