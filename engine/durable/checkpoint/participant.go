package checkpoint

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"orbweaver/engine/store/manifest"
	"orbweaver/internal/vfs"
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
