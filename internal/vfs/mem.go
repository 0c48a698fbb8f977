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
// Locking order: Mem.mu before memNode.mu.
type Mem struct {
	mu      sync.Mutex
	rng     *rand.Rand                     // for CrashClone(nil)
	dirs    map[string]map[string]*memNode // directory -> base name -> file; nil for a subdirectory
	durable map[string]map[string]*memNode // the same as of the last SyncDir of each directory, files only
	pending []nameOp                       // what happened to names since, in order
	locks   map[string]bool
	limit   int64 // negative: none
	used    int64 // sum of the sizes of files that have a name or are open
}

// nameOp is one change of a directory that is not durable yet. A creation has no old name, a removal no new one.
type nameOp struct {
	oldDir, oldBase string
	newDir, newBase string
	node            *memNode
}

// NewMem returns an empty file system that has the directories "." and "/". The seed drives CrashClone(nil).
func NewMem(seed uint64) *Mem {
	return &Mem{
		rng:     rand.New(rand.NewPCG(seed, 0x6d656d)),
		dirs:    map[string]map[string]*memNode{".": {}, "/": {}},
		durable: map[string]map[string]*memNode{},
		locks:   map[string]bool{},
		limit:   -1,
	}
}

// SetLimit plays a disk of so many bytes: what would make the files' sizes exceed it fails with syscall.ENOSPC, after
// writing what still fits. A negative limit is none. Lowering it below what is used deletes nothing.
func (m *Mem) SetLimit(bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.limit = bytes
}

// Used returns the bytes that count against the limit: the sizes of all files that have a name or are open.
func (m *Mem) Used() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used
}

func pathError(op, name string, err error) error { return &fs.PathError{Op: op, Path: name, Err: err} }

// find returns a file by name; the caller holds m.mu.
func (m *Mem) find(name string) (node *memNode, err error) {
	node, ok := m.dirs[path.Dir(name)][path.Base(name)]
	switch {
	case !ok && m.dirs[name] == nil:
		return nil, fs.ErrNotExist
	case node == nil:
		return nil, syscall.EISDIR
	}
	return node, nil
}

func (m *Mem) open(op, name string, create, truncate, writable bool) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	clean := path.Clean(name)
	node, err := m.find(clean)
	if errors.Is(err, fs.ErrNotExist) && create {
		dir, base := path.Dir(clean), path.Base(clean)
		if m.dirs[dir] == nil {
			return nil, pathError(op, name, fs.ErrNotExist)
		}
		node, err = &memNode{fs: m}, nil
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
func (op nameOp) apply(tree map[string]map[string]*memNode) {
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
	m.mu.Lock()
	defer m.mu.Unlock()
	from, to := path.Clean(oldName), path.Clean(newName)
	node, err := m.find(from)
	if err != nil {
		return pathError("rename", oldName, err)
	}
	if from == to {
		return nil
	}
	replaced, err := m.find(to)
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
		m.unlinked(replaced)
	}
	return nil
}

// Remove implements FS.
func (m *Mem) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	clean := path.Clean(name)
	node, err := m.find(clean)
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
	m.unlinked(node)
	return nil
}

// unlinked gives a nameless file's bytes back, now or when its last holder closes it. The caller holds m.mu.
func (m *Mem) unlinked(node *memNode) {
	node.nameless = true
	if node.opens == 0 {
		m.used -= node.size()
	}
}

// MkdirAll implements FS.
func (m *Mem) MkdirAll(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.mkdirAll(path.Clean(name))
}

func (m *Mem) mkdirAll(dir string) error {
	if m.dirs[dir] != nil {
		return nil
	}
	parent, base := path.Dir(dir), path.Base(dir)
	if err := m.mkdirAll(parent); err != nil {
		return err
	}
	if m.dirs[parent][base] != nil {
		return pathError("mkdir", dir, syscall.ENOTDIR)
	}
	m.dirs[parent][base] = nil
	m.dirs[dir] = map[string]*memNode{}
	return nil
}

// List implements FS.
func (m *Mem) List(dir string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	names, ok := m.dirs[path.Clean(dir)]
	if !ok {
		return nil, pathError("list", dir, fs.ErrNotExist)
	}
	return slices.Sorted(maps.Keys(names)), nil
}

// Size implements FS.
func (m *Mem) Size(name string) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	node, err := m.find(path.Clean(name))
	if err != nil {
		return 0, pathError("stat", name, err)
	}
	return node.size(), nil
}

// SyncDir implements FS.
func (m *Mem) SyncDir(dir string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
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
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dirs[path.Clean(dir)] == nil {
		return 0, pathError("statfs", dir, fs.ErrNotExist)
	}
	if m.limit < 0 {
		return math.MaxInt64, nil
	}
	return max(0, m.limit-m.used), nil
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
	m.mu.Lock()
	defer m.mu.Unlock()
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
		l.fs.mu.Lock()
		defer l.fs.mu.Unlock()
		delete(l.fs.locks, l.name)
	})
	return nil
}
