//go:build scenario && linux

package storage

import (
	"errors"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/internal/vfs"
	"orbweaver/virtualize"
)

// cowFS maps the segments of the queues from real files, whose pages can be made unwritable: what a copy-on-write file
// system does when its disk is full, whatever space was reserved. Its other files are those of the FS below.
type cowFS struct {
	vfs.FS
	t      *testing.T
	synced func() // called after each sync of a mapping

	mu       sync.Mutex
	mappings map[*cowMapping]struct{}
}

func (f *cowFS) Create(name string) (vfs.File, error) { return f.wrap(f.FS.Create(name)) }
func (f *cowFS) OpenRW(name string) (vfs.File, error) { return f.wrap(f.FS.OpenRW(name)) }

func (f *cowFS) wrap(file vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return &cowFile{File: file, fs: f}, nil
}

// protect makes all mappings that there are writable, or only readable.
func (f *cowFS) protect(prot int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for m := range f.mappings {
		if err := syscall.Mprotect(m.data, prot); err != nil {
			f.t.Error(err)
		}
	}
}

type cowFile struct {
	vfs.File
	fs *cowFS
}

func (f *cowFile) Map(length int64) (vfs.Mapping, error) {
	below, err := f.File.Map(length)
	if err != nil || !strings.Contains(f.Name(), "seg-") {
		return below, err
	}
	file, err := os.CreateTemp(f.fs.t.TempDir(), "seg-")
	if err != nil {
		return nil, err
	}
	if _, err := file.Write(below.Bytes()); err != nil {
		return nil, err
	}
	m := &cowMapping{Mapping: below, fs: f.fs, file: file}
	if m.data, err = syscall.Mmap(int(file.Fd()), 0, int(length), syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_SHARED); err != nil {
		return nil, err
	}
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	f.fs.mappings[m] = struct{}{}
	return m, nil
}

type cowMapping struct {
	vfs.Mapping
	fs   *cowFS
	file *os.File
	data []byte
}

func (m *cowMapping) Bytes() []byte { return m.data }

// Sync brings what was written to the file below. It does not read the mapping, which may be written to meanwhile.
func (m *cowMapping) Sync() error {
	if _, err := m.file.ReadAt(m.Mapping.Bytes(), 0); err != nil {
		return err
	}
	err := m.Mapping.Sync()
	m.fs.synced()
	return err
}

func (m *cowMapping) Close() error {
	m.fs.mu.Lock()
	defer m.fs.mu.Unlock()
	delete(m.fs.mappings, m)
	return errors.Join(syscall.Munmap(m.data), m.file.Close(), m.Mapping.Close())
}

// In mid-crawl the pages of the queues' segments cannot be written to any more, though their space was reserved. The
// crawl pauses as on any full disk, and goes on when there is room. Before, the process ended with a SIGBUS.
func TestMappedFault_aFullCopyOnWriteFileSystemPausesTheCrawlAndLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAiling(t, stage{world: aLargeSite(t, 908)}) // in some worlds no segment is written to after the first sync
		a.cfg.Queues.SegmentBytes, a.cfg.Queues.BufferBytes, a.cfg.Workers.SiteItems = 1<<13, 1<<12, 4
		full := make(chan struct{})
		cow := &cowFS{FS: a.fs, t: t, mappings: map[*cowMapping]struct{}{}}
		cow.synced = sync.OnceFunc(func() {
			a.script.SetFree(0)
			cow.protect(syscall.PROT_READ)
			close(full)
		})
		a.fs = cow
		if err := a.start(); err != nil {
			t.Fatal(err)
		}
		select {
		case <-full:
		case err := <-a.done:
			t.Fatalf("the crawl ended before a segment was synced: %v", err)
		}
		a.staysPausedOnAFullDisk(t)
		cow.protect(syscall.PROT_READ | syscall.PROT_WRITE)
		a.script.Clear()
		r, err := a.end()
		if err != nil {
			t.Fatal(err)
		}
		a.over(r, 0)
		if said := a.EngineLog.String(); strings.Count(said, "write to memory-mapped segment") != 1 {
			t.Errorf("the log says:\n%s", said)
		}
	})
}

// In mid-crawl the segments cannot be read any more. The crawl ends with an error that names the segment, and the same
// command goes on when the disk is well again.
func TestMappedFault_aSegmentThatCannotBeReadEndsTheCrawlAndLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAiling(t, stage{world: aLargeSite(t, *testbed.FirstSeed+908)})
		a.cfg.Queues.SegmentBytes, a.cfg.Queues.BufferBytes, a.cfg.Workers.SiteItems = 1<<13, 1<<12, 4
		below := a.fs
		cow := &cowFS{FS: below, t: t, mappings: map[*cowMapping]struct{}{}}
		cow.synced = sync.OnceFunc(func() { cow.protect(syscall.PROT_NONE) })
		a.fs = cow
		if err := a.start(); err != nil {
			t.Fatal(err)
		}
		if _, err := a.end(); !errors.Is(err, virtualize.ErrMapped) || !errors.Is(err, syscall.EIO) ||
			!strings.Contains(err.Error(), "segment") {
			t.Fatalf("the crawl ended with: %v", err)
		}
		a.fs = below
		if err := a.start(); err != nil {
			t.Fatal(err)
		}
		r, err := a.end()
		if err != nil {
			t.Fatal(err)
		}
		a.over(r, 4)
	})
}
