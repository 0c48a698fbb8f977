package vfs

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"path"
	"slices"
	"sync"
	"syscall"
)

// Mem is a file system in memory for tests. It is as strict as the strictest disk: names are durable only after
// SyncDir, content only after Sync, and CrashClone shows what that means. Directories are durable at once.
//
// Locking order: memSpace.mu before memNode.mu.
type Mem struct {
	space   *memSpace  // space.mu guards all fields
	rng     *rand.Rand // for CrashClone(nil)
	dirs    memTree
	durable memTree  // as of the last SyncDir of each directory, files only
	pending []nameOp // changes of names since then, in order
	locks   map[string]bool
}

// memSpace is the space of a Mem: its limit and what its files use. Its lock is the lock of the Mem.
type memSpace struct {
	mu    sync.Mutex
	limit int64 // negative: none
	used  int64 // sum of the sizes of files that have a name or are open
}

// free returns how many bytes may still be written.
func (s *memSpace) free() int64 {
	if s.limit < 0 {
		return math.MaxInt64
	}
	return max(0, s.limit-s.used)
}

// memTree holds the files of each directory by base name; nil for a subdirectory.
type memTree map[string]map[string]*memNode

// nameOp is one change of a directory that is not durable yet. A creation has no old name, a removal no new one.
type nameOp struct {
	oldDir, oldBase string
	newDir, newBase string
	node            *memNode
}

// NewMem returns an empty file system that has the directories "." and "/". The seed drives CrashClone(nil).
func NewMem(seed uint64) *Mem {
	return &Mem{
		space:   &memSpace{limit: -1},
		rng:     rand.New(rand.NewPCG(seed, 0x6d656d)),
		dirs:    memTree{".": {}, "/": {}},
		durable: memTree{},
		locks:   map[string]bool{},
	}
}

// SetLimit plays a disk of so many bytes: what would make the files' sizes exceed it fails with syscall.ENOSPC, after
// writing what still fits. A negative limit is none. Lowering it below what is used deletes nothing.
func (m *Mem) SetLimit(bytes int64) {
	m.space.mu.Lock()
	defer m.space.mu.Unlock()
	m.space.limit = bytes
}

// Used returns the bytes that count against the limit: the sizes of all files that have a name or are open.
func (m *Mem) Used() int64 {
	m.space.mu.Lock()
	defer m.space.mu.Unlock()
	return m.space.used
}

func pathError(op, name string, err error) error { return &fs.PathError{Op: op, Path: name, Err: err} }

// find returns a file by its name.
func (t memTree) find(name string) (node *memNode, err error) {
	node, ok := t[path.Dir(name)][path.Base(name)]
	switch {
	case !ok && t[name] == nil:
		return nil, fs.ErrNotExist
	case node == nil:
		return nil, syscall.EISDIR
	}
	return node, nil
}

func (m *Mem) open(op, name string, create, truncate, writable bool) (File, error) {
	m.space.mu.Lock()
	defer m.space.mu.Unlock()
	clean := path.Clean(name)
	node, err := m.dirs.find(clean)
	if errors.Is(err, fs.ErrNotExist) && create {
		dir, base := path.Dir(clean), path.Base(clean)
		if m.dirs[dir] == nil {
			return nil, pathError(op, name, fs.ErrNotExist)
		}
		node, err = &memNode{space: m.space}, nil
		m.record(nameOp{newDir: dir, newBase: base, node: node})
	}
	if err != nil {
		return nil, pathError(op, name, err)
	}
	if truncate {
		if err := node.resize(0); err != nil {
			return nil, pathError(op, name, err)
		}
	}
	node.opens++
	return &memFile{node: node, name: name, writable: writable}, nil
}

// Create implements FS.
func (m *Mem) Create(name string) (File, error) { return m.open("create", name, true, true, true) }

// Open implements FS.
func (m *Mem) Open(name string) (File, error) { return m.open("open", name, false, false, false) }

// OpenRW implements FS.
func (m *Mem) OpenRW(name string) (File, error) { return m.open("open", name, true, false, true) }

// record applies a change of names to the live tree and remembers it until its directory is synced.
func (m *Mem) record(op nameOp) {
	op.apply(m.dirs)
	m.pending = append(m.pending, op)
}

// apply makes the change in a tree that may have missed earlier ones: only the node it was about is ever unlinked.
func (op nameOp) apply(tree memTree) {
	if op.oldBase != "" && tree[op.oldDir][op.oldBase] == op.node {
		delete(tree[op.oldDir], op.oldBase)
	}
	if op.newBase != "" {
		if tree[op.newDir] == nil {
			tree[op.newDir] = map[string]*memNode{}
		}
		tree[op.newDir][op.newBase] = op.node
	}
}

