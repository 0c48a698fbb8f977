package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/edsrzf/mmap-go"
)

// errMapped is returned when the length of a mapped file would change.
var errMapped = errors.New("vfs: file is mapped and must keep its length")

// Disk returns the file system of the operating system. Relative names start at the working directory. The umask
// decides the permissions of new files.
func Disk() FS { return disk{} }

// PrivateDisk is Disk, except that only the owner may read what it creates: files have mode 0600, directories 0700. The
// directories named in shared and everything below them follow the umask, and so do the directories above them, through
// which they are reached. What exists keeps its mode.
func PrivateDisk(shared ...string) FS {
	d := disk{private: true}
	for _, dir := range shared {
		d.shared = append(d.shared, cleaned(dir))
	}
	return d
}

type disk struct {
	private bool
	shared  []string // cleaned
}

func cleaned(name string) string { return filepath.ToSlash(filepath.Clean(filepath.FromSlash(name))) }

// forOwner reports whether only the owner may read a new file of this name.
func (d disk) forOwner(name string) bool {
	if !d.private {
		return false
	}
	name = cleaned(name)
	return !slices.ContainsFunc(d.shared, func(dir string) bool { return name == dir || strings.HasPrefix(name, dir+"/") })
}

// fileMode is the mode of a new file, before the umask.
func (d disk) fileMode(name string) fs.FileMode {
	if d.forOwner(name) {
		return 0o600
	}
	return 0o666
}

// dirMode is the mode of a new directory, before the umask.
func (d disk) dirMode(name string) fs.FileMode {
	above := cleaned(name) + "/"
	if !d.forOwner(name) || slices.ContainsFunc(d.shared, func(dir string) bool { return strings.HasPrefix(dir, above) }) {
		return 0o777
	}
	return 0o700
}

func (d disk) Create(name string) (File, error) {
	return openFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, d.fileMode(name))
}

func (disk) Open(name string) (File, error) {
	if strings.HasPrefix(name, devices) {
		return openFile(name, os.O_RDONLY, 0)
	}
	f, err := openDisk(name, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("%w: %s", ErrNotRegular, kindOf(info.Mode()))}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// devices is the directory of what a user may name although it is no regular file.
const devices = "/dev/"

// kindOf is what messages call a file that is not regular.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "it is a directory"
	case mode&fs.ModeNamedPipe != 0:
		return "it is a named pipe; /dev/stdin may be one"
	case mode&fs.ModeSocket != 0:
		return "it is a socket"
	}
	return "it is a device"
}

func (d disk) OpenRW(name string) (File, error) {
	return openFile(name, os.O_RDWR|os.O_CREATE, d.fileMode(name))
}

