//go:build scenario

package invitro

import (
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// A revisit that says "unchanged", of a record that is in another crawl's archive, is sound, is kept by a rebuild, and leaves its page done.
func TestRebuild_keepsRevisitsOfUnchangedPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := dieHalfWay(t, copies(*firstSeed+840), 100*time.Hour, sigkill)
		before := captured(t, b.disk)
		url := ""
		for u, n := range before {
			if n.pages == 1 && n.all == 1 {
				url = u
			}
		}
		appendUnchanged(t, b.disk, url)
		r := rebuild(t, b.rig, b.cfg, b.disk)
		if len(r.Damage) > 0 {
			t.Errorf("damage: %v", r.Damage)
		}
		goOn(t, b.rig, b.cfg, b.disk, 0)
		if n := captured(t, b.disk)[url]; n.all != 2 || n.pages != 1 {
			t.Errorf("%s: %+v, and one page and one revisit were there", url, n)
		}
	})
}

// appendUnchanged puts a revisit of a page behind the archive.
func appendUnchanged(t *testing.T, fsys *vfs.Mem, url string) {
	t.Helper()
	cut := inspect(t, fsys)
	w, err := warc.OpenWriter(fsys, warc.Options{Dir: "crawl/warc"}, &cut.Archive)
	if err != nil {
		t.Fatal(err)
	}
	e, err := warc.NewEncoder(warc.EncoderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	err = e.Append(&warc.Record{
		Type: warc.Revisit, Profile: warc.ProfileNotModified, Date: time.Now(), TargetURI: []byte(url), Index: &warc.IndexInfo{Status: 304},
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
