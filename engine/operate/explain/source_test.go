package explain

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"orbweaver/engine/operate/hosts"
	"orbweaver/internal/urlx"
	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/vfstest"
	"orbweaver/warc/lookup"
)

// logLine is a line of crawl.log.
func logLine(n int, status int, url, outcome string) string {
	return fmt.Sprintf("2026-11-25T20:%02d:%02d.000Z %5d %10d %s L - text/html #003 20261125202826001+250 - - %s\n",
		n/60%60, n%60, status, 100, url, outcome)
}

// The lines of a URL are found from the end of the log, wherever the blocks that are read begin.
func TestSearchBackwardFindsEveryLine(t *testing.T) {
	const url = "http://a.test/wanted"
	rng := rand.New(rand.NewPCG(1, 2))
	var log strings.Builder
	var want []string
	for n := 0; log.Len() < 3*logChunk; n++ {
		other := "http://a.test/wanted/" + strings.Repeat("x", rng.IntN(3000)) // the URL is the begin of another
		if rng.IntN(40) == 0 {
			other = url
		}
		line := logLine(n, 200, other, "ok")
		if log.WriteString(line); other == url {
			want = append(want, strings.TrimSuffix(line, "\n"))
		}
	}
	slices.Reverse(want)
	disk := vfstest.WithDir(t, "logs")
	vfstest.WriteAll(t, disk, "logs/crawl.log", []byte(log.String()))
	search := func(most int64) (got []string, left bool) {
		left, err := searchBackward(t.Context(), disk, "logs/crawl.log", []byte(url), most, func(line []byte) bool {
			got = append(got, string(line))
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		return got, left
	}
	if got, left := search(1 << 40); !slices.Equal(got, want) || left {
		t.Errorf("%d lines, want %d; left: %v", len(got), len(want), left)
	}
	got, left := search(logChunk)
	if len(got) == 0 || len(got) >= len(want) || !left || !slices.Equal(got, want[:len(got)]) {
		t.Errorf("%d lines of the last block; left: %v", len(got), left)
	}
	if got, left := search(0); len(got) > 0 || !left {
		t.Error(got, left)
	}
}

// With --whole-log the last lines of a URL are found in the compressed parts, too, the last first.
func TestAddAttempts_readsTheWholeLog(t *testing.T) {
	const url = "http://a.test/wanted"
	part := func(from, to int) []byte {
		var b bytes.Buffer
		for n := from; n < to; n++ {
			b.WriteString(logLine(n, 200+n, url, "ok") + logLine(n, 200, url+"/other", "ok"))
		}
		return b.Bytes()
	}
	packed := func(b []byte) []byte {
		var out bytes.Buffer
		z := gzip.NewWriter(&out)
		_, _ = z.Write(b)
		_ = z.Close()
		return out.Bytes()
	}
	disk := vfstest.WithDir(t, "c/logs")
	vfstest.WriteAll(t, disk, "c/logs/crawl.log.00000.gz", packed(part(0, 30)))
	vfstest.WriteAll(t, disk, "c/logs/crawl.log.00001.gz", packed(part(30, 35)))
	vfstest.WriteAll(t, disk, "c/logs/crawl.log", part(35, 40))
	s := Source{FS: disk, Dir: "c", FlushLog: func() {}}
	for most, want := range map[int64]int{-1: attemptsMost, 1 << 20: 5} {
		var e Evidence
		if err := s.addAttempts(t.Context(), &e, []byte(url), Limits{LogBytes: most}); err != nil || len(e.Attempts) != want {
			t.Fatalf("%d attempts, want %d: %v", len(e.Attempts), want, err)
		}
		for i, a := range e.Attempts {
			if a.Status != 200+39-i {
				t.Errorf("attempt %d has status %d", i, a.Status)
			}
		}
	}
}

// A line that is older than what is read from the end of the log is found at the time of its capture.
func TestSearchFromFindsTheLineOfATime(t *testing.T) {
	const url = "http://a.test/wanted"
	var log strings.Builder
	begin := time.Date(2026, 11, 25, 20, 0, 0, 0, time.UTC)
	for n := range 40_000 { // ten lines a second
		other := fmt.Sprintf("http://a.test/%d", n)
		if n == 12_345 {
			other = url
		}
		at := begin.Add(time.Duration(n) * 100 * time.Millisecond).Format("2006-01-02T15:04:05.000Z")
		log.WriteString(at + logLine(n, 200, other, "ok")[len(at):])
	}
	disk := vfstest.WithDir(t, "logs")
	vfstest.WriteAll(t, disk, "logs/crawl.log", []byte(log.String()))
	for stamp, want := range map[string]int{"2026-11-25T20:20:30": 1, "2026-11-25T20:40:00": 0, "2026-11-25T21:40:00": 0} {
		found := 0
		err := searchFrom(t.Context(), disk, "logs/crawl.log", stamp, []byte(url), func([]byte) bool { found++; return true })
		if err != nil || found != want {
			t.Errorf("from %s: %d lines, %v", stamp, found, err)
		}
	}
}

// A binary search finds the same lines of an index as a search of all of it.
func TestSearchIndexFindsTheLinesOfAURL(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var lines []string
	line := func(url string, n int) string {
		return fmt.Sprintf(`%s 202611252028%02d {"url":%q,"status":"200","length":"9","offset":"%d","filename":"x.warc"}`,
			urlx.SURT(nil, []byte(url)), n, url, n) + "\n"
	}
	urls := map[string]int{}
	for n := range 4000 {
		url := fmt.Sprintf("http://h%d.test/%s", n%50, strings.Repeat("p", rng.IntN(400)))
		for k := range 1 + n%3 {
			lines = append(lines, line(url, k))
			urls[url]++
		}
	}
	slices.Sort(lines)
	disk := vfstest.WithDir(t, "warc")
	vfstest.WriteAll(t, disk, "warc/x.cdxj", []byte(strings.Join(lines, "")))
	find := func(url string) (n int) {
		want := lookup.Exact(urlx.SURT(nil, []byte(url)))
		err := lookup.EachLine(disk, "warc/x.cdxj", want, func(l []byte) {
			if !bytes.Contains(l, fmt.Appendf(nil, `"url":%q`, url)) {
				t.Errorf("%s: a strange line %s", url, l)
			}
			n++
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for url, want := range urls {
		if got := find(url); got != want {
			t.Fatalf("%s: %d lines, want %d", url, got, want)
		}
	}
	for _, url := range []string{"http://aaa.test/", "http://h7.test/pppx", "http://zzz.test/"} {
		if got := find(url); got != 0 {
			t.Errorf("%s: %d lines", url, got)
		}
	}
}

// One sentence says what became of a URL: the strongest fact decides.
func TestConcludeSaysWhatBecameOfAURL(t *testing.T) {
	waiting := &hosts.Host{Site: "http://a.test", State: "waiting", Queued: 480, Waits: []hosts.Wait{
		{Reason: hosts.CrawlDelay, Seconds: 8, Text: "Crawl-delay 10s of its robots.txt"}}}
	due := &hosts.Host{Site: "http://a.test", State: "waiting", Queued: 480, Waits: []hosts.Wait{}}
	dead := &hosts.Host{State: "dead", Waits: []hosts.Wait{{Reason: hosts.Dead, Text: "the site is given up: refused"}}}
	queue := &Queue{QueuedURL: hosts.QueuedURL{Position: 12, DueSeconds: 48}, Of: 480}
	now := &Queue{QueuedURL: hosts.QueuedURL{Position: 1}, Of: 480}
	allowed := &hosts.Robots{State: "valid", Allowed: true}
	denied := &hosts.Robots{State: "valid", Line: 7, Rule: "Disallow: /x"}
	ok := Attempt{Time: "T", Status: 200, Outcome: "ok", Size: 9, Final: true}
	for _, c := range []struct {
		e       Evidence
		paused  string
		result  Result
		verdict string
	}{
		{Evidence{Exchange: 3, Sieve: "known"}, "", InExchange, "an exchange for it is under way since 3s"},
		{Evidence{Host: waiting, Queue: queue, Robots: allowed}, "", Queued,
			"not fetched: queued at position 12 of 480 on http://a.test, due in 48s; Crawl-delay 10s of its robots.txt"},
		{Evidence{Host: waiting, Queue: queue, Robots: denied}, "", Queued,
			"not fetched: queued at position 12 of 480 on http://a.test, due in 48s; it will be refused: line 7 of " +
				"robots.txt: Disallow: /x"},
		{Evidence{Host: due, Queue: now, Robots: allowed}, "", Queued,
			"not fetched: queued at position 1 of 480 on http://a.test, due now"},
		{Evidence{Host: due, Queue: now, Robots: allowed}, "paused by the operator", Queued,
			"not fetched: queued at position 1 of 480 on http://a.test; no exchange begins: paused by the operator"},
		{Evidence{Attempts: []Attempt{ok}, Captures: []Capture{{File: "warc/x.warc.gz", Offset: 5}}}, "", Fetched,
			"fetched: status 200 (ok) at T, 9 bytes, in warc/x.warc.gz at offset 5"},
		{Evidence{Robots: denied, Attempts: []Attempt{{Time: "T", Status: -9998, Outcome: "robots-denied", Final: true}}},
			"", Refused, "not fetched: robots-denied at T: line 7 of robots.txt: Disallow: /x"},
		{Evidence{Attempts: []Attempt{{Time: "T", Status: -2, Outcome: "refused"}}}, "", Waiting,
			"not fetched: refused at T; it is tried again"},
		{Evidence{Attempts: []Attempt{{Time: "T", Status: -2, Outcome: "refused", Final: true}}}, "", Failed,
			"not stored: refused at T, and it is not tried again"},
		{Evidence{Host: dead, Sieve: "known"}, "", Failed,
			"not fetched: its host is given up: the site is given up: refused"},
		{Evidence{Skipped: "the path repeats itself", Sieve: "known"}, "", Skipped,
			"not fetched: skipped as part of a trap: the path repeats itself"},
		{Evidence{Sieve: "known"}, "", Waiting,
			"not fetched: found, and not yet in the queue of its host; 3 URLs wait in the ready queue"},
		{Evidence{Host: due, Queue: now, Robots: allowed, Attempts: []Attempt{ok}, AsOf: "S"}, "killed", Fetched,
			"fetched: status 200 (ok) at T, 9 bytes, in the archive"},
		{Evidence{Sieve: "known", logLeft: true}, "", Unclear,
			"not found: it is known, and has no line in the part of crawl.log that was read (--whole-log); it may also be " +
				"one of 3 URLs in the ready queue"},
		{Evidence{Sieve: "unknown"}, "", NeverSeen,
			"not fetched: no page that was crawled so far links to it, or its filters refused each link"},
		{Evidence{Owner: "agent-2", Sieve: "unknown", ownerFault: ErrNotAsked}, "", Elsewhere,
			"agent agent-2 owns its host: ask that agent (orbweaver explain --dir its directory)"},
		{Evidence{Owner: "agent-2", Sieve: "unknown", ownerFault: io.ErrUnexpectedEOF}, "", Elsewhere,
			"agent agent-2 owns its host, and did not answer: ask that agent (orbweaver explain --dir its directory)"},
		{Evidence{Owner: "agent-2", Says: &Evidence{Result: Queued, Verdict: "not fetched: next"}}, "", Queued,
			"agent agent-2, which owns its host, says: not fetched: next"},
	} {
		s := Source{Ready: func() uint64 { return 3 }, Hosts: &hosts.Lister{Paused: func() string { return c.paused }}}
		c.e.Running = c.paused != "killed"
		s.Running = c.e.Running
		if s.conclude(&c.e); c.e.Result != c.result || c.e.Verdict != c.verdict {
			t.Errorf("%s: %s\nwant %s: %s", c.e.Result, c.e.Verdict, c.result, c.verdict)
		}
	}
}

// The last 16 MiB of a log, for a URL that is not in it.
func BenchmarkSearchBackward(b *testing.B) {
	disk := vfs.NewMem(1)
	if err := disk.MkdirAll("logs"); err != nil {
		b.Fatal(err)
	}
	var log bytes.Buffer
	for n := 0; log.Len() < 16<<20; n++ {
		log.WriteString(logLine(n, 200, fmt.Sprintf("http://host%d.test/archive/2004/page-%d.html", n%977, n), "ok"))
	}
	if err := vfs.WriteAtomic(disk, "logs/crawl.log", func(w io.Writer) error {
		_, err := w.Write(log.Bytes())
		return err
	}); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(log.Len()))
	for b.Loop() {
		url := []byte("http://host1.test/archive/2004/page-x.html")
		_, err := searchBackward(b.Context(), disk, "logs/crawl.log", url, 1<<40, func([]byte) bool {
			b.Fatal("found")
			return true
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
