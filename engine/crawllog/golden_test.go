package crawllog

import (
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/golden"
	"orbweaver/engine/attempt"
	"orbweaver/engine/fetch"
	"orbweaver/engine/fetch/coding"
	"orbweaver/engine/queued"
	"orbweaver/internal/outcome"
	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/vfstest"
)

// The lines must equal those of the golden file.
func TestGolden_crawlLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := vfs.NewMem(1)
		l, err := Open(disk, "logs", func(msg string, _ ...any) { t.Error(msg) })
		if err != nil {
			t.Fatal(err)
		}
		at := time.Date(2026, 11, 21, 4, 5, 6, 7e6, time.UTC)
		p := &fetch.Page{
			Status: 200, HeadLen: 44, PayloadLen: 12, Complete: true,
			Times: fetch.Times{Started: at, Ended: at.Add(250 * time.Millisecond)},
			Raw:   []byte("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"),
		}
		l.Attempt(
			p,
			&attempt.Attempt{URL: []byte("http://a.test/"), Depth: 2, Redirects: 1, Outcome: outcome.OK, Worker: 7},
			coding.OK,
			"duplicate:digest",
		)
		l.Attempt(
			&fetch.Page{Times: fetch.Times{Started: at, Ended: at}},
			&attempt.Attempt{URL: []byte("http://b.test/"), Outcome: outcome.Refused, WillRetry: true},
			coding.OK,
			"",
		)
		l.Refusal([]byte("http://a.test/no"), &queued.URL{Depth: 1}, outcome.RobotsDenied, 3)
		l.Flush()
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		golden.Compare(
			t,
			"crawl-1.log",
			"0dcc9cbd7bd9e53129576d0b71c5d436c2c8809ffa0a5a3011d9f67781be9c53",
			vfstest.ReadAll(t, disk, "logs/crawl.log"),
		)
	})
}
