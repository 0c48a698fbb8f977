package warc

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"orbweaver/internal/vfs"
	"orbweaver/warc/member"
)

// Errors of the Writer. Errors of the file system are wrapped, so that errors.Is finds syscall.ENOSPC.
var (
	// ErrClosed is returned by a Writer after Close.
	ErrClosed = errors.New("warc: writer is closed")
	// ErrLost is returned after a failed sync: data since the last good Sync may be lost. The Writer cannot be used any
	// more. Open it again at the last durable Checkpoint.
	ErrLost = errors.New("warc: written data may be lost")
	// ErrResume is returned if the files in the directory do not reach the Checkpoint.
	ErrResume = errors.New("warc: cannot go on from the checkpoint")
)

// Position is the position of a group or record in the archive.
type Position struct {
	// Serial is the file's number.
	Serial uint32 `json:"serial"`
	// Offset of the first byte in the file, and Length in the file, in bytes.
	Offset int64 `json:"offset"`
	Length int64 `json:"length"`
}

// End returns the Checkpoint at the end of the position.
func (p Position) End() Checkpoint { return Checkpoint{Serial: p.Serial, Length: p.Offset + p.Length} }

// Checkpoint is an end of the archive: everything before it is valid, and nothing after it. The zero Checkpoint is an
// empty archive.
type Checkpoint struct {
	// Serial of the last file, and its Length in bytes.
	Serial uint32 `json:"serial"`
	Length int64  `json:"length"`
}

// Before reports whether c is an earlier end than d.
func (c Checkpoint) Before(d Checkpoint) bool {
	return c.Serial < d.Serial || c.Serial == d.Serial && c.Length < d.Length
}

// Stats counts what a Writer has done since it was opened.
type Stats struct {
	Files       uint64            // created
	Finished    uint64            // brought to their final names
	Unfinished  int               // full, but not yet brought to their final names
	Groups      uint64            // appended
	Bytes       int64             // appended, as stored; with the warcinfo records
	BytesRaw    int64             // the same before compression
	Records     [typeCount]uint64 // appended, by Type
	Syncs       uint64            // calls of Sync that had something to do
	Failures    uint64            // failed appends; each was undone
	Resumed     bool              // whether it was resumed at a Checkpoint
	CutBytes    int64             // truncated after the Checkpoint when it was opened
	CutFiles    int               // removed after the Checkpoint when it was opened
	IndexMemory int64             // memory for the index of the open file
}

// count adds one written record.
func (s *Stats) count(kind Type, m *member.Member) {
	s.Records[kind]++
	s.Bytes += m.End - m.Start
	s.BytesRaw += m.Raw
}

// Writer appends groups of records to the files of an archive. It is safe for concurrent use, and starts no goroutine.
type Writer struct {
	fsys vfs.FS
	o    Options
	info []byte
	id   atomic.Pointer[ID] // of the open file's warcinfo record

	// lock guards the following fields; it is held while this channel of capacity one is full. A caller with a context
	// can stop waiting for a channel, and a holder may wait for the disk.
	lock    chan struct{}
	encoder *Encoder // for warcinfo records
	current *outFile // nil before the first group and after Close
	spare   *outFile // created, but its warcinfo record could not be written yet
	full    []*outFile
	end     Checkpoint // end of the archive, if current is nil
	next    uint32
	closed  bool
	lost    error
	last    undoable
	stats   Stats

	together groupBuffer // several groups in one write
}

// undoable is the last write, as Undo needs it.
type undoable struct {
	end    Checkpoint // after it; the zero Checkpoint if there is nothing to undo
	offset int64
	lines  int // number of index lines before it
	stats  Stats
	kinds  [typeCount]uint64 // records of the file
}

