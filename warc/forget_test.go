package warc

import (
	"testing"

	"orbweaver/internal/vfs"
)

// forgetfulFS records for its files which ranges were removed from the cache, and how much of them was durable.
type forgetfulFS struct {
	vfs.FS
	files []*forgetfulFile
}

type forgetfulFile struct {
	vfs.File
	t         *testing.T
	written   int64
	durable   int64
	forgotten int64
}

func (s *forgetfulFS) Create(name string) (vfs.File, error) {
	f, err := s.FS.Create(name)
	if err != nil || len(s.files) == 0 {
		return f, err
	}
	mine := &forgetfulFile{File: f, t: s.files[0].t}
	s.files = append(s.files, mine)
	return mine, nil
}

func (f *forgetfulFile) WriteAt(b []byte, off int64) (int, error) {
	n, err := f.File.WriteAt(b, off)
	f.written = max(f.written, off+int64(n))
	return n, err
}

func (f *forgetfulFile) Sync() error {
	err := f.File.Sync()
	f.durable = f.written
	return err
}

func (f *forgetfulFile) Forget(offset, length int64) {
	if offset != f.forgotten || length <= 0 || offset+length > f.durable {
		f.t.Errorf("bytes %d to %d are forgotten after %d, and %d are durable", offset, offset+length, f.forgotten, f.durable)
	}
	f.forgotten = offset + length
}

// Durable bytes are removed from the cache, because only a resume reads them again. Other bytes stay.
func TestWhatIsDurableIsForgotten(t *testing.T) {
	fsys := &forgetfulFS{FS: vfs.NewMem(1), files: []*forgetfulFile{{t: t}}}
	w, err := OpenWriter(fsys, Options{Dir: "warc", Prefix: "t", SizeMax: 1 << 20, Compression: None}, nil)
	if err != nil {
		t.Fatal(err)
	}
	e := newTestEncoder(t, None)
	for i := range 60 {
		e.Reset()
		r := Record{Type: Resource, Date: testDate(i), TargetURI: []byte("http://example.com/"), ContentType: "text/plain",
			Block: [][]byte{text(uint64(i), 50_000)}}
		if err := e.Append(&r); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Append(e.Group()); err != nil {
			t.Fatal(err)
		}
		if i%7 == 0 {
			if err := w.Sync(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if len(fsys.files) < 4 {
		t.Fatalf("%d files", len(fsys.files)-1)
	}
	for _, f := range fsys.files[1:] {
		if f.written-f.forgotten >= forgetStep {
			t.Errorf("of %d bytes %d are forgotten", f.written, f.forgotten)
		}
	}
}
