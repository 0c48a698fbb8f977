package waczfs

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"orbweaver/internal/vfs"
)

// Suffix ends the names of WACZ files.
const Suffix = ".wacz"

// Is reports whether a file is a WACZ by its name.
func Is(name string) bool { return strings.HasSuffix(strings.TrimSuffix(name, "/"), Suffix) }

// FS shows the WACZ files of another FS as directories. It is safe for concurrent use.
type FS struct {
	vfs.FS

	mu    sync.Mutex
	known map[string]*list // of WACZ files by name; guarded by mu
}

// Over returns the FS above fsys.
func Over(fsys vfs.FS) *FS { return &FS{FS: fsys, known: map[string]*list{}} }

// list is what lies in a WACZ file.
type list struct {
	size  int64 // of the WACZ
	names []string
	files map[string]entry
}

// entry is a WARC file in a WACZ.
type entry struct {
	offset, size int64
	packed       bool // it is compressed once more
}

// archiveDir is the directory of the WARC files in a WACZ.
const archiveDir = "archive/"

// cut splits the name of what is in a WACZ; ok is false for all other names.
func (f *FS) cut(name string) (wacz, inside string, ok bool) {
	for end := 0; end < len(name); {
		next := strings.IndexByte(name[end:], '/')
		if next < 0 {
			next = len(name) - end
		}
		end += next
		if Is(name[:end]) {
			if _, err := f.FS.Size(name[:end]); err == nil {
				return name[:end], strings.Trim(name[end:], "/"), true
			}
		}
		end++
	}
	return "", "", false
}

// List returns the WARC files of a WACZ, or what a directory has.
func (f *FS) List(dir string) ([]string, error) {
	wacz, inside, ok := f.cut(dir)
	if !ok {
		return f.FS.List(dir) //nolint:wrapcheck // the disk's own
	}
	l, err := f.listOf(wacz)
	if err != nil {
		return nil, err
	}
	if inside != "" {
		return nil, &fs.PathError{Op: "list", Path: dir, Err: fs.ErrNotExist}
	}
	return slices.Clone(l.names), nil
}

// Size returns the length of a WARC file in a WACZ, or of another file.
func (f *FS) Size(name string) (int64, error) {
	wacz, inside, ok := f.cut(name)
	if !ok || inside == "" {
		return f.FS.Size(name) //nolint:wrapcheck // the disk's own
	}
	l, err := f.listOf(wacz)
	if err != nil {
		return 0, err
	}
	e, ok := l.files[inside]
	if !ok {
		return 0, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	}
	return e.size, nil
}

// errPacked says that a WARC file cannot be read at a place.
var errPacked = errors.New("compressed once more in the WACZ, which its format forbids: unpack it with unzip")

// Open opens a WARC file in a WACZ, or another file.
func (f *FS) Open(name string) (vfs.File, error) {
	wacz, inside, ok := f.cut(name)
	if !ok || inside == "" {
		return f.FS.Open(name) //nolint:wrapcheck // the disk's own
	}
	l, err := f.listOf(wacz)
	if err != nil {
		return nil, err
	}
	e, ok := l.files[inside]
	switch {
	case !ok:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	case e.packed:
		return nil, &fs.PathError{Op: "open", Path: name, Err: errPacked}
	}
	whole, err := f.FS.Open(wacz)
	if err != nil {
		return nil, err //nolint:wrapcheck // the disk's own
	}
	return &file{File: whole, name: name, SectionReader: io.NewSectionReader(whole, e.offset, e.size)}, nil
}

// listOf returns what lies in a WACZ file.
func (f *FS) listOf(wacz string) (*list, error) {
	size, err := f.FS.Size(wacz)
	if err != nil {
		return nil, err //nolint:wrapcheck // the disk's own
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if l := f.known[wacz]; l != nil && l.size == size {
		return l, nil
	}
	from, err := f.FS.Open(wacz)
	if err != nil {
		return nil, err //nolint:wrapcheck // the disk's own
	}
	l, err := read(from, size)
	if err = errors.Join(err, from.Close()); err != nil {
		return nil, fmt.Errorf("%s: no WACZ that can be read: %w", wacz, err)
	}
	f.known[wacz] = l
	return l, nil
}

// read reads the list of a WACZ.
func read(from io.ReaderAt, size int64) (*list, error) {
	z, err := zip.NewReader(from, size)
	if err != nil {
		return nil, err
	}
	l := &list{size: size, files: map[string]entry{}}
	for _, e := range z.File {
		inside, ok := strings.CutPrefix(e.Name, archiveDir)
		if !ok || inside == "" || path.Base(inside) != inside {
			continue
		}
		if _, twice := l.files[inside]; twice {
			return nil, fmt.Errorf("%.200q is there twice", e.Name)
		}
		at := entry{size: int64(e.CompressedSize64), packed: e.Method != zip.Store}
		if at.offset, err = e.DataOffset(); err != nil {
			return nil, err
		}
		if at.size < 0 || at.size > size-at.offset {
			return nil, fmt.Errorf("%.200q ends behind the end of the WACZ", e.Name)
		}
		l.files[inside] = at
		l.names = append(l.names, inside)
	}
	slices.Sort(l.names)
	return l, nil
}

// file is a WARC file in a WACZ. Close and what writes are those of the WACZ, which is open for reading alone.
type file struct {
	vfs.File
	*io.SectionReader

	name string
}

// Name is the name the file was opened by.
func (f *file) Name() string { return f.name }

// Size is the length in bytes.
func (f *file) Size() (int64, error) { return f.SectionReader.Size(), nil }

// Read reads on in the WARC file.
func (f *file) Read(p []byte) (int, error) { return f.SectionReader.Read(p) } //nolint:wrapcheck // io.EOF as it is

// ReadAt reads at an offset of the WARC file.
func (f *file) ReadAt(p []byte, off int64) (int, error) {
	return f.SectionReader.ReadAt(p, off) //nolint:wrapcheck // io.EOF as it is
}

// Forget does nothing: the range is one of the WARC file.
func (f *file) Forget(int64, int64) {}

// Map refuses.
func (f *file) Map(int64) (vfs.Mapping, error) {
	return nil, &fs.PathError{Op: "map", Path: f.name, Err: fs.ErrPermission}
}
