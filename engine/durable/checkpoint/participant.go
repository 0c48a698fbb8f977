package checkpoint

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"orbweaver/engine/state/cluster"
	"orbweaver/engine/store/crawllog"
	"orbweaver/engine/store/manifest"
	"orbweaver/internal/vfs"
	"orbweaver/sieve/fpcache"
)

// Participant is a component whose state a checkpoint holds. Its methods are called by one goroutine.
type Participant interface {
	// MarkState notes the state while no step is under way, and must not wait for the disk. It may complete its part of
	// the manifest already.
	MarkState(m *manifest.Manifest) error
	// Write writes what MarkState left, while the crawl goes on, and completes its part of the manifest.
	Write(m *manifest.Manifest) error
	// Sync makes durable what the manifest names of the component.
	Sync(m *manifest.Manifest) error
	// Release frees what only the manifest before this one named. This one is durable.
	Release(m *manifest.Manifest) error
	// Abandon drops what MarkState left. It does nothing after Write.
	Abandon()
}

// None is the participant of a component that the crawl does not have.
type None struct{}

// MarkState implements Participant.
func (None) MarkState(*manifest.Manifest) error { return nil }

// Write implements Participant.
func (None) Write(*manifest.Manifest) error { return nil }

// Sync implements Participant.
func (None) Sync(*manifest.Manifest) error { return nil }

// Release implements Participant.
func (None) Release(*manifest.Manifest) error { return nil }

// Abandon implements Participant.
func (None) Abandon() {}

// marker is a component whose mark is all that the manifest needs: its files only grow.
type marker[C any] struct {
	None
	part    func(m *manifest.Manifest) *C
	mark    func() (C, error)
	sync    func() error
	release func(C) error
}

func (p *marker[C]) MarkState(m *manifest.Manifest) (err error) {
	*p.part(m), err = p.mark()
	return err
}

func (p *marker[C]) Sync(*manifest.Manifest) error { return p.sync() }

func (p *marker[C]) Release(m *manifest.Manifest) error { return p.release(*p.part(m)) }

// snapshot is what a component writes of its state at a mark.
type snapshot[C any] interface {
	Write() (C, error)
	Abandon()
}

// snapshotter is a component that writes a file for each mark.
type snapshotter[C any, S snapshot[C]] struct {
	part    func(m *manifest.Manifest) *C
	mark    func() (S, error)
	sync    func() error
	release func(C) error
	pending []S // at most one: what MarkState left
}

func (p *snapshotter[C, S]) MarkState(*manifest.Manifest) error {
	s, err := p.mark()
	if err == nil {
		p.pending = append(p.pending[:0], s)
	}
	return err
}

func (p *snapshotter[C, S]) Write(m *manifest.Manifest) (err error) {
	*p.part(m), err = p.pending[0].Write()
	return err
}

func (p *snapshotter[C, S]) Sync(*manifest.Manifest) error { return p.sync() }

func (p *snapshotter[C, S]) Release(m *manifest.Manifest) error { return p.release(*p.part(m)) }

func (p *snapshotter[C, S]) Abandon() {
	for _, s := range p.pending {
		s.Abandon()
	}
	clear(p.pending)
	p.pending = p.pending[:0]
}

// WriteFile writes a file of a generation. SyncFile makes it durable later.
func WriteFile(fsys vfs.FS, name string, write func(io.Writer) error) error {
	f, err := fsys.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 64<<10)
	if err := errors.Join(write(w), w.Flush(), f.Close()); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// SyncFile makes a file durable that WriteFile wrote.
func SyncFile(fsys vfs.FS, name string) error {
	f, err := fsys.OpenRW(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// SaveCache keeps the fingerprint cache for the next run. Only an orderly stop does.
func SaveCache(fsys vfs.FS, dir string, generation uint64, cache *fpcache.Cache) error {
	return vfs.WriteAtomic(fsys, manifest.CachePath(dir), func(w io.Writer) error {
		if err := binary.Write(w, binary.LittleEndian, generation); err != nil {
			return err
		}
		return cache.Save(w)
	})
}

// DropCache removes the fingerprint cache, also one that a kill has left unfinished. A complete crawl has no use for
// it.
func DropCache(fsys vfs.FS, dir string) error {
	for _, name := range []string{manifest.CachePath(dir) + vfs.TemporarySuffix, manifest.CachePath(dir)} {
		if err := fsys.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// LoadCache returns the fingerprint cache of an orderly stop. It returns old if there is none of this generation and of
// the size of old.
func LoadCache(fsys vfs.FS, dir string, generation uint64, old *fpcache.Cache) (*fpcache.Cache, error) {
	f, err := fsys.Open(manifest.CachePath(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return old, nil
	}
	if err != nil {
		return nil, fmt.Errorf("checkpoint: cache: %w", err)
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 1<<20)
	var of uint64
	if err := binary.Read(in, binary.LittleEndian, &of); err != nil || of != generation {
		return old, nil //nolint:nilerr // a crawl without it is only slower
	}
	if c, err := fpcache.Load(in); err == nil && c.Stats().Bytes == old.Stats().Bytes {
		return c, nil
	}
	return old, nil
}

// clusterState saves what is about other agents. A crawl of one agent has no such state, and no file.
type clusterState struct {
	None
	fs    vfs.FS
	dir   string // frontier/
	part  cluster.CheckpointPart
	image []byte // what the queues of the outbox do not hold
}

func (p *clusterState) MarkState(m *manifest.Manifest) (err error) {
	m.Peers, p.image, err = p.part.MarkState()
	return err
}

func (p *clusterState) Write(m *manifest.Manifest) error {
	if m.Peers == nil {
		return nil
	}
	return WriteFile(p.fs, manifest.OutboxPath(p.dir, m.Generation), func(w io.Writer) error {
		_, err := w.Write(p.image)
		return err
	})
}

func (p *clusterState) Sync(m *manifest.Manifest) error {
	if err := p.part.Sync(); err != nil || m.Peers == nil {
		return err
	}
	return SyncFile(p.fs, manifest.OutboxPath(p.dir, m.Generation))
}

func (p *clusterState) Release(m *manifest.Manifest) error {
	if m.Peers == nil {
		return nil
	}
	return p.part.Release(m.Peers)
}

func (p *clusterState) Abandon() { p.image = nil }

// CrawlLog is the log of the crawl. A checkpoint notes where it ends, so that a resume knows which lines count. A log
// that cannot be written ends no checkpoint.
type CrawlLog interface {
	// Mark notes the lines that were added until now.
	Mark() int64
	// PositionOf returns where these lines end in the files.
	PositionOf(mark int64) crawllog.Position
	// SyncFile makes the lines durable.
	SyncFile() error
}

// logState saves where the log ends.
type logState struct {
	None
	log  CrawlLog
	mark int64
}

func (p *logState) MarkState(*manifest.Manifest) error {
	p.mark = p.log.Mark()
	return nil
}

func (p *logState) Write(m *manifest.Manifest) error {
	var c crawllog.Checkpoint
	if m.Log != nil {
		c = *m.Log
	}
	c.End = p.log.PositionOf(p.mark)
	m.Log = &c
	return nil
}

func (p *logState) Sync(*manifest.Manifest) error {
	_ = p.log.SyncFile() // after a power cut the log may lack lines
	return nil
}
