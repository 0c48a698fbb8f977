package recrawl

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/state/layout"
	"orbweaver/engine/store/receipts"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// The validators of a page in a removed file come with one short request. An unchanged page comes with a few, and not
// with what is far behind it.
func TestCaptures_readsRemovedFilesFromTheStore(t *testing.T) {
	s := newStoredPass(t)
	var c Condition
	for n, url := range s.urls {
		if !s.previous.FillCondition(&c, url) || string(c.IfNoneMatch) != fmt.Sprintf("%q", fmt.Sprint(n)) {
			t.Fatalf("page %d: %q", n, c.IfNoneMatch)
		}
	}
	s.want(len(s.urls), int64(len(s.urls)*headWindow))
	p := s.previous.ReadPage(&c.Previous, s.urls[0])
	if p == nil || !bytes.HasPrefix(p.Head(), []byte("HTTP/1.1 200 OK")) || len(p.Body()) != 16<<10 {
		t.Error("the page was not read")
	}
	s.want(1, pageWindow)
	if s.previous.FillCondition(&c, []byte("http://h.example/new")) {
		t.Error("a condition for an unknown URL")
	}
	s.want(0, 0)
}

// While the store fails, pages are requested unconditionally, and it is asked a few times a minute, not for each page.
func TestCaptures_askAFailingStoreSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStoredPass(t)
		s.objects.fail(errors.New("connection refused"))
		var c Condition
		for range 100 {
			for _, url := range s.urls {
				if s.previous.FillCondition(&c, url) {
					t.Fatal("a condition without a record")
				}
			}
		}
		s.want(1, 0)
		if len(s.said) != 1 || !strings.Contains(s.said[0], "connection refused") {
			t.Errorf("the log has %q", s.said)
		}
		s.objects.fail(nil)
		if s.previous.FillCondition(&c, s.urls[0]) {
			t.Error("the store is asked at once")
		}
		time.Sleep(restTime)
		if !s.previous.FillCondition(&c, s.urls[0]) {
			t.Error("the store is not asked again")
		}
		s.want(1, headWindow)
		s.objects.fail(errors.New("connection reset"))
		if s.previous.ReadPage(&c.Previous, s.urls[0]) != nil {
			t.Error("a page without a record")
		}
	})
}

// Without permission the store is not asked.
func TestCaptures_leaveTheStoreAlone(t *testing.T) {
	s := newStoredPass(t)
	s.openWith(receipts.NoObjects{})
	if s.previous.FillCondition(new(Condition), s.urls[0]) {
		t.Error("a condition without a record")
	}
	s.want(0, 0)
	if len(s.said) != 1 || !strings.Contains(s.said[0], "s3://bucket/") {
		t.Errorf("the log has %q", s.said)
	}
}

// storedPass is a pass whose archive is in a store.
type storedPass struct {
	t        *testing.T
	fsys     vfs.FS
	end      warc.Checkpoint
	urls     [][]byte
	objects  *fakeObjects
	previous PreviousCrawl
	said     []string
}

func newStoredPass(t *testing.T) *storedPass {
	t.Helper()
	s := &storedPass{t: t, fsys: vfs.NewMem(1), objects: &fakeObjects{content: map[string][]byte{}}}
	s.end, s.urls = writeArchive(t, s.fsys, "crawl", 10)
	archive := "crawl/" + layout.ArchiveDir
	files, err := warc.Files(s.fsys, archive)
	if err != nil {
		t.Fatal(err)
	}
	list := receipts.List{FS: s.fsys, Dir: "crawl/" + receipts.Dir(receipts.Store)}
	if err := s.fsys.MkdirAll(list.Dir); err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := vfs.ReadFile(s.fsys, archive+"/"+f.Name)
		if err != nil {
			t.Fatal(err)
		}
		s.objects.content[f.Name] = text
		if err := errors.Join(s.fsys.Remove(archive+"/"+f.Name), list.Write(&receipts.Receipt{
			File: f.Name, Length: int64(len(text)), SHA256: "0", Verified: "md5", Object: "s3://bucket/" + f.Name,
		})); err != nil {
			t.Fatal(err)
		}
	}
	s.openWith(s.objects)
	return s
}

func (s *storedPass) openWith(objects receipts.Objects) {
	s.t.Helper()
	pass := &Pass{
		FS: receipts.Over(s.fsys).ReadRecords(objects), Dir: "crawl", Number: 1, HashSeed: 7, ArchiveEnd: s.end,
		Warn: func(msg string, args ...any) { s.said = append(s.said, fmt.Sprint(msg, args)) },
	}
	index, err := pass.WriteIndex()
	if err != nil {
		s.t.Fatal(err)
	}
	if s.previous, _, err = pass.Open(&index); err != nil {
		s.t.Fatal(err)
	}
	previous := s.previous
	s.t.Cleanup(func() {
		if err := previous.Close(); err != nil {
			s.t.Error(err)
		}
	})
}

// want checks how many requests there were since the last call, for how many bytes at most, and that all have ended.
func (s *storedPass) want(requests int, bytesMost int64) {
	s.t.Helper()
	o := s.objects
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.requests != requests || o.bytes > bytesMost || o.open != 0 {
		s.t.Errorf("%d requests for %d bytes, want %d and %d at most; %d are open", o.requests, o.bytes, requests, bytesMost,
			o.open)
	}
	o.requests, o.bytes = 0, 0
}

// fakeObjects is a store in memory.
type fakeObjects struct {
	content map[string][]byte

	mu             sync.Mutex // guards the following
	err            error
	requests, open int
	bytes          int64
}

func (o *fakeObjects) fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.err = err
}

// OpenObject implements receipts.Objects.
func (o *fakeObjects) OpenObject(away *receipts.ElsewhereError, offset, length int64) (io.ReadCloser, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.requests++; o.err != nil {
		return nil, o.err
	}
	o.bytes += length
	o.open++
	return &fakeBody{bytes.NewReader(o.content[away.File][offset : offset+length]), o}, nil
}

type fakeBody struct {
	io.Reader

	of *fakeObjects
}

func (b *fakeBody) Close() error {
	b.of.mu.Lock()
	defer b.of.mu.Unlock()
	b.of.open--
	return nil
}
