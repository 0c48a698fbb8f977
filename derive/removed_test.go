package derive_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"testing"

	"orbweaver/derive"
	"orbweaver/derive/derivetest"
	"orbweaver/engine/store/receipts"
	"orbweaver/internal/vfs"
)

// A file that was removed here is left out and named; all others are used. With the store it is read once.
func TestRun_leavesOutWhatWasRemoved(t *testing.T) {
	fsys, s := oneRemoved(t)
	u := &uris{}
	var before derive.Removed
	o := derive.Options{OnRemoved: func(r derive.Removed) { before = r }}
	r := s.run(receipts.Over(fsys), u, o)
	if u.joined != 1 || len(r.LeftOut) != 1 || r.LeftOut[0].File != "c/warc/a.warc.gz" || r.FromStore != 0 ||
		r.LeftOut[0].Object != "s3://bucket/a.warc.gz" || !strings.Contains(r.LeftOut[0].Reason, "upload --fetch-back c") {
		t.Errorf("%d files joined, the report is %+v", u.joined, *r)
	}
	if before != (derive.Removed{Files: 1, Bytes: int64(len(s.content)), First: "s3://bucket/a.warc.gz"}) {
		t.Errorf("before reading it says %+v", before)
	}
	want(t, fsys, "out/uris/c/b.txt", "http://b.test/ 4 true\n")
	if _, err := fsys.Size("out/uris/c/a.txt"); err == nil {
		t.Error("there is an output of the removed file")
	}

	u = &uris{}
	r = s.run(receipts.Over(fsys).ReadFiles(s), u, derive.Options{})
	if u.joined != 2 || r.FromStore != 1 || r.StoreBytes != int64(len(s.content)) || len(r.LeftOut) != 0 || r.Kept != 1 ||
		len(s.ranges) != 1 || s.ranges[0] != [2]int64{0, int64(len(s.content))} {
		t.Errorf("%d files joined, requests %v, the report is %+v", u.joined, s.ranges, *r)
	}
	want(t, fsys, "out/uris/c/a.txt", textA)

	before = derive.Removed{}
	u = &uris{}
	if r = s.run(receipts.Over(fsys), u, o); r.Kept != 2 || len(r.LeftOut) != 0 || before.Files != 0 || u.joined != 0 {
		t.Errorf("complete outputs need no input: %+v, %+v", before, *r)
	}
}

// An object that cannot be read, or that is not what was sent, costs its file alone, and leaves no output of it. The
// next run continues.
func TestRun_aBadObjectCostsItsFileAlone(t *testing.T) {
	cut := func(b []byte) (io.Reader, error) { return bytes.NewReader(b[:len(b)-20]), nil }
	other := func(b []byte) (io.Reader, error) {
		var a derivetest.Archive
		a.Response("http://a.test/", 200, "text/html", "other")
		return bytes.NewReader(append(a.Bytes(), make([]byte, len(b))...)[:len(b)]), nil
	}
	missing := func([]byte) (io.Reader, error) { return nil, errors.New("the object is missing") }
	for name, c := range map[string]struct {
		answer func([]byte) (io.Reader, error)
		reason string
	}{
		"cut": {cut, "the answer of the store ended at byte"}, "other": {other, "its SHA-256 is"},
		"missing": {missing, "the object is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			fsys, s := oneRemoved(t)
			s.answer = c.answer
			u := &uris{}
			r := s.run(receipts.Over(fsys).ReadFiles(s), u, derive.Options{})
			if len(r.LeftOut) != 1 || !strings.Contains(r.LeftOut[0].Reason, c.reason) || u.joined != 1 || r.Records != 1 {
				t.Errorf("%d files joined, the report is %+v", u.joined, *r)
			}
			names, err := fsys.List("out/uris/c")
			if err != nil || len(names) != 1 || names[0] != "b.txt" {
				t.Errorf("outputs: %v, %v", names, err)
			}
			s.answer = whole
			r = s.run(receipts.Over(fsys).ReadFiles(s), &uris{}, derive.Options{})
			if len(r.LeftOut) != 0 {
				t.Errorf("the next run: %+v", *r)
			}
			want(t, fsys, "out/uris/c/a.txt", textA)
		})
	}
}

// A run that ends while it reads an object leaves nothing behind, and the next one gives the same.
func TestRun_endsWhileItReadsAnObject(t *testing.T) {
	fsys, s := oneRemoved(t)
	ctx, cancel := context.WithCancel(t.Context())
	s.answer = func(b []byte) (io.Reader, error) {
		return io.MultiReader(bytes.NewReader(b[:len(b)/2]), endingReader{cancel}), nil
	}
	o := derive.Options{Dir: "out", Products: []derive.Product{&uris{}}, Workers: 1}
	if _, err := derive.Run(ctx, receipts.Over(fsys).ReadFiles(s), []string{"c"}, o); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if names, err := fsys.List("out/uris/c"); err != nil || len(names) > 1 {
		t.Errorf("outputs: %v, %v", names, err)
	}
	s.answer = whole
	s.run(receipts.Over(fsys).ReadFiles(s), &uris{}, derive.Options{})
	want(t, fsys, "out/uris/c/a.txt", textA)
}

// endingReader ends the run.
type endingReader struct{ cancel func() }

func (e endingReader) Read([]byte) (int, error) {
	e.cancel()
	return 0, context.Canceled
}

// store has the first of two WARC files.
type store struct {
	t       *testing.T
	content []byte
	answer  func([]byte) (io.Reader, error)
	ranges  [][2]int64 // offset and length of requests
}

func whole(b []byte) (io.Reader, error) { return bytes.NewReader(b), nil }

// oneRemoved is the crawl of twoFiles, whose first file is in the store alone.
func oneRemoved(t *testing.T) (*vfs.Mem, *store) {
	t.Helper()
	fsys, a := twoFiles(t)
	sum := sha256.Sum256(a.Bytes())
	list := receipts.List{FS: fsys, Dir: "c/" + receipts.Dir(receipts.Store)}
	if err := errors.Join(fsys.MkdirAll(list.Dir), fsys.Remove("c/warc/a.warc.gz"), list.Write(&receipts.Receipt{
		File: "a.warc.gz", Length: int64(a.Len()), SHA256: hex.EncodeToString(sum[:]), Verified: "md5",
		Object: "s3://bucket/a.warc.gz",
	})); err != nil {
		t.Fatal(err)
	}
	return fsys, &store{t: t, content: a.Bytes(), answer: whole}
}

// OpenObject implements receipts.Objects.
func (s *store) OpenObject(_ *receipts.ElsewhereError, offset, length int64) (io.ReadCloser, error) {
	s.ranges = append(s.ranges, [2]int64{offset, length})
	r, err := s.answer(s.content)
	return io.NopCloser(r), err
}

func (s *store) run(disk *receipts.Disk, u *uris, o derive.Options) *derive.Report {
	s.t.Helper()
	o.ObjectOf = disk.Object
	return run(s.t, disk, u, o)
}