// openFile is openDisk as a File: a nil pointer would not be a nil File.
func openFile(name string, flag int, mode fs.FileMode) (File, error) {
	f, err := openDisk(name, flag, mode)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func openDisk(name string, flag int, mode fs.FileMode) (*diskFile, error) {
	f, err := os.OpenFile(filepath.FromSlash(name), flag, mode)
	if err != nil {
		return nil, err
	}
	return &diskFile{File: f, name: name, writable: flag&os.O_RDWR != 0}, nil
}

func (disk) Rename(oldName, newName string) error {
	return os.Rename(filepath.FromSlash(oldName), filepath.FromSlash(newName))
}

func (disk) Remove(name string) error { return os.Remove(filepath.FromSlash(name)) }

func (d disk) MkdirAll(name string) error {
	return os.MkdirAll(filepath.FromSlash(name), d.dirMode(name))
}

func (disk) List(dir string) ([]string, error) {
	d, err := os.OpenFile(filepath.FromSlash(dir), os.O_RDONLY|onlyDir|noWait, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = d.Close() }() // only read
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	return names, nil
}

func (disk) Size(name string) (int64, error) {
	info, err := os.Stat(filepath.FromSlash(name))
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (disk) SyncDir(dir string) error { return Synced(syncDir(filepath.FromSlash(dir))) }

func (disk) Free(dir string) (int64, error) {
	n, err := freeBytes(filepath.FromSlash(dir))
	if err != nil {
		return 0, &fs.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return n, nil
}

// Lock's file is left in place when the lock is released: removing it would let two holders lock two different files
// of the same name.
func (d disk) Lock(name string) (io.Closer, error) {
	f, err := os.OpenFile(filepath.FromSlash(name), os.O_RDWR|os.O_CREATE, d.fileMode(name))
	if err != nil {
		return nil, err
	}
	if err := lockFile(f); err != nil {
		if closeErr := f.Close(); closeErr != nil {
			err = errors.Join(err, closeErr)
		}
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	return f, nil
}

// diskFile takes Read, Write, ReadAt, WriteAt and Close from os.File.
type diskFile struct {
	*os.File
	name     string
	writable bool
	maps     atomic.Int32
}

func (f *diskFile) Name() string { return f.name }

func (f *diskFile) Sync() error {
	err := f.File.Sync()
	if errors.Is(err, fs.ErrClosed) {
		return err // the call never reached the disk
	}
	return Synced(err)
}

func (f *diskFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (f *diskFile) Truncate(size int64) error {
	if f.maps.Load() > 0 {
		return &fs.PathError{Op: "truncate", Path: f.name, Err: errMapped}
	}
	return f.File.Truncate(size)
}

func (f *diskFile) Allocate(offset, length int64) error {
	size, err := f.Size()
	if err != nil {
		return err
	}
	if f.maps.Load() > 0 && offset+length > size {
		return &fs.PathError{Op: "allocate", Path: f.name, Err: errMapped}
	}
	if length <= 0 {
		return nil
	}
	if err := allocate(f.File, size, offset, length); err != nil {
		return &fs.PathError{Op: "allocate", Path: f.name, Err: err}
	}
	return nil
}

func (f *diskFile) Forget(offset, length int64) {
	if length > 0 { // to the system 0 is all there is
		forget(f.File, offset, length)
	}
}

// writeZeros grows a file from size to end with bytes that are really written: a hole would not reserve space.
func writeZeros(f *os.File, size, end int64) error {
	zeros := make([]byte, 256<<10)
	for at := size; at < end; {
		n := min(end-at, int64(len(zeros)))
		if _, err := f.WriteAt(zeros[:n], at); err != nil {
			// A full disk must not leave a half-grown file behind that a later caller takes for reserved.
			return errors.Join(err, f.Truncate(size))
		}
		at += n
	}
	return nil
}

func (f *diskFile) Map(length int64) (Mapping, error) {
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	if length < 0 || length > size || int64(int(length)) != length {
		return nil, &fs.PathError{Op: "map", Path: f.name, Err: fmt.Errorf("length %d of a file of %d bytes", length, size)}
	}
	if length == 0 {
		return &diskMapping{file: f}, nil
	}
	prot := mmap.RDONLY
	if f.writable {
		prot = mmap.RDWR
	}
	data, err := mmap.MapRegion(f.File, int(length), prot, 0, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "map", Path: f.name, Err: err}
	}
	touchedAtRandom(data)
	f.maps.Add(1)
	return &diskMapping{file: f, data: data}, nil
}

type diskMapping struct {
	file *diskFile
	data mmap.MMap
}

func (m *diskMapping) Bytes() []byte { return m.data }

func (m *diskMapping) Expect(offset, length int) {
	if length > 0 {
		from := offset &^ (os.Getpagesize() - 1)
		expect(m.data[from : offset+length])
	}
}

func (m *diskMapping) Sync() error {
	if len(m.data) == 0 || !m.file.writable {
		return nil
	}
	if err := m.data.Flush(); err != nil {
		return Synced(&fs.PathError{Op: "msync", Path: m.file.name, Err: err})
	}
	if !flushReachesDisk {
		// The flush stops at the device's cache here.
		if err := m.file.Sync(); !errors.Is(err, fs.ErrClosed) {
			return err
		}
		return syncByName(m.file.name)
	}
	return nil
}

// syncByName makes the content of a closed file durable.
func syncByName(name string) error {
	f, err := openDisk(name, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the file was removed
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func (m *diskMapping) Close() error {
	if m.data == nil {
		return nil
	}
	m.file.maps.Add(-1)
	if err := m.data.Unmap(); err != nil {
		return &fs.PathError{Op: "unmap", Path: m.file.name, Err: err}
	}
	return nil
}
