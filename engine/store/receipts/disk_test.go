package receipts

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"testing"

	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/vfstest"
)

const (
	hereName = "test-20260101000000000-00001-host.warc.gz"
	awayName = "test-20260101000000000-00000-host.warc.gz"
)

// A removed file is found among others with its length and its object. A file that is here is read here.
func TestDisk_findsRemovedFiles(t *testing.T) {
	s := newStore(t)
	disk := Over(s.fsys).ReadFiles(s).ReadRecords(s)
	away := disk.FindAway([]string{"crawl/warc/" + hereName, "crawl/warc/" + awayName, "crawl/warc/none.warc.gz"})
	if away.Files != 1 || away.Bytes != 10 || away.First.Place() != "s3://bucket/one" {
		t.Errorf("%+v", away)
	}
	if disk.Object("crawl/warc/"+hereName) != "" || disk.Object("crawl/warc/"+awayName) != "s3://bucket/one" {
		t.Error("Object does not say where the file is")
	}
	for _, name := range []string{hereName, awayName} {
		got, err := vfs.ReadFile(disk, "crawl/warc/"+name)
		if err != nil || string(got) != "0123456789" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if s.requests != 1 {
		t.Errorf("%d requests, want one for the removed file", s.requests)
	}
}

// A whole file is read once from its beginning: otherwise its digest could not be compared. Nothing can be written.
func TestDisk_readsAWholeFileInOrder(t *testing.T) {
	s := newStore(t)
	f, err := Over(s.fsys).ReadFiles(s).Open("crawl/warc/" + awayName)
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 4)
	if n, err := f.ReadAt(b, 0); n != 4 || err != nil {
		t.Error(n, err)
	}
	if n, err := f.ReadAt(b, 6); n != 0 || !errors.Is(err, errInOrder) {
		t.Error(n, err)
	}
	if n, err := f.ReadAt(b, 10); n != 0 || !errors.Is(err, io.EOF) {
		t.Error("behind the end:", n, err)
	}
	for what, err := range map[string]error{
		"Truncate": f.Truncate(0), "Sync": f.Sync(), "Allocate": f.Allocate(0, 1),
	} {
		if !errors.Is(err, errReadOnly) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := f.Close(); err != nil || s.open != 0 {
		t.Errorf("%v, %d requests are open", err, s.open)
	}
}

// An object that is longer or shorter than the range that was asked for gives no byte too many, and an error.
func TestDisk_readsNoMoreThanItAskedFor(t *testing.T) {
	s := newStore(t)
	s.extra = "and more"
	disk := Over(s.fsys).ReadFiles(s).ReadRecords(s)
	if got, err := vfs.ReadFile(disk, "crawl/warc/"+awayName); err != nil || string(got) != "0123456789" {
		t.Errorf("%q, %v", got, err)
	}
	s.extra, s.content = "", s.content[:6]
	if _, err := disk.Open("crawl/warc/" + awayName); err != nil {
		t.Fatal(err)
	}
	f, err := vfs.OpenRange(disk, "crawl/warc/"+awayName, 4, 4)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := f.ReadAt(make([]byte, 4), 4); n != 0 || !errors.Is(err, vfs.ErrElsewhere) || errors.Is(err, io.EOF) {
		t.Error(n, err)
	}
}

// store is an object store with one object.
type store struct {
	fsys           vfs.FS
	content, extra string
	requests, open int
}

func newStore(t *testing.T) *store {
	t.Helper()
	s := &store{fsys: vfstest.WithDir(t, "crawl/warc"), content: "0123456789"}
	list := List{FS: s.fsys, Dir: "crawl/" + Dir(Store)}
	sum := sha256.Sum256([]byte(s.content))
	vfstest.WriteAll(t, s.fsys, "crawl/warc/"+hereName, []byte(s.content))
	if err := errors.Join(s.fsys.MkdirAll(list.Dir), list.Write(&Receipt{
		File: awayName, Length: 10, SHA256: hex.EncodeToString(sum[:]), Verified: "md5", Object: "s3://bucket/one",
	})); err != nil {
		t.Fatal(err)
	}
	return s
}

// OpenObject implements Objects.
func (s *store) OpenObject(_ *ElsewhereError, offset, length int64) (io.ReadCloser, error) {
	s.requests++
	s.open++
	end := min(int64(len(s.content)), offset+length)
	return &body{bytes.NewReader([]byte(s.content[offset:end] + s.extra)), s}, nil
}

type body struct {
	io.Reader

	of *store
}

func (b *body) Close() error {
	b.of.open--
	return nil
}
