package recrawl

import (
	"bytes"
	"testing"
	"testing/synctest"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine/operate/report"
	"orbweaver/internal/simweb"
	"orbweaver/internal/trial/captures"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// outlinks counts the lines of links in the metadata records.
func outlinks(t *testing.T, fsys vfs.FS) (n int) {
	t.Helper()
	err := captures.Records(fsys, "crawl/warc", func(rec *warc.RecordRead) error {
		if rec.Type != warc.Metadata {
			return nil
		}
		if _, err := rec.ReadBlock(1 << 26); err != nil {
			return err
		}
		n += bytes.Count(rec.Block, []byte("outlink: "))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A second pass over pages that have not changed adds no links to the archive, whether the servers answer 304 or send
// the pages again.
func TestRefresh_doesNotDoubleTheLinksOfUnchangedPages(t *testing.T) {
	for name, validators := range map[string]float64{"servers answer 304": 1, "servers send the page": 0} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				world := testbed.SmallWorld(*testbed.FirstSeed+861, simweb.Plain())
				world.Validators, world.CopyShare = validators, 0
				rig := testbed.MustRig(t, world, true)
				cfg := rig.Config()
				testbed.AllMetadata(&cfg)
				first := rig.MustCrawl(t, cfg, rig.FS)
				links := outlinks(t, rig.FS)
				rig.Connect()
				cfg.Refresh = true
				var second report.Report
				if second = rig.MustCrawl(t, cfg, rig.FS); second.Pass != 2 {
					t.Fatalf("pass %d: %s", second.Pass, second.Reason)
				}
				if now := outlinks(t, rig.FS); links < int(first.PagesStored) || now != links {
					t.Errorf("%d links, %d after a second pass of %d unchanged pages and %d revisits", links, now,
						second.PagesUnchanged, second.RevisitsStored)
				}
			})
		})
	}
}
