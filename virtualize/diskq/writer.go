package diskq

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"

	"orbweaver/internal/vfs"
)

// writer is the tail: the building block and its position on disk.
type writer struct {
	files        directory
	segmentBytes int64 // at which a new segment begins

	segment uint64
	offset  int64
	file    vfs.File   // nil until the segment's first block is written
	sealed  []vfs.File // full segments that are not yet synced
	dirty   bool       // file has unsynced blocks
	newName bool       // a file was created since the last sync of the directory
	litter  bool       // a write failed in the middle: there may be bytes after offset

	buf        []byte // reserved bytes, then the payload
	items      uint32 // in buf
	pos        int    // read position in buf; after reserved only if the reader has read all files
	itemsTaken uint32 // items before pos
}

// maxSealed is the number of full segments that may wait for a Sync. Above it the writer syncs one itself. This bounds
// the number of open files.
const maxSealed = 8

func (w *writer) reset() {
	if cap(w.buf) < reserved || cap(w.buf) > 4*blockTarget {
		w.buf = make([]byte, reserved, reserved+blockTarget+blockTarget/4)
	}
	w.buf, w.items, w.pos, w.itemsTaken = w.buf[:reserved], 0, reserved, 0
}

func (w *writer) add(item []byte) {
	w.buf = binary.AppendUvarint(w.buf, uint64(len(item)))
	w.buf = append(w.buf, item...)
	w.items++
}

// next returns the first unread item of the building block. It is valid until the next call of any method.
func (w *writer) next() []byte {
	item, rest, ok := nextItem(w.buf[w.pos:])
	if !ok {
		panic("BUG: diskq: the building block does not parse")
	}
	w.pos = len(w.buf) - len(rest)
	w.itemsTaken++
	if w.itemsTaken == w.items {
		// All items were read before they were written, so the block need not be written. The bytes stay until the next
		// add.
		w.buf, w.items, w.pos, w.itemsTaken = w.buf[:reserved], 0, reserved, 0
	}
	return item
}

// tail returns the position of the next block.
func (w *writer) tail() position { return position{w.segment, w.offset} }

// unread returns the number of unread items of the building block.
func (w *writer) unread() uint32 { return w.items - w.itemsTaken }

// blockOffset returns the position of the next block.
func (w *writer) blockOffset() int64 { return max(w.offset, int64(segmentHead)) }

// write writes the unread part of the building block to the segment that roll has opened, and returns the position and
// the payload of the block. The payload stays in buf. After an error the writer is as before.
func (w *writer) write() (at position, payload []byte, written int, err error) {
	payload = w.buf[w.pos:]
	start := w.pos - blockHead
	putBlockHead(w.buf[start:], payload, w.segment, w.blockOffset(), w.unread())
	if w.offset == 0 {
		start -= segmentHead
		putSegmentHead(w.buf[start:], w.segment)
	}
	out := w.buf[start:]
	if _, err := w.file.WriteAt(out, w.offset); err != nil {
		w.litter = true
		return at, nil, 0, fmt.Errorf("diskq: write: %w", err)
	}
	at = position{w.segment, w.blockOffset()}
	w.offset += int64(len(out))
	w.dirty = true
	return at, payload, len(out), nil
}

// roll makes sure that a segment with space is open. A full segment is truncated if a failed write left bytes after its
// end. It stays open for the next Sync.
func (w *writer) roll() error {
	length := int64(len(w.buf) - w.pos + blockHead)
	if w.offset > int64(segmentHead) && w.offset+length > w.segmentBytes {
		if w.litter {
			if err := w.file.Truncate(w.offset); err != nil {
				return err
			}
			w.litter = false
		}
		next, err := w.files.create(w.segment + 1)
		if err != nil {
			return err
		}
		w.sealed = append(w.sealed, w.file)
		w.file, w.segment, w.offset, w.dirty, w.newName = next, w.segment+1, 0, true, true
	}
	if len(w.sealed) > maxSealed {
		oldest := w.sealed[0]
		if err := oldest.Sync(); err != nil {
			return &stickyError{err}
		}
		w.sealed = w.sealed[1:]
		if err := oldest.Close(); err != nil {
			return &stickyError{err}
		}
	}
	if w.file != nil {
		return nil
	}
	file, err := w.files.create(w.segment)
	if err != nil {
		return err
	}
	w.file, w.newName = file, true
	return nil
}

// cutTail opens the last segment and truncates it at the checkpoint.
func (w *writer) cutTail() error {
	file, err := w.files.open(w.segment)
	if err != nil {
		return err
	}
	size, err := file.Size()
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("diskq: open: %w", err)
	}
	if size < w.offset {
		return corrupt(w.segment, w.offset, "the file ends at %d", size)
	}
	w.file, err = w.files.fsys.OpenRW(w.files.name(w.segment))
	if err == nil && size > w.offset {
		err = w.file.Truncate(w.offset)
	}
	if err != nil {
		return fmt.Errorf("diskq: open: %w", err)
	}
	// After a crash the checkpoint may be written but not synced: sync it again.
	w.dirty, w.newName = true, true
	return nil
}

// unsynced is what a sync must make durable.
type unsynced struct {
	sealed  []vfs.File // full segments, which are closed then
	tail    vfs.File   // the file that grows
	dirty   bool       // tail has unsynced blocks
	newName bool       // the directory must be synced
}

// takeUnsynced returns what is not durable yet. The writer does not sync it again.
func (w *writer) takeUnsynced() unsynced {
	u := unsynced{sealed: w.sealed, tail: w.file, dirty: w.dirty, newName: w.newName}
	w.sealed, w.dirty, w.newName = nil, false, false
	return u
}

// sync syncs and closes the full files, and syncs the tail and the directory. If the writer has sealed, synced and
// closed the tail in the meantime, it is durable already.
func (u unsynced) sync(d directory) error {
	var errs []error
	for _, f := range u.sealed {
		errs = append(errs, f.Sync(), f.Close())
	}
	if u.dirty {
		if err := u.tail.Sync(); !errors.Is(err, fs.ErrClosed) {
			errs = append(errs, err)
		}
	}
	err := errors.Join(errs...)
	if u.newName && err == nil {
		err = d.fsys.SyncDir(d.dir)
	}
	return err
}

// stickyError is an error after which nothing is written any more. vfs.IsFull returns false for it: a file system that
// reports a full disk only at a sync has already lost accepted bytes, and another attempt would not restore them.
type stickyError struct{ err error }

func (e *stickyError) Error() string { return e.err.Error() }

func (e *stickyError) Unwrap() error {
	if vfs.IsFull(e.err) {
		return nil
	}
	return e.err
}

// closeAll closes the writer's files.
func (w *writer) closeAll() error {
	var errs []error
	for _, f := range w.sealed {
		errs = append(errs, f.Close())
	}
	if w.file != nil {
		errs = append(errs, w.file.Close())
	}
	w.sealed, w.file = nil, nil
	return errors.Join(errs...)
}
