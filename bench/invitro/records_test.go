package invitro

import (
	"testing"

	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// eachRecord reads all records of a crawl's archive in order, with their blocks, and minds every fault. look may keep them.
func eachRecord(t *testing.T, fsys vfs.FS, look func(rec *warc.RecordRead)) {
	t.Helper()
	if err := Records(fsys, "crawl/warc", func(rec *warc.RecordRead) error {
		if _, err := rec.ReadBlock(1 << 24); err != nil {
			return err
		}
		look(rec)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
