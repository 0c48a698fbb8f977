package virtualize

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/zeebo/xxh3"

	"orbweaver/internal/vfs"
)

const (
	imagePortion = 32 << 10 // bytes of records that are copied per hold of the lock
	imageLook    = 4096     // entries, or words of the set of changes, that are examined per hold of the lock
	imagePieces  = 8        // portions that are written together
)

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
		return Checkpoint{}, fmt.Errorf("virtualize: cut: %w", err)
	}
	w.buf = append(w.buf, im.head...)
	for _, key := range im.changes.deleted {
		w.buf = binary.AppendUvarint(append(w.buf, recordDeleted), key)
		w.flush(imagePieces * v.portion)
	}
	for !im.copied && w.err == nil {
		if w.buf, err = im.copySome(w.buf); err != nil {
			w.err = err
		}
		w.flush(imagePieces * v.portion)
	}
	w.flush(0)
	sum := w.hash.Sum64()
	w.seal(sum)
	if err := errors.Join(w.err, w.file.Close()); err != nil {
		return Checkpoint{}, fmt.Errorf("virtualize: cut: %w", im.undo(err))
	}
	return im.succeed(uint64(w.at), sum), nil
}

// create opens the file at the position of the section of this snapshot.
func (im *Snapshot) create() (*sectionWriter, error) {
	v := im.v
	w := &sectionWriter{hash: xxh3.New()}
	var err error
	if im.base {
		w.file, err = v.fsys.Create(indexName(v.opts.Dir, im.generation))
	} else {
		w.at = int64(v.file.length)
		w.file, err = v.fsys.OpenRW(indexName(v.opts.Dir, v.file.base))
	}
	return w, err
}

// undo frees the space of a failed section.
func (im *Snapshot) undo(err error) error {
	v := im.v
	if vfs.IsFull(err) {
		v.mu.Lock()
		v.count.FullFailures++
		v.mu.Unlock()
	}
	if im.base {
		return errors.Join(err, vfs.RemoveIfExists(v.fsys, indexName(v.opts.Dir, im.generation)))
	}
	return err // The next section overwrites what is after the last checkpoint.
}

// copySome appends the next records, about a portion.
func (im *Snapshot) copySome(b []byte) ([]byte, error) {
	v := im.v
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.writable(); err != nil {
		return b, err
	}
	b = append(b, im.copiedEarly...)
	im.copiedEarly = im.copiedEarly[:0]
	enough := len(b) + v.portion
	if !im.moved {
		b, im.moved = im.copyMoves(b)
	}
	for look := 0; look < min(imageLook, v.portion) && len(b) < enough && im.next < im.entryCount; look++ {
		word := im.changes.queues[im.next>>6] >> (im.next & 63)
		if word == 0 {
			im.next = (im.next | 63) + 1
			continue
		}
		im.next += uint32(bits.TrailingZeros64(word))
		b = v.appendQueue(b, v.idx.at(im.next))
		im.next++
	}
	if im.next >= im.entryCount && im.moved {
		// Changes of relocations since the snapshot are reversed, the last one first.
		for i := len(v.changes.moves) - 1; i >= 0; i-- {
			b = appendMove(b, v.changes.moves[i].born, v.changes.moves[i].before)
		}
		b = append(b, recordEnd)
		im.copied = true
	}
	return b, nil
}

// copyMoves appends some of the relocations. Changes of them since the snapshot are reversed at the end.
func (im *Snapshot) copyMoves(b []byte) (_ []byte, all bool) {
	r := &im.v.reloc
	if im.base {
		for born, now := range r.tables[im.nextMove] {
			b = appendMove(b, born, now)
		}
		im.nextMove++
		return b, im.nextMove == len(r.tables)
	}
	for n := 0; n < imageLook && im.nextMove < len(im.changes.moves); n++ {
		born := im.changes.moves[im.nextMove].born
		now, _ := r.get(born)
		b = appendMove(b, born, now)
		im.nextMove++
	}
	return b, im.nextMove == len(im.changes.moves)
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
