package recovery

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/records/dedup"
	"orbweaver/engine/state/cluster"
	"orbweaver/internal/urlx"
	"orbweaver/internal/vfs"
)

// FetchedURLs are the URLs that this agent has fetched with an answer. Agents that leave permanently pass theirs on
// (inherited lists). A URL in the sieve is no answer to the question of another agent: it may have been handed over.
//
// It is a map of page digests whose digests are URL fingerprints. Each agent hashes with a seed of its own; the mark of
// the seed is part of the key. What cannot be written, since the disk is full, is kept in memory and tried again.
type FetchedURLs struct {
	urls *dedup.Map

	mu      sync.Mutex
	pending map[dedup.Digest]struct{} // guarded by mu: not yet written
	lists   []cluster.FetchedList     // guarded by mu: of agents that left permanently
}

// OpenFetched opens the map in dir as it was at a checkpoint; a nil checkpoint opens an empty one. memory and buffer
// are in bytes.
func OpenFetched(fsys vfs.FS, dir string, memory int64, buffer int, at *dedup.Checkpoint) (*FetchedURLs, error) {
	m, err := dedup.Open(fsys, dedup.Options{Dir: dir + "/fetched", MemoryBytes: memory, BufferBytes: buffer}, at)
	if err != nil {
		return nil, wrap(err)
	}
	return &FetchedURLs{urls: m, pending: make(map[dedup.Digest]struct{})}, nil
}

func wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("recovery: fetched: %w", err)
}

// Key is the key of a fingerprint of this agent.
func Key(fp xxh3.Uint128) (d dedup.Digest) {
	binary.LittleEndian.PutUint64(d[:], fp.Hi)
	binary.LittleEndian.PutUint64(d[8:], fp.Lo)
	return d
}

// IsOwnKey says whether a key is from this agent, not from an inherited list.
func IsOwnKey(key dedup.Digest) bool { return markOf(key) == 0 }

// inheritedKey is the key of a fingerprint that another agent hashed with its seed.
func inheritedKey(fp xxh3.Uint128, seed uint64) dedup.Digest {
	d := Key(fp)
	binary.LittleEndian.PutUint32(d[16:], seedMark(seed))
	return d
}

// seedMark tells the keys of two seeds apart. It is never 0, which own keys have.
func seedMark(seed uint64) uint32 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], seed)
	return uint32(xxh3.Hash(b[:])) | 1
}

func markOf(key dedup.Digest) uint32 { return binary.LittleEndian.Uint32(key[16:]) }

// Add adds a URL of this agent, in the step that counts it as completed.
func (f *FetchedURLs) Add(fp xxh3.Uint128) { f.insert(Key(fp)) }

// Inherit adds URLs from the list of another agent, as fingerprints of 16 bytes each.
func (f *FetchedURLs) Inherit(of cluster.FetchedList, fps []byte) {
	f.mu.Lock()
	if !slices.ContainsFunc(f.lists, func(known cluster.FetchedList) bool { return known.Seed == of.Seed }) {
		f.lists = append(f.lists, of)
	}
	f.mu.Unlock()
	for ; len(fps) >= 16; fps = fps[16:] {
		fp := xxh3.Uint128{Hi: binary.LittleEndian.Uint64(fps), Lo: binary.LittleEndian.Uint64(fps[8:])}
		f.insert(inheritedKey(fp, of.Seed))
	}
}

func (f *FetchedURLs) insert(key dedup.Digest) {
	if _, _, err := f.urls.Insert(key, dedup.First{}); err != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.pending[key] = struct{}{}
	}
}

// Disown removes the list of an agent that died before it had left.
func (f *FetchedURLs) Disown(instance string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lists = slices.DeleteFunc(f.lists, func(of cluster.FetchedList) bool { return of.Instance == instance })
}

// Lists are the inherited lists that count.
func (f *FetchedURLs) Lists() []cluster.FetchedList {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.lists)
}

// RestoreLists sets the inherited lists as a checkpoint has them.
func (f *FetchedURLs) RestoreLists(lists []cluster.FetchedList) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lists = lists
}

// HolderOf is the instance that has an answer of a URL, as far as this agent knows: self, if this agent has, which
// hashes with seed; empty if none is known.
func (f *FetchedURLs) HolderOf(seed uint64, self string, url []byte) (instance string, err error) {
	have, err := f.contains(Key(urlx.Fingerprint(seed, url)))
	if have {
		return self, nil
	}
	for _, of := range f.Lists() {
		if err != nil {
			break
		}
		if have, err = f.contains(inheritedKey(urlx.Fingerprint(of.Seed, url), of.Seed)); have {
			return of.Instance, nil
		}
	}
	return "", err
}

func (f *FetchedURLs) contains(key dedup.Digest) (bool, error) {
	f.mu.Lock()
	_, pending := f.pending[key]
	f.mu.Unlock()
	if pending {
		return true, nil
	}
	_, found, err := f.urls.Lookup(key)
	return found && err == nil, wrap(err)
}

// Walk calls give with some keys of the lists that count, from a position on; 0 is the first. own is the list of this
// agent. It returns the next position, and whether these keys were the last.
func (f *FetchedURLs) Walk(
	own cluster.FetchedList, from int64, most int, give func(of cluster.FetchedList, key dedup.Digest),
) (next int64, over bool, err error) {
	next, over, err = f.urls.Walk(from, dedup.WalkAll, most, func(key dedup.Digest) {
		if of, ok := f.listOf(own, key); ok {
			give(of, key)
		}
	})
	return next, over, wrap(err)
}

// listOf is the list that a key is from; false if that list does not count any more.
func (f *FetchedURLs) listOf(own cluster.FetchedList, key dedup.Digest) (of cluster.FetchedList, ok bool) {
	if IsOwnKey(key) {
		return own, true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.IndexFunc(f.lists, func(of cluster.FetchedList) bool { return seedMark(of.Seed) == markOf(key) })
	if i < 0 {
		return of, false
	}
	return f.lists[i], true
}

// Maintain does a share of the upkeep on disk. The caller holds no lock.
func (f *FetchedURLs) Maintain() error {
	if err := f.writePending(); err != nil {
		return err
	}
	return wrap(f.urls.Tend())
}

func (f *FetchedURLs) writePending() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for key := range f.pending {
		if _, _, err := f.urls.Insert(key, dedup.First{}); err != nil {
			return wrap(err)
		}
		delete(f.pending, key)
	}
	return nil
}

// Checkpoint marks the state for a checkpoint. It writes first what is pending, so that the checkpoint has it.
func (f *FetchedURLs) Checkpoint() (dedup.Checkpoint, error) {
	if err := f.writePending(); err != nil {
		return dedup.Checkpoint{}, err
	}
	c, err := f.urls.Checkpoint()
	return c, wrap(err)
}

// Sync makes the marked state durable.
func (f *FetchedURLs) Sync() error { return wrap(f.urls.Sync()) }

// Release lets go of what only checkpoints before this one need.
func (f *FetchedURLs) Release(at dedup.Checkpoint) error { return wrap(f.urls.Release(at)) }

// Close closes the files.
func (f *FetchedURLs) Close() error { return wrap(f.urls.Close()) }
