package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"syscall"
)

// pageSize is the unit in which an unsynced write survives a power cut or does not.
const pageSize = 4096

// memNode is a file's content, apart from its names.
type memNode struct {
	space    *memSpace
	opens    int  // guarded by space.mu
	nameless bool // guarded by space.mu

	mu       sync.RWMutex
	data     []byte           // what readers see
	durable  []byte           // what a power cut leaves for certain: data as of the last Sync
	dirty    map[int]struct{} // pages of data that may differ from durable
	maps     int              // open mappings
	mapDirty bool             // a writable mapping was open since the last Sync: any page may differ
}

func (n *memNode) size() int64 {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return int64(len(n.data))
}

// touch marks the pages of a range as not durable. The caller holds n.mu.
func (n *memNode) touch(from, to int) {
	if n.dirty == nil {
		n.dirty = map[int]struct{}{}
	}
	for p := from / pageSize; p*pageSize < to; p++ {
		n.dirty[p] = struct{}{}
	}
}

// unlink gives back the bytes of a file that has lost its name, now or when its last opening is closed. The caller
// holds space.mu.
func (n *memNode) unlink() {
	n.nameless = true
	if n.opens == 0 {
		n.space.used -= n.size()
	}
}

// resize sets the length, with zeros for what is new. The caller holds space.mu.
func (n *memNode) resize(size int64) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	old := int64(len(n.data))
	if size == old {
		return nil
	}
	if n.maps > 0 {
		return errMapped
	}
	if size-old > n.space.free() {
		return syscall.ENOSPC
	}
	if size > int64(cap(n.data)) {
		grown := make([]byte, size, max(size, old+old/2))
		copy(grown, n.data)
		n.data = grown
	} else {
		n.data = n.data[:size]
		if size > old {
			clear(n.data[old:])
		}
	}
	n.touch(int(min(old, size)), int(max(old, size)))
	n.space.used += size - old
	return nil
}

// memFile is one opening of a node.
type memFile struct {
	node     *memNode
	name     string
	writable bool

	mu     sync.Mutex // guards pos and closed; taken before space.mu
	pos    int64
	closed bool
}

func (f *memFile) Name() string { return f.name }

// check returns an error if the file may not be used for op.
func (f *memFile) check(op string, write bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return pathError(op, f.name, fs.ErrClosed)
	}
	if write && !f.writable {
		return pathError(op, f.name, fs.ErrPermission)
	}
	return nil
}

func (f *memFile) Read(p []byte) (int, error) {
	if err := f.check("read", false); err != nil {
		return 0, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.readAt(p, f.pos)
	f.pos += int64(n)
	if n > 0 && errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

func (f *memFile) Write(p []byte) (int, error) {
	if err := f.check("write", true); err != nil {
		return 0, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.writeAt(p, f.pos)
	f.pos += int64(n)
	return n, err
}

func (f *memFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.check("read", false); err != nil {
		return 0, err
	}
	return f.readAt(p, off)
}

func (f *memFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.check("write", true); err != nil {
		return 0, err
	}
	return f.writeAt(p, off)
}

func (f *memFile) readAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, pathError("read", f.name, fs.ErrInvalid)
	}
	f.node.mu.RLock()
	defer f.node.mu.RUnlock()
	if len(p) == 0 {
		return 0, nil
	}
	if off >= int64(len(f.node.data)) {
		return 0, io.EOF
	}
	n := copy(p, f.node.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memFile) writeAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, pathError("write", f.name, fs.ErrInvalid)
	}
	full := false
	if end := off + int64(len(p)); end > f.node.size() {
		got, err := f.grow(off, end)
		if err != nil && !errors.Is(err, syscall.ENOSPC) {
			return 0, pathError("write", f.name, err)
		}
		full = err != nil
		p = p[:got]
	}
	f.node.mu.Lock()
	defer f.node.mu.Unlock()
	if off > int64(len(f.node.data)) {
		p = nil // Truncated by another user since, or a full disk before the offset.
	}
	n := copy(f.node.data[min(off, int64(len(f.node.data))):], p)
	f.node.touch(int(off), int(off)+n)
	if full {
		return n, pathError("write", f.name, syscall.ENOSPC)
	}
	return n, nil
}

