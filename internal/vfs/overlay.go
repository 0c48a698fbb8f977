package vfs

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"sync"
)

// Overlay shows a file system and changes nothing in it. What a component truncates or removes when it reopens at its
// checkpoint is missing in the overlay, and unchanged on the disk. Nothing can be written. Files are read, and mapped,
// from where they are.
type Overlay struct {
	ctx  context.Context //nolint:containedctx // one check's: its end is the end of every read
	base FS

	mu      sync.Mutex
	removed map[string]bool
	cut     map[string]int64 // lengths of files that were truncated
}

// NewOverlay returns an overlay of base. The end of ctx is the end of every read.
func NewOverlay(ctx context.Context, base FS) *Overlay {
	return &Overlay{ctx: ctx, base: base, removed: map[string]bool{}, cut: map[string]int64{}}
}

func overlayError(op, name string, err error) error {
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// Create implements vfs.FS: it refuses.
func (o *Overlay) Create(name string) (File, error) {
	return nil, overlayError("create", name, fs.ErrPermission)
}

// Open implements vfs.FS.
func (o *Overlay) Open(name string) (File, error) {
	o.mu.Lock()
	gone := o.removed[path.Clean(name)]
	o.mu.Unlock()
	if gone {
		return nil, overlayError("open", name, fs.ErrNotExist)
	}
	if err := o.ctx.Err(); err != nil {
		return nil, err
	}
	f, err := o.base.Open(name)
	if err != nil {
		return nil, err
	}
	return &file{File: f, o: o, name: path.Clean(name)}, nil
}

// OpenRW implements vfs.FS; what it opens can be made shorter and not written.
func (o *Overlay) OpenRW(name string) (File, error) { return o.Open(name) }

// Rename implements vfs.FS: it refuses.
func (o *Overlay) Rename(oldName, _ string) error {
	return overlayError("rename", oldName, fs.ErrPermission)
}

// Remove implements vfs.FS.
func (o *Overlay) Remove(name string) error {
	if _, err := o.Size(name); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.removed[path.Clean(name)] = true
	return nil
}

// MkdirAll implements vfs.FS: what is not there stays away.
func (o *Overlay) MkdirAll(string) error { return nil }

// List implements vfs.FS.
func (o *Overlay) List(dir string) ([]string, error) {
	names, err := o.base.List(dir)
	if err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	kept := names[:0]
	for _, name := range names {
		if !o.removed[path.Join(dir, name)] {
			kept = append(kept, name)
		}
	}
	return kept, nil
}

// Size implements vfs.FS.
func (o *Overlay) Size(name string) (int64, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.removed[path.Clean(name)] {
		return 0, overlayError("stat", name, fs.ErrNotExist)
	}
	size, err := o.base.Size(name)
	if n, ok := o.cut[path.Clean(name)]; ok && err == nil {
		size = min(size, n)
	}
	return size, err
}

// SyncDir implements vfs.FS.
func (o *Overlay) SyncDir(string) error { return nil }

// Lock implements vfs.FS: locks are taken outside.
func (o *Overlay) Lock(name string) (io.Closer, error) {
	return nil, overlayError("lock", name, fs.ErrPermission)
}

// Free implements vfs.FS.
func (o *Overlay) Free(string) (int64, error) { return 0, nil }

// Hidden returns how many names have been removed below a directory.
func (o *Overlay) Hidden(dir string) (n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for name := range o.removed {
		if path.Dir(name) == path.Clean(dir) {
			n++
		}
	}
	return n
}

// file takes Close and Name from the file beneath, which was opened for reading only.
type file struct {
	File
	o    *Overlay
	name string
	at   int64
}

// limit is where the file ends in the overlay; -1 for its end on disk.
func (f *file) limit() int64 {
	f.o.mu.Lock()
	defer f.o.mu.Unlock()
	if n, ok := f.o.cut[f.name]; ok {
		return n
	}
	return -1
}

// Size implements vfs.File.
func (f *file) Size() (int64, error) {
	size, err := f.File.Size()
	if n := f.limit(); n >= 0 && err == nil {
		size = min(size, n)
	}
	return size, err
}

// ReadAt implements vfs.File.
func (f *file) ReadAt(p []byte, off int64) (int, error) {
	if err := f.o.ctx.Err(); err != nil {
		return 0, err
	}
	end := f.limit()
	if end < 0 || off+int64(len(p)) <= end {
		return f.File.ReadAt(p, off)
	}
	if off >= end {
		return 0, io.EOF
	}
	n, err := f.File.ReadAt(p[:end-off], off)
	if err == nil {
		err = io.EOF
	}
	return n, err
}

// Read implements vfs.File.
func (f *file) Read(p []byte) (int, error) {
	n, err := f.ReadAt(p, f.at)
	f.at += int64(n)
	if n > 0 && err == io.EOF { //nolint:errorlint // io.Reader's own word
		err = nil
	}
	return n, err
}

// Write implements vfs.File: it refuses.
func (f *file) Write([]byte) (int, error) {
	return 0, overlayError("write", f.name, fs.ErrPermission)
}

// WriteAt implements vfs.File: it refuses.
func (f *file) WriteAt([]byte, int64) (int, error) {
	return 0, overlayError("write", f.name, fs.ErrPermission)
}

// Truncate implements vfs.File. It changes the overlay only.
func (f *file) Truncate(size int64) error {
	now, err := f.Size()
	if err != nil {
		return err
	}
	if size > now {
		return overlayError("truncate", f.name, fs.ErrPermission)
	}
	f.o.mu.Lock()
	defer f.o.mu.Unlock()
	f.o.cut[f.name] = size
	return nil
}

// Sync implements vfs.File.
func (f *file) Sync() error { return nil }

// Allocate implements vfs.File: it refuses.
func (f *file) Allocate(int64, int64) error {
	return overlayError("allocate", f.name, fs.ErrPermission)
}

// Map implements vfs.File; the mapping is for reading only.
func (f *file) Map(length int64) (Mapping, error) {
	if size, err := f.Size(); err != nil || length > size {
		return nil, overlayError("map", f.name, fmt.Errorf("length %d of a file of %d bytes: %w", length, size, err))
	}
	return f.File.Map(length)
}