// OpenWriter opens the archive in o.Dir for writing. If resume is nil, it starts a new archive, and fails with
// ErrResume if there are files. Otherwise it restores the archive that ends at the Checkpoint: files after it are
// removed, its file is truncated, and earlier files that were open are finished. If the files do not reach the
// Checkpoint, the error is ErrResume. The first Append creates the first file.
func OpenWriter(fsys vfs.FS, o Options, resume *Checkpoint) (*Writer, error) {
	o = o.WithDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	e, err := NewEncoder(EncoderOptions{Compression: o.Compression, Level: o.Level, Dictionary: o.Dictionary})
	if err != nil {
		return nil, err
	}
	w := &Writer{fsys: fsys, o: o, info: InfoBlock(o.Info), encoder: e, lock: make(chan struct{}, 1)}
	if err := fsys.MkdirAll(o.Dir); err != nil {
		return nil, fmt.Errorf("warc: %w", err)
	}
	r := resumption{fsys: fsys, o: &w.o}
	if resume == nil {
		if err := r.checkEmpty(); err != nil {
			return nil, err
		}
		return w, nil
	}
	r.checkpoint = *resume
	if err := r.restore(); err != nil {
		return nil, err
	}
	w.current, w.end, w.next, w.stats = r.current, r.checkpoint, r.nextSerial(), r.stats
	if w.current != nil {
		w.id.Store(&w.current.id)
	}
	return w, nil
}

func (w *Writer) acquire() { w.lock <- struct{}{} }
func (w *Writer) release() { <-w.lock }

// Append writes a group at the end, with one write. It borrows the group. The Position is that of the whole group. If
// the group would make the file too long, Append starts the next file first.
//
// After an error the archive contains nothing of the group. The call may be repeated, unless the error is ErrClosed,
// ErrLost or ErrRecord: for example when a full disk has space again.
func (w *Writer) Append(g Group) (Position, error) {
	if err := w.Ready(g); err != nil {
		return Position{}, err
	}
	one := [1]Group{g}
	_, pos, err := w.AppendAll(one[:])
	return pos, err
}

// Ready verifies a group and prepares what needs no lock. Append calls it. For groups of AppendAll, the owner of each
// group must call it.
func (w *Writer) Ready(g Group) error {
	if g.Len() == 0 {
		return fmt.Errorf("%w: empty group", ErrRecord)
	}
	if g.e.broken != nil {
		return g.e.broken
	}
	if form := g.e.packer.Compression(); form != w.o.Compression {
		return fmt.Errorf("%w: group is %s, archive is %s", ErrRecord, form, w.o.Compression)
	}
	if w.encoder.packer.DictionaryID() != g.e.packer.DictionaryID() {
		return fmt.Errorf("%w: group and archive have different dictionaries", ErrRecord)
	}
	if id := w.id.Load(); id != nil { // usually the file is still the same
		if err := g.stamp(*id); err != nil {
			return fmt.Errorf("warc: packing a group: %w", err)
		}
	}
	return nil
}

// AppendAll is Append for several groups, with one write for as many of them as fit into the same file and the same
// buffer. Each must be Ready. n, at least one, is the number of groups that were written in order into the span. An
// error concerns these n groups, and none of them is in the archive.
func (w *Writer) AppendAll(groups []Group) (n int, span Position, err error) {
	w.acquire()
	n, span, err = w.appendHeld(groups)
	full := w.full
	if err != nil {
		w.stats.Failures++
	}
	w.release()
	if err == nil && len(full) > 0 && !w.o.FinishLater {
		// The groups are safe. If a file cannot be finished now, this is counted, and a later call tries again, at the
		// latest Close.
		_ = w.finishFull(full)
	}
	return n, span, err
}

func (w *Writer) appendHeld(groups []Group) (n int, span Position, err error) {
	if w.closed {
		return 1, Position{}, ErrClosed
	}
	if w.lost != nil {
		return 1, Position{}, w.lost
	}
	if c := w.current; c == nil || c.size+groups[0].Size() > w.o.SizeMax && c.size > c.infoSize {
		if err := w.rotate(); err != nil {
			return 1, Position{}, err
		}
	}
	c := w.current
	out, err := w.together.join(groups, c.id, w.o.SizeMax-c.size)
	if err != nil {
		return 1, Position{}, fmt.Errorf("warc: packing a group: %w", err)
	}
	span = Position{Serial: c.info.Serial, Offset: c.size, Length: out.Size()}
	w.last = undoable{end: span.End(), offset: c.size, lines: c.index.Len(), stats: w.stats, kinds: c.facts.records}
	err = c.append(&out)
	for at := span.Offset; at < span.End().Length; n++ {
		if err == nil {
			w.note(groups[n], at)
		}
		at += groups[n].Size()
	}
	return n, span, err
}