// grow makes the file at least end bytes long, or as long as the disk allows; got is how many of the bytes from off
// to end there is now room for.
func (f *memFile) grow(off, end int64) (got int64, err error) {
	space := f.node.space
	space.mu.Lock()
	defer space.mu.Unlock()
	size := f.node.size()
	if end <= size {
		return end - off, nil
	}
	err = f.node.resize(end)
	if !errors.Is(err, syscall.ENOSPC) {
		return end - off, err
	}
	if most := size + space.free(); most > max(size, off) {
		if shortErr := f.node.resize(most); shortErr != nil {
			return 0, shortErr
		}
		return most - off, err
	}
	return max(0, size-off), err
}

func (f *memFile) Close() error {
	if err := f.check("close", false); err != nil {
		return err
	}
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	space := f.node.space
	space.mu.Lock()
	defer space.mu.Unlock()
	f.node.opens--
	if f.node.opens == 0 && f.node.nameless {
		space.used -= f.node.size()
	}
	return nil
}

func (f *memFile) Size() (int64, error) {
	if err := f.check("stat", false); err != nil {
		return 0, err
	}
	return f.node.size(), nil
}

func (f *memFile) Truncate(size int64) error {
	if err := f.check("truncate", true); err != nil {
		return err
	}
	if size < 0 {
		return pathError("truncate", f.name, fs.ErrInvalid)
	}
	return f.resize("truncate", size)
}

func (f *memFile) resize(op string, size int64) error {
	space := f.node.space
	space.mu.Lock()
	defer space.mu.Unlock()
	if err := f.node.resize(size); err != nil {
		return pathError(op, f.name, err)
	}
	return nil
}

func (f *memFile) Sync() error {
	if err := f.check("sync", false); err != nil {
		return err
	}
	f.node.sync()
	return nil
}

func (n *memNode) sync() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.mapDirty {
		if cap(n.durable) < len(n.data) {
			n.durable = make([]byte, len(n.data))
		}
		n.durable = n.durable[:len(n.data)]
		copyMapped(n.durable, n.data)
		n.mapDirty = n.maps > 0
		clear(n.dirty)
		return
	}
	if len(n.data) <= cap(n.durable) {
		n.durable = n.durable[:len(n.data)]
	} else {
		grown := make([]byte, len(n.data), cap(n.data))
		copy(grown, n.durable)
		n.durable = grown
	}
	for p := range n.dirty {
		if from := p * pageSize; from < len(n.data) {
			to := min(from+pageSize, len(n.data))
			copy(n.durable[from:to], n.data[from:to])
		}
	}
	clear(n.dirty)
}

func (f *memFile) Forget(int64, int64) {}

func (f *memFile) Allocate(offset, length int64) error {
	if err := f.check("allocate", true); err != nil {
		return err
	}
	if offset < 0 || length < 0 {
		return pathError("allocate", f.name, fs.ErrInvalid)
	}
	if offset+length <= f.node.size() {
		return nil
	}
	return f.resize("allocate", offset+length)
}

func (f *memFile) Map(length int64) (Mapping, error) {
	if err := f.check("map", false); err != nil {
		return nil, err
	}
	n := f.node
	n.mu.Lock()
	defer n.mu.Unlock()
	if length < 0 || length > int64(len(n.data)) {
		return nil, pathError("map", f.name, fmt.Errorf("length %d of a file of %d bytes", length, len(n.data)))
	}
	if length > 0 {
		n.maps++
		n.mapDirty = n.mapDirty || f.writable
	}
	return &memMapping{node: n, data: n.data[:length:length]}, nil
}

type memMapping struct {
	node *memNode
	data []byte
}

func (m *memMapping) Bytes() []byte { return m.data }

func (*memMapping) Expect(int, int) {}

func (m *memMapping) Sync() error {
	m.node.sync()
	return nil
}

func (m *memMapping) Close() error {
	if len(m.data) > 0 {
		m.node.mu.Lock()
		defer m.node.mu.Unlock()
		m.node.maps--
	}
	m.data = nil
	return nil
}
