package warc

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"orbweaver/internal/vfs"
	"orbweaver/warc/cdxj"
	"orbweaver/warc/fixity"
	"orbweaver/warc/header"
	"orbweaver/warc/member"
	"orbweaver/warc/openindex"
)

// outFile is a file that is written or waits to be finished. The Writer's lock guards all fields except those of sync
// and finish.
type outFile struct {
	fsys     vfs.FS
	dir      string
	info     FileInfo
	f        vfs.File
	id       ID    // of its warcinfo record
	size     int64 // of the complete groups
	wrote    int64 // bytes appended since it was opened, with undone groups; it never decreases
	infoSize int64 // of the warcinfo record
	dirty    bool  // the file may be longer than size
	index    cdxj.Lines
	facts    fileFacts

	marks openindex.Marks // lines of the index in a file, for after a kill; guarded by closing

	recalling chan struct{} // a lock for recall with capacity one: held while it is full
	unread    int64         // length of the first part without index lines in memory: see recall; guarded by recalling
	recalled  cdxj.Lines    // of the first part; guarded by recalling
	isIndexed bool          // the lines are in the index alone; guarded by recalling

	closing chan struct{} // a lock for sync and finish, which take long: held while it is full
	stage   int           // progress of finish; guarded by closing
	durable               // guarded by closing
}

// durable is what of a file is on the disk.
type durable struct {
	synced int64 // part of wrote
	past   int64 // bytes of the file that the system was told to remove from its cache
	named  bool  // its name
}

func newOutFile(fsys vfs.FS, dir string, info FileInfo, listeners []fixity.Listener) *outFile {
	return &outFile{
		fsys: fsys, dir: dir, info: info, facts: fileFacts{listeners: listeners},
		marks:     openindex.Marks{File: openindex.File{FS: fsys, Name: join(dir, info.Index()+openindex.Suffix)}},
		recalling: make(chan struct{}, 1), closing: make(chan struct{}, 1),
	}
}

// TornSuffix ends the names of files with torn ends that were removed from archive files.
const TornSuffix = ".torn"

// forgetStep is a multiple of every page size, because only whole pages can be removed from the cache.
const forgetStep = 64 << 10

// The stages of finish. Each is done once; after an error the next call tries it again.
const (
	stageOpen = iota
	stageSynced
	stageIndexed
	stageClosed
	stageRenamed
	stageDurable
	stageDone
)

// append writes out after the complete groups, in one call if it is in memory (promise A1). After an error the file is
// truncated to its old length. If this fails too, the file stays dirty, and the next append, sync or finish truncates
// it.
func (f *outFile) append(out *member.Output) error {
	if err := f.clean(); err != nil {
		return err
	}
	f.dirty = true
	if err := out.WriteAt(f.f, f.size); err != nil {
		err = fmt.Errorf("warc: writing %s: %w", f.f.Name(), err)
		if cleanErr := f.clean(); cleanErr != nil {
			err = fmt.Errorf("%w (and then: %w)", err, cleanErr)
		}
		return err
	}
	f.dirty = false
	f.size += out.Size()
	f.wrote += out.Size()
	return nil
}

// clean truncates what a failed write may have left.
func (f *outFile) clean() error {
	if !f.dirty {
		return nil
	}
	if err := f.f.Truncate(f.size); err != nil {
		return fmt.Errorf("warc: cutting %s back to %d: %w", f.f.Name(), f.size, err)
	}
	f.dirty = false
	return nil
}

// sync makes the file durable up to an end, and its name.
func (f *outFile) sync(end fileEnd) error {
	f.closing <- struct{}{}
	defer func() { <-f.closing }()
	return f.syncHeld(end)
}

func (f *outFile) syncHeld(end fileEnd) error {
	if f.stage >= stageSynced || f.synced >= end.wrote && f.named {
		return nil
	}
	if err := f.f.Sync(); err != nil {
		return fmt.Errorf("%w: syncing %s: %w", ErrLost, f.f.Name(), err)
	}
	f.synced = end.wrote
	size := f.facts.digestTo(f.f, end)
	// Only a resume reads these bytes again, and the frontier can use the memory.
	if ahead := size - f.past; ahead >= forgetStep {
		ahead -= ahead % forgetStep
		f.f.Forget(f.past, ahead)
		f.past += ahead
	}
	if !f.named {
		if err := f.fsys.SyncDir(f.dir); err != nil {
			return fmt.Errorf("%w: syncing %s: %w", ErrLost, f.dir, err)
		}
		f.named = true
	}
	if end.isMarkDue {
		f.marks.Add(f.facts.markOf(f.f, &end))
	}
	return nil
}

