package testbed

import (
	"testing"

	"orbweaver/internal/trial/captures"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// EachRecord reads all records of the archive in order, with their blocks. A fault fails the test.
func EachRecord(t *testing.T, fsys vfs.FS, look func(rec *warc.RecordRead)) {
	t.Helper()
	EachRecordAt(t, fsys, func(rec *warc.RecordRead, _ warc.Checkpoint) { look(rec) })
}

// EachRecordAt is EachRecord with the place of each record.
func EachRecordAt(t *testing.T, fsys vfs.FS, look func(rec *warc.RecordRead, at warc.Checkpoint)) {
	t.Helper()
	if err := captures.RecordsAt(fsys, "crawl/warc", func(at warc.Checkpoint, rec *warc.RecordRead) error {
		if _, err := rec.ReadBlock(1 << 24); err != nil {
			return err
		}
		look(rec, at)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