// Rename implements FS.
func (m *Mem) Rename(oldName, newName string) error {
	m.space.mu.Lock()
	defer m.space.mu.Unlock()
	from, to := path.Clean(oldName), path.Clean(newName)
	node, err := m.dirs.find(from)
	if err != nil {
		return pathError("rename", oldName, err)
	}
	if from == to {
		return nil
	}
	replaced, err := m.dirs.find(to)
	if errors.Is(err, syscall.EISDIR) {
		return pathError("rename", newName, err)
	}
	if m.dirs[path.Dir(to)] == nil {
		return pathError("rename", newName, fs.ErrNotExist)
	}
	m.record(nameOp{
		oldDir: path.Dir(from), oldBase: path.Base(from),
		newDir: path.Dir(to), newBase: path.Base(to), node: node,
	})
	if replaced != nil {
		replaced.unlink()
	}
	return nil
}

// Remove implements FS.
func (m *Mem) Remove(name string) error {
	m.space.mu.Lock()
	defer m.space.mu.Unlock()
	clean := path.Clean(name)
	node, err := m.dirs.find(clean)
	if errors.Is(err, syscall.EISDIR) {
		if len(m.dirs[clean]) > 0 {
			return pathError("remove", name, syscall.ENOTEMPTY)
		}
		delete(m.dirs, clean)
		delete(m.dirs[path.Dir(clean)], path.Base(clean))
		return nil
	}
	if err != nil {
		return pathError("remove", name, err)
	}
	m.record(nameOp{oldDir: path.Dir(clean), oldBase: path.Base(clean), node: node})
	node.unlink()
	return nil
}

// MkdirAll implements FS.
func (m *Mem) MkdirAll(name string) error {
	m.space.mu.Lock()
	defer m.space.mu.Unlock()
	return m.dirs.mkdirAll(path.Clean(name))
}

func (t memTree) mkdirAll(dir string) error {
	if t[dir] != nil {
		return nil
	}
	parent, base := path.Dir(dir), path.Base(dir)
	if err := t.mkdirAll(parent); err != nil {
		return err
	}
	if t[parent][base] != nil {
		return pathError("mkdir", dir, syscall.ENOTDIR)
	}
	t[parent][base] = nil
	t[dir] = map[string]*memNode{}
	return nil
}

// List implements FS.
func (m *Mem) List(dir string) ([]string, error) {
	m.space.mu.Lock()
	defer m.space.mu.Unlock()
	names, ok := m.dirs[path.Clean(dir)]
	if !ok {
		return nil, pathError("list", dir, fs.ErrNotExist)
	}
	return slices.Sorted(maps.Keys(names)), nil
}

// Size implements FS.
func (m *Mem) Size(name string) (int64, error) {
	m.space.mu.Lock()
	defer m.space.mu.Unlock()
	node, err := m.dirs.find(path.Clean(name))
	if err != nil {
		return 0, pathError("stat", name, err)
	}
	return node.size(), nil
}

// SyncDir implements FS.
func (m *Mem) SyncDir(dir string) error {
	m.space.mu.Lock()
	defer m.space.mu.Unlock()
	clean := path.Clean(dir)
	if m.dirs[clean] == nil {
		return pathError("sync", dir, fs.ErrNotExist)
	}
	kept := m.pending[:0]
	for _, op := range m.pending {
		if (op.oldBase != "" && op.oldDir == clean) || (op.newBase != "" && op.newDir == clean) {
			op.apply(m.durable)
		} else {
			kept = append(kept, op)
		}
	}
	clear(m.pending[len(kept):])
	m.pending = kept
	return nil
}

// Free implements FS.
func (m *Mem) Free(dir string) (int64, error) {
	m.space.mu.Lock()
	defer m.space.mu.Unlock()
	if m.dirs[path.Clean(dir)] == nil {
		return 0, pathError("statfs", dir, fs.ErrNotExist)
	}
	return m.space.free(), nil
}

// Lock implements FS.
func (m *Mem) Lock(name string) (io.Closer, error) {
	f, err := m.OpenRW(name)
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	m.space.mu.Lock()
	defer m.space.mu.Unlock()
	clean := path.Clean(name)
	if m.locks[clean] {
		return nil, pathError("lock", name, ErrLocked)
	}
	m.locks[clean] = true
	return &memLock{fs: m, name: clean}, nil
}

type memLock struct {
	fs   *Mem
	name string
	once sync.Once
}

func (l *memLock) Close() error {
	l.once.Do(func() {
		l.fs.space.mu.Lock()
		defer l.fs.space.mu.Unlock()
		delete(l.fs.locks, l.name)
	})
	return nil
}
