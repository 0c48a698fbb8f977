//go:build scenario

package storage

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine/check/fsck"
	"orbweaver/engine/durable/inspect"
	"orbweaver/engine/state/layout"
	"orbweaver/internal/vfs"
	"orbweaver/virtualize/diskq"
	"orbweaver/warc"
)

// Here every file is sound by itself and under a good checksum, and what they say of each other is not: a URL in two
// places, in none, or with a record that the frontier does not know.
func TestFsck_everyURLIsInOnePlaceAndEveryPageHasItsRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		whole := halfWayWithReady(t, *testbed.FirstSeed+501)
		stored, waits := someURLs(t, whole)
		for _, c := range []struct {
			name  string
			plant func(t *testing.T, fsys *vfs.Mem)
			area  string
			says  string
		}{
			{"a page that is stored waits again", ready(stored), "ready", "its answer is in the archive"},
			{"a URL waits twice", ready(waits), "ready", "(I1)"},
			{"a URL waits that the sieve does not know", ready("http://unknown.test/"), "ready",
				"the sieve does not know it (I4)"},
			{"a record of a URL that nobody admitted", func(t *testing.T, fsys *vfs.Mem) {
				t.Helper()
				appendCapture(t, fsys, "http://unknown.test/")
			}, "sieve", "whose answer is in warc/"},
			{"a page that is done and has no record", func(t *testing.T, fsys *vfs.Mem) {
				t.Helper()
				amendManifest(t, fsys, func(m map[string]any) {
					outcomes := m["counters"].(map[string]any)["Outcomes"].([]any)
					outcomes[1] = count(t, outcomes[1]) + 1000 // more than there are answers for a robots.txt
				})
			}, "counters", "URLs have a last answer, and the archive has that of"},
			{"a record that nobody counted", func(t *testing.T, fsys *vfs.Mem) {
				t.Helper()
				amendManifest(t, fsys, func(m map[string]any) {
					outcomes := m["counters"].(map[string]any)["Outcomes"].([]any)
					outcomes[1] = count(t, outcomes[1]) - 1
				})
			}, "counters", "URLs have a last answer, and the archive has that of"},
		} {
			disk := whole.KillClone()
			c.plant(t, disk)
			// A little memory, so that the lists go to disk.
			temp := vfs.NewMem(1)
			r, err := fsck.Check(t.Context(), disk, "crawl",
				fsck.Options{Temp: temp, TempDir: "lists", MemoryBytes: 64 << 10})
			if err != nil {
				t.Fatal(err)
			}
			if !says(&r, c.area, c.says) {
				r.Print(t.Output())
				t.Errorf("%s: fsck does not say so", c.name)
			}
			if temp.Used() != 0 {
				t.Errorf("%s: %d bytes are left in the temporary directory", c.name, temp.Used())
			}
		}
	})
}

func says(r *fsck.Report, area, text string) bool {
	for _, f := range r.Findings {
		if f.Severity == fsck.Error && f.Area == area && strings.Contains(f.Text, text) {
			return true
		}
	}
	return false
}

// someURLs gives one that is stored and one that waits.
func someURLs(t *testing.T, fsys *vfs.Mem) (stored, waits string) {
	t.Helper()
	for url, n := range testbed.CountCaptures(t, fsys) {
		if n.Pages == 1 && n.All == 1 && (stored == "" || url < stored) {
			stored = url
		}
	}
	cut := testbed.Inspect(t, fsys)
	q, err := diskq.Open(fsys.KillClone(), diskq.Options{Dir: "crawl/" + layout.ReadyDir}, &cut.Ready)
	if err != nil {
		t.Fatal(err)
	}
	item, ok, err := q.Read(nil)
	if err != nil || !ok {
		t.Fatal("nothing in the ready queue", err)
	}
	url, _, ok := inspect.QueuedURL(nil, nil, item)
	if !ok || stored == "" {
		t.Fatal("no URLs to try")
	}
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
	return stored, string(url)
}

// ready puts a URL into the ready queue.
func ready(url string) func(*testing.T, *vfs.Mem) {
	return func(t *testing.T, fsys *vfs.Mem) {
		t.Helper()
		cut := testbed.Inspect(t, fsys)
		q, err := diskq.Open(fsys, diskq.Options{Dir: "crawl/" + layout.ReadyDir}, &cut.Ready)
		if err != nil {
			t.Fatal(err)
		}
		if err := q.Append(append([]byte{0, 0, 0}, url...)); err != nil {
			t.Fatal(err)
		}
		next, err := q.Checkpoint()
		if err != nil {
			t.Fatal(err)
		}
		if err := q.Close(); err != nil {
			t.Fatal(err)
		}
		amendManifest(t, fsys, func(m map[string]any) { m["ready"] = next })
	}
}

// appendCapture puts a response behind the archive.
func appendCapture(t *testing.T, fsys *vfs.Mem, url string) {
	t.Helper()
	cut := testbed.Inspect(t, fsys)
	w, err := warc.OpenWriter(fsys, warc.Options{Dir: "crawl/warc"}, cut.Archive)
	if err != nil {
		t.Fatal(err)
	}
	e, err := warc.NewEncoder(warc.EncoderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	err = e.Append(&warc.Record{
		Type: warc.Response, Date: time.Now(), TargetURI: []byte(url), Index: &warc.IndexInfo{Status: 404},
		Block: [][]byte{[]byte("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	pos, err := w.Append(e.Group())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	amendManifest(t, fsys, func(m map[string]any) { m["archive"] = pos.End() })
}

func count(t *testing.T, v any) int64 {
	t.Helper()
	n, err := v.(json.Number).Int64()
	if err != nil {
		t.Fatal(err)
	}
	return n
}
