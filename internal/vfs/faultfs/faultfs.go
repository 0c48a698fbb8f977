package faultfs

import (
	"io"
	"io/fs"

	"orbweaver/internal/vfs"
)

// New wraps an FS. The script stays the caller's and may be changed at any time.
func New(inner vfs.FS, script *Script) vfs.FS { return &faultFS{inner: inner, script: script} }

type faultFS struct {
	inner  vfs.FS
	script *Script
}

// meet is one call that fails whole or goes through.
func (f *faultFS) meet(op Op, verb, name string) error {
	return f.meetSpace(op, op.takesSpace(), verb, name)
}

func (f *faultFS) meetSpace(op Op, space bool, verb, name string) error {
	if _, err := f.script.meetCall(op, space, name); err != nil {
		return &fs.PathError{Op: verb, Path: name, Err: err}
	}
	return nil
}

func (f *faultFS) open(name string, makes bool, open func(string) (vfs.File, error)) (vfs.File, error) {
	if err := f.meetSpace(Open, makes, "open", name); err != nil {
		return nil, err
	}
	inner, err := open(name)
	if err != nil {
		return nil, err
	}
	return &faultFile{File: inner, fs: f}, nil
}

func (f *faultFS) Create(name string) (vfs.File, error) { return f.open(name, true, f.inner.Create) }
func (f *faultFS) Open(name string) (vfs.File, error)   { return f.open(name, false, f.inner.Open) }
func (f *faultFS) OpenRW(name string) (vfs.File, error) {
	_, err := f.inner.Size(name)
	return f.open(name, err != nil, f.inner.OpenRW) // a file that is there needs no room
}

func (f *faultFS) Rename(oldName, newName string) error {
	if err := f.meet(Rename, "rename", oldName); err != nil {
		return err
	}
	return f.inner.Rename(oldName, newName)
}

func (f *faultFS) Remove(name string) error {
	if err := f.meet(Remove, "remove", name); err != nil {
		return err
	}
	return f.inner.Remove(name)
}

func (f *faultFS) MkdirAll(name string) error {
	if err := f.meet(Mkdir, "mkdir", name); err != nil {
		return err
	}
	return f.inner.MkdirAll(name)
}

func (f *faultFS) List(dir string) ([]string, error) {
	if err := f.meet(List, "list", dir); err != nil {
		return nil, err
	}
	return f.inner.List(dir)
}

func (f *faultFS) Size(name string) (int64, error) {
	if err := f.meet(Size, "stat", name); err != nil {
		return 0, err
	}
	return f.inner.Size(name)
}

func (f *faultFS) SyncDir(dir string) error {
	if err := f.meet(SyncDir, "sync", dir); err != nil {
		return vfs.Synced(err)
	}
	return f.inner.SyncDir(dir)
}

func (f *faultFS) Lock(name string) (io.Closer, error) {
	if err := f.meet(Lock, "lock", name); err != nil {
		return nil, err
	}
	return f.inner.Lock(name)
}

func (f *faultFS) Free(dir string) (int64, error) {
	if err := f.meet(Free, "statfs", dir); err != nil {
		return 0, err
	}
	if n, told := f.script.freeBytes(); told {
		return n, nil
	}
	return f.inner.Free(dir)
}

// faultFile takes Name from the file it wraps.
type faultFile struct {
	vfs.File
	fs *faultFS
}

func (f *faultFile) Size() (int64, error) {
	if err := f.fs.meet(Size, "stat", f.Name()); err != nil {
		return 0, err
	}
	return f.File.Size()
}

func (f *faultFile) Read(p []byte) (int, error) {
	if err := f.fs.meet(Read, "read", f.Name()); err != nil {
		return 0, err
	}
	return f.File.Read(p)
}

func (f *faultFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.fs.meet(Read, "read", f.Name()); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}

func (f *faultFile) Write(p []byte) (int, error) { return f.write(p, f.File.Write) }

func (f *faultFile) WriteAt(p []byte, off int64) (int, error) {
	return f.write(p, func(p []byte) (int, error) { return f.File.WriteAt(p, off) })
}

func (f *faultFile) write(p []byte, write func([]byte) (int, error)) (int, error) {
	short, err := f.fs.script.meetCall(Write, true, f.Name())
	if err == nil {
		return write(p)
	}
	n, innerErr := write(p[:min(short, len(p))])
	if innerErr != nil {
		return n, innerErr
	}
	return n, &fs.PathError{Op: "write", Path: f.Name(), Err: err}
}

func (f *faultFile) Sync() error {
	if err := f.fs.meet(Sync, "sync", f.Name()); err != nil {
		return vfs.Synced(err)
	}
	return f.File.Sync()
}

// Close closes the file even when it is told to fail: that is what systems do.
func (f *faultFile) Close() error {
	scripted := f.fs.meet(Close, "close", f.Name())
	if err := f.File.Close(); err != nil {
		return err
	}
	return scripted
}

func (f *faultFile) Truncate(size int64) error {
	if err := f.fs.meet(Truncate, "truncate", f.Name()); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

func (f *faultFile) Allocate(offset, length int64) error {
	if err := f.fs.meet(Allocate, "allocate", f.Name()); err != nil {
		return err
	}
	return f.File.Allocate(offset, length)
}

func (f *faultFile) Map(length int64) (vfs.Mapping, error) {
	if err := f.fs.meet(Map, "map", f.Name()); err != nil {
		return nil, err
	}
	inner, err := f.File.Map(length)
	if err != nil {
		return nil, err
	}
	return &faultMapping{Mapping: inner, fs: f.fs, name: f.Name()}, nil
}

// faultMapping takes Bytes and Close from the mapping it wraps.
type faultMapping struct {
	vfs.Mapping
	fs   *faultFS
	name string
}

func (m *faultMapping) Sync() error {
	if err := m.fs.meet(MapSync, "msync", m.name); err != nil {
		return vfs.Synced(err)
	}
	return m.Mapping.Sync()
}
