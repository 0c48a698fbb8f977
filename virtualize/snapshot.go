package virtualize

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/zeebo/xxh3"

	"orbweaver/internal/vfs"
)

const (
	imagePortion = 32 << 10 // bytes of records that are copied per hold of the lock
	imageLook    = 4096     // entries, or words of the set of changes, that are examined per hold of the lock
	imagePieces  = 8        // portions that are written together
)

// Snapshot is the state of the queues at one moment. Taking it needs the same short time for any content. It is written
// while the queues are in use. Before a queue changes that is not written yet, its state is copied to the image.
type Snapshot struct {
	v          *Virtualizer
	generation uint64
	base       bool     // contains all queues, in a new file
	head       []byte   // first bytes of the section: everything before moves, deleted queues and queues
	deleted    []uint64 // keys of deleted queues
	moves      []move   // changes of the relocations
	nextMove   int      // the next change, or table, of the relocations to copy
	moved      bool     // the relocations are copied
	queues     uint64
	items      uint64
	done       bool
}

// header returns the first part of the section, without what the queues know. The lock is held.
func (im *Snapshot) header() header {
	file := &im.v.checkpoints.file
	h := header{generation: im.generation, base: file.base, before: file.sum, items: im.items, queues: im.queues}
	if im.base {
		h.base, h.before = im.generation, 0
	}
	return h
}

// Abandon ends the snapshot without writing it; the next one contains its changes. It does nothing after Write.
func (im *Snapshot) Abandon() {
	v := im.v
	v.mu.Lock()
	defer v.mu.Unlock()
	if im.done {
		return
	}
	im.done = true
	if !v.stopped.closed {
		q := &v.queues
		q.changes.adopt(q.image.queues, im.deleted)
		q.log.segments.moved.adopt(im.moves)
		q.image.end()
	}
}

// succeed makes the completely written snapshot the last checkpoint.
func (im *Snapshot) succeed(length, sum uint64) Checkpoint {
	v := im.v
	v.mu.Lock()
	defer v.mu.Unlock()
	v.checkpoints.addWritten(im.generation, im.base, length, sum)
	q := &v.queues
	clear(q.image.queues)
	q.changes.spare = q.image.queues
	q.image.end()
	im.done = true
	return Checkpoint{
		Generation: im.generation, Base: v.checkpoints.file.base, Length: length, Checksum: sum,
		Queues: im.queues, Items: im.items,
	}
}

// Write writes what has changed since the last checkpoint, or everything if that is due, and ends the snapshot. After
// an error the next snapshot contains the same changes. It does not sync. The lock is held while about ten KB are
// copied, not during writes. If vfs.IsFull reports true for the error, take another snapshot when the disk has space.
func (im *Snapshot) Write() (Checkpoint, error) {
	v := im.v
	v.syncing.Lock()
	defer v.syncing.Unlock()
	if im.done {
		panic("BUG: virtualize: an image written twice")
	}
	defer im.Abandon()
	w, err := im.create()
	if err != nil {
		return Checkpoint{}, fmt.Errorf("virtualize: checkpoint: %w", err)
	}
	w.buf = append(w.buf, im.head...)
	for _, key := range im.deleted {
		w.buf = binary.AppendUvarint(append(w.buf, recordDeleted), key)
		w.flush(imagePieces * v.portion)
	}
	for copied := false; !copied && w.err == nil; {
		if w.buf, copied, err = im.copySome(w.buf); err != nil {
			w.err = err
		}
		w.flush(imagePieces * v.portion)
	}
	w.flush(0)
	sum := w.hash.Sum64()
	w.seal(sum)
	if err := errors.Join(w.err, w.file.Close()); err != nil {
		return Checkpoint{}, fmt.Errorf("virtualize: checkpoint: %w", im.undo(err))
	}
	return im.succeed(uint64(w.at), sum), nil
}

// create opens the file at the position of the section of this snapshot.
func (im *Snapshot) create() (*sectionWriter, error) {
	v := im.v
	file := &v.checkpoints.file
	w := &sectionWriter{hash: xxh3.New()}
	var err error
	if im.base {
		w.file, err = v.fsys.Create(indexName(v.opts.Dir, im.generation))
	} else {
		w.at = int64(file.length)
		w.file, err = v.fsys.OpenRW(indexName(v.opts.Dir, file.base))
	}
	return w, err
}

// undo frees the space of a failed section.
func (im *Snapshot) undo(err error) error {
	v := im.v
	if vfs.IsFull(err) {
		v.mu.Lock()
		v.checkpoints.fullFailures++
		v.mu.Unlock()
	}
	if im.base {
		return errors.Join(err, vfs.RemoveIfExists(v.fsys, indexName(v.opts.Dir, im.generation)))
	}
	return err // The next section overwrites what is after the last checkpoint.
}

// copySome appends the next records, about a portion. all reports that they are the last ones.
func (im *Snapshot) copySome(b []byte) (_ []byte, all bool, err error) {
	v := im.v
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.stopped.writable(); err != nil {
		return b, false, err
	}
	q := &v.queues
	b = append(b, q.image.copiedEarly...)
	q.image.copiedEarly = q.image.copiedEarly[:0]
	enough := len(b) + v.portion
	if !im.moved {
		b, im.moved = im.copyMoves(b)
	}
	b, all = q.copyQueues(b, min(imageLook, v.portion), enough)
	if !all || !im.moved {
		return b, false, nil
	}
	// Changes of relocations since the snapshot are reversed.
	b = q.log.segments.moved.appendUndo(b)
	q.image.copied = true
	return append(b, recordEnd), true, nil
}

// copyMoves appends some of the relocations. Changes of them since the snapshot are reversed at the end.
func (im *Snapshot) copyMoves(b []byte) (_ []byte, all bool) {
	r := &im.v.queues.log.segments.moved
	if im.base {
		for born, now := range r.tables[im.nextMove] {
			b = appendMove(b, born, now)
		}
		im.nextMove++
		return b, im.nextMove == len(r.tables)
	}
	for n := 0; n < imageLook && im.nextMove < len(im.moves); n++ {
		born := im.moves[im.nextMove].born
		now, _ := r.get(born)
		b = appendMove(b, born, now)
		im.nextMove++
	}
	return b, im.nextMove == len(im.moves)
}

// sectionWriter collects, hashes and writes the bytes of a section. It keeps its first error.
type sectionWriter struct {
	file vfs.File
	at   int64
	buf  []byte
	hash *xxh3.Hasher
	err  error
}

// flush writes the collected bytes if they are at least this many.
func (w *sectionWriter) flush(least int) {
	if len(w.buf) < least {
		return
	}
	_, _ = w.hash.Write(w.buf) // never fails
	w.put()
}

// seal writes the checksum.
func (w *sectionWriter) seal(sum uint64) {
	w.buf = binary.LittleEndian.AppendUint64(w.buf, sum)
	w.put()
}

func (w *sectionWriter) put() {
	if w.err == nil {
		_, w.err = w.file.WriteAt(w.buf, w.at)
		w.at += int64(len(w.buf))
	}
	w.buf = w.buf[:0]
}
