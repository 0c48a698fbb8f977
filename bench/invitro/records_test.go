package invitro

import (
	"testing"

	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// eachRecord reads all records of a crawl's archive in order, with their blocks, and minds every fault. look may keep them.
func eachRecord(t *testing.T, fsys vfs.FS, look func(rec *warc.RecordRead)) {
	t.Helper()
	eachRecordAt(t, fsys, func(rec *warc.RecordRead, _ warc.Cut) { look(rec) })
}

// eachRecordAt tells where each record begins, too.
func eachRecordAt(t *testing.T, fsys vfs.FS, look func(rec *warc.RecordRead, at warc.Cut)) {
	t.Helper()
	if err := RecordsAt(fsys, "crawl/warc", func(at warc.Cut, rec *warc.RecordRead) error {
		if _, err := rec.ReadBlock(1 << 24); err != nil {
			return err
		}
		look(rec, at)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