// note adds the index lines of a group at this position, and counts the group.
func (w *Writer) note(g Group, at int64) {
	from := 0
	for i, record := range g.e.records {
		m := g.e.packer.Member(i)
		if record.indexEnd > from {
			w.current.index.Add(g.e.index[from:record.indexEnd], at+m.Start, m.End-m.Start)
			from = record.indexEnd
		}
		w.stats.count(record.kind, m)
		w.current.facts.records[record.kind]++
	}
	w.stats.Groups++
}

// Undo removes what the last Append or AppendAll wrote at pos. Nothing else may have been appended since. It is for
// callers that must also record each group elsewhere and could not. The bytes are truncated now, or at the latest
// before the next group is written.
func (w *Writer) Undo(pos Position) {
	w.acquire()
	defer w.release()
	c := w.current
	if c == nil || w.last.end != pos.End() || w.cutHeld() != pos.End() {
		panic("BUG: warc: Undo of a group that is not the last one")
	}
	c.size, c.dirty = w.last.offset, true
	c.index.Cut(w.last.lines)
	w.stats.Records, w.stats.Groups = w.last.stats.Records, w.last.stats.Groups
	c.facts.records = w.last.kinds
	w.stats.Bytes, w.stats.BytesRaw = w.last.stats.Bytes, w.last.stats.BytesRaw
	w.last = undoable{}
	_ = c.clean() // after an error it stays dirty, and the next append, sync or finish tries again
}

// rotate starts the next file. The current one, if any, then waits to be finished. After an error nothing has changed.
func (w *Writer) rotate() error {
	if w.current != nil {
		if err := w.current.clean(); err != nil {
			return err
		}
	}
	if w.spare == nil {
		now := time.Now()
		f := newOutFile(w.fsys, w.o.Dir, FileInfo{
			Name: formatName(&w.o, w.next, now) + openSuffix, Serial: w.next, Open: true, Compression: w.o.Compression,
		}, w.o.Listeners)
		f.facts.begin()
		f.marks.Begin(w.o.SizeMax)
		file, err := w.fsys.Create(join(w.o.Dir, f.info.Name))
		if err != nil {
			return fmt.Errorf("warc: %w", err)
		}
		f.f = file
		w.spare = f
	}
	f := w.spare
	w.encoder.Reset()
	r := Record{Type: Warcinfo, Date: time.Now(), Filename: f.info.Final(), Block: [][]byte{w.info}}
	if err := w.encoder.Append(&r); err != nil {
		return err
	}
	info := w.encoder.Group().Bytes()
	begin := info
	if front := w.encoder.packer.Front(); len(front) > 0 {
		begin = slices.Concat(front, info)
	}
	if err := f.append(&member.Output{Tail: begin}); err != nil {
		return err
	}
	f.id, f.infoSize = r.ID, f.size
	w.stats.count(Warcinfo, w.encoder.packer.Member(0))
	f.facts.records[Warcinfo]++
	w.stats.Bytes += int64(len(begin) - len(info))
	w.stats.Files++
	w.next++
	if w.current != nil {
		w.full = append(slices.Clone(w.full), w.current)
	}
	w.current, w.spare = f, nil
	w.id.Store(&r.ID)
	return nil
}

// Finish gives full files their final names, for a Writer with FinishLater. It also rebuilds the index of a resumed
// file, which takes time because the whole file is read. Append and Sync continue meanwhile. After an error it may be
// called again and continues.
func (w *Writer) Finish() error {
	w.acquire()
	full, current := w.full, w.current
	w.release()
	if current != nil {
		if err := current.recall(); err != nil {
			return err
		}
	}
	return w.finishFull(full)
}