// finish gives a full file its final name: sync data, write and sync the index, close, rename, sync the directory, in
// the order of promise A2. After an error it can be called again and continues.
func (f *outFile) finish() error {
	if err := f.recall(); err != nil {
		return err // checked before any wait of a caller that only wants to sync
	}
	f.closing <- struct{}{}
	defer func() { <-f.closing }()
	final := join(f.dir, f.info.Final())
	steps := [...]func() error{
		stageOpen: func() error { return f.syncHeld(fileEnd{wrote: f.wrote, size: f.size, lasting: f.size}) },
		stageSynced: func() error {
			if err := f.facts.complete(f); err != nil {
				return err
			}
			return vfs.WriteAtomic(f.fsys, join(f.dir, f.info.Index()), func(w io.Writer) error {
				return f.allLines().WriteSorted(w, f.info.Final())
			})
		},
		stageIndexed: func() error { return f.f.Close() },
		stageClosed:  func() error { return f.fsys.Rename(join(f.dir, f.info.Name), final) },
		stageRenamed: f.endRename,
		stageDurable: func() error {
			f.marks.Remove()
			return f.facts.announce(f)
		},
	}
	for f.stage < stageDone {
		stage := f.stage
		err := steps[stage]()
		if stage == stageIndexed || err == nil {
			f.stage++ // close released the file even if it failed, and its data was synced before
		}
		if err != nil {
			return fmt.Errorf("warc: finishing %s: %w", f.info.Final(), err)
		}
	}
	return nil
}

// endRename makes the final name durable. From then on the index on disk counts, and its lines leave the memory.
func (f *outFile) endRename() error {
	if err := f.fsys.SyncDir(f.dir); err != nil {
		return err //nolint:wrapcheck // finish adds the name
	}
	f.recalling <- struct{}{} // OpenLines may read them
	f.index, f.recalled, f.isIndexed = cdxj.Lines{}, cdxj.Lines{}, true
	<-f.recalling
	return nil
}

// allLines returns the lines of the whole file. No lines may be added afterwards.
func (f *outFile) allLines() *cdxj.Lines { return f.recalled.Join(&f.index) }

// abandon closes the file without its final name.
func (f *outFile) abandon() error {
	f.closing <- struct{}{}
	defer func() { <-f.closing }()
	if f.stage >= stageClosed {
		return nil
	}
	f.stage = stageDone
	return errors.Join(f.marks.Close(), f.f.Close())
}

// setAside copies what is truncated from a file before the Checkpoint into another file, so that the operator can
// examine it.
func (f *outFile) setAside(from, to int64) error {
	return vfs.WriteAtomic(f.fsys, join(f.dir, f.info.Final()+TornSuffix), func(w io.Writer) error {
		_, err := io.Copy(w, io.NewSectionReader(f.f, from, to-from))
		return err
	})
}

// FinishFile gives a file its final name, if no Writer uses it. It truncates the file to size, and writes the index
// from the lines. The order is that of promise A2.
func FinishFile(fsys vfs.FS, dir string, info FileInfo, size int64, index *cdxj.Lines) error {
	f := newOutFile(fsys, dir, info, nil)
	var err error
	if f.f, err = fsys.OpenRW(join(dir, info.Name)); err != nil {
		return err
	}
	length, err := f.f.Size()
	if err == nil {
		f.size, f.index, f.dirty = size, *index, length > size
		err = f.clean()
	}
	if err == nil {
		err = f.finish()
	}
	if err != nil {
		return errors.Join(err, f.abandon())
	}
	return nil
}

// abandonFiles closes files without their final names.
func abandonFiles(files []*outFile) error {
	var faults []error
	for _, f := range files {
		faults = append(faults, f.abandon())
	}
	return errors.Join(faults...)
}

// InfoBlock returns the block of a warcinfo record with these fields.
func InfoBlock(fields []Field) []byte {
	var b []byte
	for _, f := range fields {
		b = header.AppendField(b, f.Name, strings.TrimSpace(f.Value))
	}
	return b
}
