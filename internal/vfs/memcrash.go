package vfs

import (
	"maps"
	"math/rand/v2"
	"path"
	"slices"
)

// KillClone returns the disk after a kill of the process: all written bytes are there, and all locks are free. It
// shares nothing with m.
func (m *Mem) KillClone() *Mem {
	m.space.mu.Lock()
	defer m.space.mu.Unlock()
	return m.clone(m.rng.Uint64(), m.dirs, func(n *memNode) []byte {
		n.mu.RLock()
		defer n.mu.RUnlock()
		data := make([]byte, len(n.data))
		copyMapped(data, n.data)
		return data
	})
}

// Forget simulates a failed sync of many systems. Bytes that were written and not synced stay readable but do not count
// as dirty. They never reach the disk, whatever later syncs return, unless they are written again.
func (m *Mem) Forget(name string) {
	m.space.mu.Lock()
	node, err := m.dirs.find(path.Clean(name))
	m.space.mu.Unlock()
	if err != nil {
		return
	}
	node.mu.Lock()
	defer node.mu.Unlock()
	if size := len(node.data); len(node.durable) < size { // the length is the directory's business, and may be durable
		node.durable = append(node.durable, make([]byte, size-len(node.durable))...)
	}
	clear(node.dirty)
	node.mapDirty = false
}

// CrashClone returns the disk as it may be after a power failure. Synced bytes are there. Of the others, some pages are
// there, some are torn and some are lost, or all or none of each file. Changes of names since the last sync of their
// directory may be lost. A rename is never incomplete. rng makes the choices, or the generator of m if rng is nil. The
// clone shares nothing with m.
func (m *Mem) CrashClone(rng *rand.Rand) *Mem {
	m.space.mu.Lock()
	defer m.space.mu.Unlock()
	if rng == nil {
		rng = m.rng
	}
	names := m.durable.clone()
	for _, op := range survivors(rng, m.pending) {
		op.apply(names)
	}
	if rng.IntN(3) == 0 {
		return m.clone(rng.Uint64(), names, func(n *memNode) []byte { return n.crashWhole(rng) })
	}
	return m.clone(rng.Uint64(), names, func(n *memNode) []byte { return n.crash(rng) })
}

// LostClone returns the disk as it is after a power cut that spared nothing: of each file what was last synced, and the
// names of the last SyncDir. Of the changes of names since, the youngest survive, as many as kept says: a disk may
// write down what came last and lose what came before. The original lives on and shares nothing with the clone.
func (m *Mem) LostClone(kept int) *Mem {
	m.space.mu.Lock()
	defer m.space.mu.Unlock()
	names := m.durable.clone()
	for _, op := range m.pending[max(0, len(m.pending)-kept):] {
		op.apply(names)
	}
	return m.clone(m.rng.Uint64(), names, func(n *memNode) []byte {
		n.mu.RLock()
		defer n.mu.RUnlock()
		return append([]byte(nil), n.durable...)
	})
}

// clone copies the names and shares the files.
func (t memTree) clone() memTree {
	c := memTree{}
	for dir, files := range t {
		c[dir] = maps.Clone(files)
	}
	return c
}

// survivors chooses which unsynced changes of names a power cut leaves: half the time a journalling file system's
// answer, everything up to some moment, else any of them.
func survivors(rng *rand.Rand, ops []nameOp) []nameOp {
	if rng.IntN(2) == 0 {
		return ops[:rng.IntN(len(ops)+1)]
	}
	var kept []nameOp
	for _, op := range ops {
		if rng.IntN(2) == 0 {
			kept = append(kept, op)
		}
	}
	return kept
}

// clone makes a Mem of the directories of m, the files of names and the content that content gives. Files are visited
// in sorted order, so that a seed gives one result. The caller holds m.space.mu.
func (m *Mem) clone(seed uint64, names memTree, content func(*memNode) []byte) *Mem {
	c := NewMem(seed)
	c.space.limit = m.space.limit
	for dir, entries := range m.dirs {
		c.dirs[dir] = map[string]*memNode{}
		for base, node := range entries {
			if node == nil {
				c.dirs[dir][base] = nil
			}
		}
	}
	copies := map[*memNode]*memNode{}
	for _, dir := range sortedKeys(names) {
		if c.dirs[dir] == nil {
			continue // A removed directory takes its durable names along.
		}
		c.durable[dir] = map[string]*memNode{}
		for _, base := range sortedKeys(names[dir]) {
			node := names[dir][base]
			if node == nil {
				continue
			}
			if copies[node] == nil {
				data := content(node)
				copies[node] = &memNode{space: c.space, data: data, durable: append([]byte(nil), data...)}
				c.space.used += int64(len(data))
			}
			c.dirs[dir][base] = copies[node]
			c.durable[dir][base] = copies[node]
		}
	}
	return c
}

// crashWhole returns either all of the content or the durable part, because disks write one file before another.
func (n *memNode) crashWhole(rng *rand.Rand) []byte {
	n.mu.RLock()
	defer n.mu.RUnlock()
	if rng.IntN(2) == 0 {
		return append([]byte(nil), n.durable...)
	}
	data := make([]byte, len(n.data))
	copyMapped(data, n.data)
	return data
}

// crash returns what a power cut leaves of the content.
func (n *memNode) crash(rng *rand.Rand) []byte {
	n.mu.RLock()
	defer n.mu.RUnlock()
	size := len(n.durable)
	if low, high := min(size, len(n.data)), max(size, len(n.data)); high > low {
		size = []int{len(n.durable), len(n.data), low + rng.IntN(high-low+1)}[rng.IntN(3)]
	}
	out := make([]byte, size)
	copy(out, n.durable)
	for from := 0; from < min(size, len(n.data)); from += pageSize {
		if _, dirty := n.dirty[from/pageSize]; !dirty && !n.mapDirty {
			continue
		}
		to := min(from+pageSize, size, len(n.data))
		cut := from + rng.IntN(to-from)
		switch rng.IntN(5) {
		case 0, 1:
			copyMapped(out[from:to], n.data[from:to])
		case 2:
			copyMapped(out[from:cut], n.data[from:cut])
		case 3:
			copyMapped(out[cut:to], n.data[cut:to])
		}
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
