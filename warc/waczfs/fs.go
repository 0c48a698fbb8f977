package waczfs

import (
	"bytes"
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

// cut splits the name of what is in a WACZ; ok is false for all other names.
func (f *FS) cut(name string) (wacz, inside string, ok bool) {
	for end := 0; end < len(name); {
		next := strings.IndexByte(name[end:], '/')
		if next < 0 {
			next = len(name) - end
		}
		end += next
		if f.isWACZ(name[:end]) {
			return name[:end], strings.Trim(name[end:], "/"), true
		}
		end++
	}
	return "", "", false
}

// isWACZ reports whether a name is that of a WACZ file, or of one that was listed under any name.
func (f *FS) isWACZ(name string) bool {
	f.mu.Lock()
	isKnown := f.known[name] != nil
	f.mu.Unlock()
	if isKnown || !Is(name) {
		return isKnown
	}
	_, err := f.FS.Size(name)
	_, noDir := f.FS.List(name)
	return err == nil && noDir != nil
}

// List returns the WARC files of a WACZ, or what a directory has. There, in place of a WACZ are its files, as
// FILE.wacz/NAME. One is left out if a file with its name and length lies beside the WACZ. A file of any name that
// begins as a WACZ is one. What cannot be read is listed, and reading it says why.
func (f *FS) List(dir string) ([]string, error) {
	wacz, inside, ok := f.cut(dir)
	if !ok {
		names, err := f.FS.List(dir)
		if err == nil {
			return f.withPacked(dir, names), nil
		}
		if wacz = strings.TrimSuffix(dir, "/"); !IsFile(f.FS, wacz) {
			return nil, err //nolint:wrapcheck // the disk's own
		}
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

// withPacked has what lies in the WACZ files of a directory in place of them. One that cannot be read stays.
func (f *FS) withPacked(dir string, names []string) (all []string) {
	if !slices.ContainsFunc(names, Is) {
		return names
	}
	for _, name := range names {
		l := new(list)
		err := fs.ErrInvalid
		if Is(name) {
			l, err = f.listOf(path.Join(dir, name))
		}
		if err != nil {
			all = append(all, name)
			continue
		}
		for _, inside := range l.names {
			beside, err := f.FS.Size(path.Join(dir, path.Base(inside)))
			if err != nil || beside != l.files[inside].size {
				all = append(all, name+"/"+inside)
			}
		}
	}
	slices.Sort(all)
	return all
}

// Size returns the length of a WARC file in a WACZ, or of another file.
func (f *FS) Size(name string) (int64, error) {
	wacz, inside, ok := f.cut(name)
	if !ok || inside == "" {
		return f.FS.Size(name) //nolint:wrapcheck // the disk's own
	}
	e, err := f.find(wacz, inside, "stat")
	return e.size, err
}

// Open opens a WARC file in a WACZ, or another file.
func (f *FS) Open(name string) (vfs.File, error) {
	wacz, inside, ok := f.cut(name)
	if !ok || inside == "" {
		return f.FS.Open(name) //nolint:wrapcheck // the disk's own
	}
	var lines []byte
	of, isLines := strings.CutSuffix(inside, LinesSuffix)
	e, err := f.find(wacz, of, "open")
	if err == nil && isLines {
		lines, err = f.linesOf(wacz, of)
	}
	if err != nil {
		return nil, err
	}
	whole, err := f.FS.Open(e.home)
	if err != nil {
		return nil, err //nolint:wrapcheck // the disk's own
	}
	if isLines {
		return &file{whole, io.NewSectionReader(bytes.NewReader(lines), 0, int64(len(lines))), name}, nil
	}
	if e.fault != nil {
		return &file{whole, io.NewSectionReader(lost{e.fault}, 0, e.size), name}, nil //nolint:nilerr // reading says it
	}
	return &file{whole, io.NewSectionReader(whole, e.offset, e.size), name}, nil
}

// find finds a WARC file in a WACZ.
func (f *FS) find(wacz, inside, op string) (entry, error) {
	l, err := f.listOf(wacz)
	if err != nil {
		return entry{}, err
	}
	e, ok := l.files[inside]
	if !ok {
		return e, &fs.PathError{Op: op, Path: path.Join(wacz, inside), Err: fs.ErrNotExist}
	}
	return e, nil
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
	l := newList()
	l.size = size
	if err := l.read(f.FS, wacz, ""); err != nil {
		if !IsFile(f.FS, wacz) {
			return nil, fmt.Errorf("%s: no WACZ that can be read: %w", wacz, err)
		}
		l.lose(wacz, path.Base(wacz), err)
	}
	slices.Sort(l.names)
	f.known[wacz] = l
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
