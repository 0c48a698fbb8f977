package crash

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"sync"
	"time"

	"orbweaver/internal/vfs"
)

// Kind is what a call does to the disk.
type Kind string

// The kinds. Calls that change nothing are none of them.
const (
	Create   Kind = "create" // a name that was not there, or a file made empty
	Write    Kind = "write"
	Truncate Kind = "truncate"
	Allocate Kind = "allocate"
	Sync     Kind = "sync"
	MapSync  Kind = "mapsync"
	SyncDir  Kind = "syncdir"
	Rename   Kind = "rename"
	Remove   Kind = "remove"
	Mkdir    Kind = "mkdir"
)

// syncs says that the call changes nothing but what a power cut leaves.
func (k Kind) syncs() bool { return k == Sync || k == MapSync || k == SyncDir }

// operation is one call that changes the disk.
type operation struct {
	kind   Kind
	name   string
	data   []byte // of a Write; borrowed
	offset int64  // of a Write, or the size before an Allocate
	size   int64  // after an Allocate
}

// tap is a disk that shows every change, one at a time, to its watcher: before it is made and after.
type tap struct {
	disk *vfs.Mem

	mu     sync.Mutex // held during every change, so that a clone shows one moment
	before func(*operation)
	after  func(*operation)

	pause func(*operation) time.Duration // how long a call takes: meanwhile the crawl goes on
}

func (t *tap) do(op operation, act func() error) error {
	if d := t.pause(&op); d > 0 {
		<-time.After(d)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.before(&op)
	err := act()
	t.after(&op)
	return err
}

func (t *tap) open(kind Kind, name string, open func(string) (vfs.File, error)) (f vfs.File, err error) {
	err = t.do(operation{kind: kind, name: name}, func() error {
		f, err = open(name)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &tapFile{File: f, tap: t}, nil
}

func (t *tap) Create(name string) (vfs.File, error) { return t.open(Create, name, t.disk.Create) }

func (t *tap) OpenRW(name string) (vfs.File, error) {
	if _, err := t.disk.Size(name); errors.Is(err, fs.ErrNotExist) {
		return t.open(Create, name, t.disk.OpenRW)
	}
	f, err := t.disk.OpenRW(name)
	if err != nil {
		return nil, err
	}
	return &tapFile{File: f, tap: t}, nil
}

func (t *tap) Open(name string) (vfs.File, error) { return t.disk.Open(name) }

func (t *tap) Rename(oldName, newName string) error {
	return t.do(operation{kind: Rename, name: oldName}, func() error { return t.disk.Rename(oldName, newName) })
}

func (t *tap) Remove(name string) error {
	return t.do(operation{kind: Remove, name: name}, func() error { return t.disk.Remove(name) })
}

func (t *tap) MkdirAll(name string) error {
	if _, err := t.disk.List(name); err == nil {
		return nil
	}
	return t.do(operation{kind: Mkdir, name: name}, func() error { return t.disk.MkdirAll(name) })
}

func (t *tap) SyncDir(dir string) error {
	return t.do(operation{kind: SyncDir, name: dir}, func() error { return t.disk.SyncDir(dir) })
}

func (t *tap) Lock(name string) (l io.Closer, err error) {
	if _, err := t.disk.Size(name); err == nil {
		return t.disk.Lock(name)
	}
	err = t.do(operation{kind: Create, name: name}, func() error {
		l, err = t.disk.Lock(name)
		return err
	})
	return l, err
}

func (t *tap) List(dir string) ([]string, error) { return t.disk.List(dir) }
func (t *tap) Size(name string) (int64, error)   { return t.disk.Size(name) }
func (t *tap) Free(dir string) (int64, error)    { return t.disk.Free(dir) }

// tapFile is a file opened for writing.
type tapFile struct {
	vfs.File
	tap *tap

	mu  sync.Mutex // guards position; taken before tap.mu
	pos int64
}

func (f *tapFile) Read(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.File.Read(p)
	f.pos += int64(n)
	return n, err
}

func (f *tapFile) Write(p []byte) (n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	err = f.tap.do(operation{kind: Write, name: f.Name(), data: p, offset: f.pos}, func() error {
		n, err = f.File.Write(p)
		return err
	})
	f.pos += int64(n)
	return n, err
}

func (f *tapFile) WriteAt(p []byte, off int64) (n int, err error) {
	err = f.tap.do(operation{kind: Write, name: f.Name(), data: p, offset: off}, func() error {
		n, err = f.File.WriteAt(p, off)
		return err
	})
	return n, err
}

func (f *tapFile) Truncate(size int64) error {
	return f.tap.do(operation{kind: Truncate, name: f.Name()}, func() error { return f.File.Truncate(size) })
}

func (f *tapFile) Sync() error {
	return f.tap.do(operation{kind: Sync, name: f.Name()}, f.File.Sync)
}

func (f *tapFile) Allocate(offset, length int64) error {
	size, err := f.Size()
	if err != nil {
		return err
	}
	op := operation{kind: Allocate, name: f.Name(), offset: size, size: offset + length}
	return f.tap.do(op, func() error { return f.File.Allocate(offset, length) })
}

func (f *tapFile) Map(length int64) (vfs.Mapping, error) {
	m, err := f.File.Map(length)
	if err != nil {
		return nil, err
	}
	return &tapMapping{Mapping: m, tap: f.tap, name: f.Name()}, nil
}

type tapMapping struct {
	vfs.Mapping
	tap  *tap
	name string
}

func (m *tapMapping) Sync() error {
	return m.tap.do(operation{kind: MapSync, name: m.name}, m.Mapping.Sync)
}

// fileKind is what a name has in common with those of its like: "frontier/journal-*" for frontier/journal-00000007.
func fileKind(dir, name string) string {
	name = strings.TrimPrefix(strings.TrimPrefix(name, dir), "/")
	at := strings.LastIndexByte(name, '/') + 1
	base := name[at:]
	digit := strings.IndexAny(base, "0123456789")
	if digit < 0 {
		return name
	}
	kind := name[:at] + base[:digit] + "*"
	if dot := strings.IndexByte(base, '.'); dot > digit {
		kind += base[dot:]
	}
	return kind
}
