package invitro

import (
	"io"
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
	files, err := warc.Files(fsys, "crawl/warc")
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range files {
		f, err := fsys.Open("crawl/warc/" + info.Name)
		if err != nil {
			t.Fatal(err)
		}
		z := warc.NewReader(f, warc.ReaderOptions{Name: info.Name, Syntax: warc.Fail, Spec: warc.Fail, Block: warc.Fail})
		for {
			rec, err := z.Next()
			if err == io.EOF {
				break
			}
			if err == nil {
				_, err = rec.ReadBlock(1 << 24)
			}
			if err != nil {
				t.Fatal(err)
			}
			look(rec, warc.Cut{Serial: info.Serial, Length: rec.Offset})
		}
		z.Close()
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}