// finishFull gives full files their final names, outside the lock. Several callers may run it at the same time.
func (w *Writer) finishFull(full []*outFile) error {
	var faults []error
	for _, f := range full {
		err := f.finish()
		w.acquire()
		switch i := slices.Index(w.full, f); {
		case errors.Is(err, ErrLost):
			w.fail(err)
		case err == nil && i >= 0:
			w.full = slices.Delete(slices.Clone(w.full), i, i+1)
			w.stats.Finished++
		}
		w.release()
		if err != nil {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

// fail makes all later calls of the Writer fail.
func (w *Writer) fail(err error) {
	if w.lost == nil {
		w.lost = err
	}
}

// Sync makes every group durable whose Append returned before Sync was called. Append continues meanwhile. An error is
// ErrLost, and stays.
func (w *Writer) Sync() error {
	w.acquire()
	lost, files := w.lost, slices.Clone(w.full)
	if w.current != nil {
		files = append(files, w.current)
	}
	ends := make([]fileEnd, len(files))
	for i, f := range files {
		ends[i] = endOf(w, f)
	}
	if len(files) > 0 {
		w.stats.Syncs++
	}
	w.release()
	if lost != nil {
		return lost
	}
	for i, f := range files {
		if err := f.sync(ends[i]); err != nil {
			w.acquire()
			w.fail(err)
			w.release()
			return err
		}
	}
	return nil
}

// endOf returns the end of a file, for Sync. The lock is held.
func endOf(w *Writer, f *outFile) fileEnd {
	end := fileEnd{wrote: f.wrote, size: f.size, lasting: f.size}
	if f != w.current {
		return end // its index is on the disk soon, and then leaves the memory without the lock
	}
	end.count, end.records = f.index.Len(), f.facts.records
	if w.last.end == w.cutHeld() { // Undo can remove the rest
		end.lasting, end.count, end.records = w.last.offset, w.last.lines, w.last.kinds
	}
	if end.isMarkDue = f.marks.IsDue(end.lasting); end.isMarkDue {
		end.lines = f.index.Snapshot()
	}
	return end
}

// Checkpoint returns the current end of the archive.
func (w *Writer) Checkpoint() Checkpoint {
	w.acquire()
	defer w.release()
	return w.cutHeld()
}

func (w *Writer) cutHeld() Checkpoint {
	if w.current == nil {
		return w.end
	}
	return Checkpoint{Serial: w.current.info.Serial, Length: w.current.size}
}

// Stats returns the current counts.
func (w *Writer) Stats() Stats {
	w.acquire()
	defer w.release()
	s := w.stats
	s.Unfinished = len(w.full)
	if w.current != nil {
		s.IndexMemory = w.current.index.Memory()
	}
	return s
}

// Close finishes all files: sync data, write and sync the index, rename, sync the directory. After an error it may be
// called again and continues. Checkpoint and Stats can be used afterwards; Append fails.
func (w *Writer) Close() error {
	w.acquire()
	w.closed = true
	lost := w.lost
	var fault error
	if w.current != nil {
		if fault = w.current.clean(); fault == nil {
			w.end = w.cutHeld()
			w.full = append(slices.Clone(w.full), w.current)
			w.current = nil
		}
	}
	if s := w.spare; s != nil {
		fault = errors.Join(fault, s.f.Close(), vfs.RemoveIfExists(w.fsys, join(w.o.Dir, s.info.Name)))
		w.spare = nil
	}
	full := w.full
	w.release()
	if lost != nil {
		return errors.Join(lost, abandonFiles(full))
	}
	return errors.Join(fault, w.finishFull(full))
}

// Abandon closes all files without syncing or renaming them, as a kill would leave them for OpenWriter. After Close it
// does nothing.
func (w *Writer) Abandon() error {
	w.acquire()
	w.closed = true
	files := w.full
	for _, f := range []*outFile{w.current, w.spare} {
		if f != nil {
			files = append(slices.Clone(files), f)
		}
	}
	if w.current != nil {
		w.end = w.cutHeld()
	}
	w.current, w.spare, w.full = nil, nil, nil
	w.release()
	return abandonFiles(files)
}
