package agent

import (
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/cluster"
	"orbweaver/engine/seen"
	"orbweaver/internal/vfs"
)

// fetched is which URLs this agent has asked for and has an answer of, for ever: what the sieve knows may have been
// handed over since, so it is no answer to the question of another agent whether a page is there. A crawl alone has
// none.
//
// It is a map of page digests whose digests are fingerprints. What could not be noted, since the disk was full, is kept
// in memory and tried again.
type fetched struct {
	urls *seen.Map

	mu   sync.Mutex
	late map[seen.Digest]struct{}
	heir []cluster.FetchedList // of agents that have left for good: see inherit.go
}

func openFetched(fsys vfs.FS, dir string, memory int64, buffer int, cut *seen.Cut) (*fetched, error) {
	m, err := seen.Open(fsys, seen.Options{Dir: dir + "/fetched", MemoryBytes: memory, BufferBytes: buffer}, cut)
	if err != nil {
		return nil, fmt.Errorf("engine: fetched: %w", err)
	}
	return &fetched{urls: m, late: make(map[seen.Digest]struct{})}, nil
}

func fetchedKey(fp xxh3.Uint128) (d seen.Digest) {
	binary.LittleEndian.PutUint64(d[:], fp.Hi)
	binary.LittleEndian.PutUint64(d[8:], fp.Lo)
	return d
}

// add notes a URL, in the step of the cut that counts it as done.
func (f *fetched) add(fp xxh3.Uint128) { f.addKey(fetchedKey(fp)) }

func (f *fetched) addKey(key seen.Digest) {
	if _, _, err := f.urls.Insert(key, seen.First{}); err != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.late[key] = struct{}{}
	}
}

// hasKey says that a URL was noted.
func (f *fetched) hasKey(key seen.Digest) (bool, error) {
	f.mu.Lock()
	_, late := f.late[key]
	f.mu.Unlock()
	if late {
		return true, nil
	}
	_, found, err := f.urls.Lookup(key)
	if err != nil {
		return false, fmt.Errorf("engine: fetched: %w", err)
	}
	return found, nil
}

// tend does a share of the upkeep, while no lock is held.
func (f *fetched) tend() error {
	if err := f.retry(); err != nil {
		return err
	}
	if err := f.urls.Tend(); err != nil {
		return fmt.Errorf("engine: fetched: %w", err)
	}
	return nil
}

// retry notes what is late. A cut does not lack it: it is retried before.
func (f *fetched) retry() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for key := range f.late {
		if _, _, err := f.urls.Insert(key, seen.First{}); err != nil {
			return fmt.Errorf("engine: fetched: %w", err)
		}
		delete(f.late, key)
	}
	return nil
}

// cut marks where it is, for the checkpointer.
func (f *fetched) cut() (seen.Cut, error) {
	if err := f.retry(); err != nil {
		return seen.Cut{}, err
	}
	c, err := f.urls.Cut()
	if err != nil {
		return c, fmt.Errorf("engine: fetched: %w", err)
	}
	return c, nil
}
