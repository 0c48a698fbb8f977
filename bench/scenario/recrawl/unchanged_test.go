//go:build scenario

package recrawl

import (
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// A revisit that says "unchanged", of a record that is in another crawl's archive, is sound, is kept by a rebuild, and
// leaves its page done.
func TestRebuild_keepsRevisitsOfUnchangedPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := testbed.KillHalfWay(t, testbed.CopiesWorld(*testbed.FirstSeed+840), 100*time.Hour, testbed.Sigkill)
		before := testbed.CountCaptures(t, b.Disk)
		url := ""
		for u, n := range before {
			if n.Pages == 1 && n.All == 1 {
				url = u
			}
		}
		appendUnchanged(t, b.Disk, url)
		r := testbed.Rebuild(t, b.Rig, b.Cfg, b.Disk)
		if len(r.Damage) > 0 {
			t.Errorf("damage: %v", r.Damage)
		}
		testbed.ResumeToEnd(t, b.Rig, b.Cfg, b.Disk, 0)
		if n := testbed.CountCaptures(t, b.Disk)[url]; n.All != 2 || n.Pages != 1 {
			t.Errorf("%s: %+v, and one page and one revisit were there", url, n)
		}
	})
}

// appendUnchanged puts a revisit of a page behind the archive.
func appendUnchanged(t *testing.T, fsys *vfs.Mem, url string) {
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
		Type: warc.Revisit, Profile: warc.ProfileNotModified, Date: time.Now(), TargetURI: []byte(url),
		Index:    &warc.IndexInfo{Status: 304},
		RefersTo: warc.ID{1, 2, 3}, RefersToURI: url, RefersToDate: time.Now().Add(-time.Hour),
		Block: [][]byte{[]byte("HTTP/1.1 304 Not Modified\r\nETag: \"7\"\r\n\r\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Append(e.Group()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}
