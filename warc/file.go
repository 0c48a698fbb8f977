package warc

import (
	"fmt"
	"io"
	"strings"

	"orbweaver/internal/vfs"
)

// outFile is one file being written, or waiting to be finished. The Writer's lock guards all but what sync and finish do.
type outFile struct {
	fsys     vfs.FS
	dir      string
	info     FileInfo
	f        vfs.File
	id       ID    // of its warcinfo record
	size     int64 // of the complete groups
	wrote    int64 // bytes appended since it was opened, those of undone groups too: never less, so it tells what is synced
	infoSize int64 // of the warcinfo record
	dirty    bool  // the file may be longer than size
	index    indexLines

	recalling chan struct{} // a lock for recall: held while the one slot is full
	unread    int64         // length of the start whose index lines are not in memory: see recall; guarded by recalling
	recalled  indexLines    // of that start; guarded by recalling

	closing chan struct{} // a lock for sync and finish, which take long: held while the one slot is full
	synced  int64         // how much of wrote is durable; guarded by closing
	past    int64         // bytes of the file that the system has been told to forget; guarded by closing
	named   bool          // its name is durable; guarded by closing
	stage   int           // how far finish has come; guarded by closing
}

func newOutFile(fsys vfs.FS, dir string, info FileInfo) *outFile {
	return &outFile{fsys: fsys, dir: dir, info: info, recalling: make(chan struct{}, 1), closing: make(chan struct{}, 1)}
}

// forgetStep is a multiple of every page size: only whole pages can be forgotten.
const forgetStep = 64 << 10

// The stages of finish. Each is done once; a failed one is tried again by the next call.
const (
	stageOpen = iota
	stageSynced
	stageIndexed
	stageClosed
	stageRenamed
	stageDone
)

// append writes b behind the complete groups, in one call (promise A1). After a failure the file is cut back to where it was; if even that
// fails it stays dirty, and is cut by the next append, sync or finish.
func (f *outFile) append(b []byte) error {
	if err := f.clean(); err != nil {
		return err
	}
	f.dirty = true
	n, err := f.f.WriteAt(b, f.size)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	if err != nil {
		err = fmt.Errorf("warc: writing %s: %w", f.f.Name(), err)
		if cut := f.clean(); cut != nil {
			err = fmt.Errorf("%w (and then: %w)", err, cut)
		}
		return err
	}
	f.dirty = false
	f.size += int64(len(b))
	f.wrote += int64(len(b))
	return nil
}

// clean cuts off what a failed write may have left.
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

// sync makes the first so many bytes of wrote, and the file's name, durable; size is how long the file was when they were.
func (f *outFile) sync(wrote, size int64) error {
	f.closing <- struct{}{}
	defer func() { <-f.closing }()
	return f.syncHeld(wrote, size)
}

func (f *outFile) syncHeld(wrote, size int64) error {
	if f.stage >= stageSynced || f.synced >= wrote && f.named {
		return nil
	}
	if err := f.f.Sync(); err != nil {
		return fmt.Errorf("%w: syncing %s: %w", ErrLost, f.f.Name(), err)
	}
	f.synced = wrote
	// Nobody reads here again but a resume, and the frontier has better use for the memory.
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
	return nil
}

// finish brings a file that gets no more groups to its final name: data synced, index written and synced, file closed, renamed,
// directory synced, in the order that promise A2 asks for. It can be called again after a failure and goes on where it stopped.
func (f *outFile) finish() error {
	if err := f.recall(); err != nil {
		return err // before anybody who only wants to sync would wait
	}
	f.closing <- struct{}{}
	defer func() { <-f.closing }()
	final := join(f.dir, f.info.Final())
	steps := [...]func() error{
		stageOpen: func() error { return f.syncHeld(f.wrote, f.size) },
		stageSynced: func() error {
			return vfs.WriteAtomic(f.fsys, join(f.dir, f.info.Index()), func(w io.Writer) error {
				return f.allLines().writeTo(w, f.info.Final())
			})
		},
		stageIndexed: func() error { return f.f.Close() },
		stageClosed:  func() error { return f.fsys.Rename(join(f.dir, f.info.Name), final) },
		stageRenamed: func() error { return f.fsys.SyncDir(f.dir) },
	}
	for f.stage < stageDone {
		stage := f.stage
		err := steps[stage]()
		if stage == stageIndexed || err == nil {
			f.stage++ // a file that failed to close is closed all the same, and its data was synced before
		}
		if err != nil {
			return fmt.Errorf("warc: finishing %s: %w", f.info.Final(), err)
		}
	}
	f.index, f.recalled = indexLines{}, indexLines{}
	return nil
}

// allLines are the lines of the whole file, when it gets no more.
func (f *outFile) allLines() *indexLines { return f.recalled.join(&f.index) }

// abandon closes the file without giving it its final name.
func (f *outFile) abandon() error {
	f.closing <- struct{}{}
	defer func() { <-f.closing }()
	if f.stage >= stageClosed {
		return nil
	}
	f.stage = stageDone
	return f.f.Close()
}

// infoBlock is the block of a warcinfo record.
func infoBlock(fields []Field) []byte {
	var b []byte
	for _, f := range fields {
		b = appendField(b, f.Name, strings.TrimSpace(f.Value))
	}
	return b
}
