package throughput

import (
	"bytes"
	"flag"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/net/html"

	"orbweaver/internal/cputime"
	"orbweaver/internal/trial"
)

var urls = flag.Int64("urls", 20_000, "known URLs at the end")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The whole frontier, until it knows some URLs. Run checks that every page was requested once.
func TestFabricated(t *testing.T) {
	start := time.Now()
	web := &Fabricated{
		URLs: *urls, Hosts: max(*urls/10, 1000), IPs: max(*urls/40, 250), Seed: 1, Think: 2 * time.Millisecond, Idle: true,
	}
	r, err := Frontier(t.Context(), trial.Options{
		Dir: filepath.Join(t.TempDir(), "crawl"), Fetchers: 256, SkipVerify: true, Version: "test",
		HostDelay: 40 * time.Millisecond, IPDelay: 5 * time.Millisecond, Progress: t.Output(),
		Log:   slog.New(slog.DiscardHandler),
		Usage: func() (time.Duration, int64) { return cputime.Process(), 1 },
	}, web)
	if err != nil {
		t.Fatal(err)
	}
	r.Print(t.Output())
	last := r.Curve.Points[len(r.Curve.Points)-1]
	if last.Items < *urls || last.PerSecond <= 0 || last.DiskPerItem <= 0 {
		t.Errorf("%+v after %v", last, time.Since(start))
	}
}

// A page links to ten pages that no page before it linked to, and to ten with lower numbers.
func TestEachPageIsLinkedFirstFromOnePage(t *testing.T) {
	w := &web{hosts: 1000, seed: 7}
	found := map[uint64]bool{0: true}
	for n := range uint64(500) {
		answer := w.appendResponse(nil, w.appendURL(nil, n))
		head, body, _ := bytes.Cut(answer, []byte("\r\n\r\n"))
		if !bytes.Contains(head, []byte("Content-Length: ")) || !bytes.HasPrefix(head, []byte("HTTP/1.1 200 OK")) {
			t.Fatalf("%s", head)
		}
		fresh, old := 0, 0
		z := html.NewTokenizer(bytes.NewReader(body))
		for z.Next() != html.ErrorToken {
			name, more := z.TagName()
			if string(name) != "a" || !more {
				continue
			}
			_, url, _ := z.TagAttr()
			to, ok := number(url)
			switch {
			case !ok || !bytes.Equal(url, w.appendURL(nil, to)):
				t.Fatalf("page %d links to %s", n, url)
			case found[to]:
				old++
			default:
				found[to] = true
				fresh++
			}
		}
		if fresh != children || old != known {
			t.Fatalf("page %d has %d new links and %d old ones", n, fresh, old)
		}
	}
}

func TestOtherURLsAreNotFound(t *testing.T) {
	w := &web{hosts: 10}
	for _, url := range []string{"http://h1.frontier.test/robots.txt", "http://h1.frontier.test/", "http://x/page-.html",
		"http://x/page-1x.html", ""} {
		if got := w.appendResponse(nil, []byte(url)); !bytes.HasPrefix(got, []byte("HTTP/1.1 404 ")) {
			t.Errorf("%s: %s", url, got)
		}
	}
}
