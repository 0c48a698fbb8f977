package warc

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"orbweaver/internal/vfs"
)

// Position is a place in the archive.
type Position struct {
	// Serial is the file's number.
	Serial uint32 `json:"serial"`
	// Offset of the first byte in the file, and Length in the file, in bytes.
	Offset int64 `json:"offset"`
	Length int64 `json:"length"`
}

// End is the Cut right behind the position.
func (p Position) End() Cut { return Cut{Serial: p.Serial, Length: p.Offset + p.Length} }

// Cut is an end of the archive: everything before it counts, nothing behind it does. The zero Cut is an empty archive.
type Cut struct {
	// Serial of the last file, and its Length in bytes.
	Serial uint32 `json:"serial"`
	Length int64  `json:"length"`
}

// Before tells whether c is an earlier end than d.
func (c Cut) Before(d Cut) bool {
	return c.Serial < d.Serial || c.Serial == d.Serial && c.Length < d.Length
}

// Stats counts what a Writer has done since it was opened.
type Stats struct {
	Files       uint64            // begun
	Finished    uint64            // brought to their final names
	Unfinished  int               // full, but not yet brought to their final names
	Groups      uint64            // appended
	Bytes       int64             // appended, as stored; with the warcinfo records
	BytesRaw    int64             // the same before compression
	Records     [typeCount]uint64 // appended, by Type
	Syncs       uint64            // calls of Sync that had something to do
	Failures    uint64            // appends that failed; each was undone
	Resumed     bool              // whether it went on from a Cut
	CutBytes    int64             // cut off behind the Cut when it was opened
	CutFiles    int               // removed behind the Cut when it was opened
	IndexMemory int64             // bytes held for the index of the open file
}

// Writer appends groups of records to the files of one archive. It is safe for concurrent use, and starts no goroutine.
type Writer struct {
	fsys vfs.FS
	o    Options
	info []byte
	id   atomic.Pointer[ID] // of the open file's warcinfo record

	// lock guards what follows; it is held while its one slot is full. A channel, since a holder may wait for the disk.
	lock    chan struct{}
	encoder *Encoder // for warcinfo records
	current *outFile // nil before the first group and after Close
	spare   *outFile // made, but its warcinfo record could not be written yet
	full    []*outFile
	end     Cut // without current: where the archive ends
	next    uint32
	closed  bool
	lost    error
	last    undoable
	stats   Stats

	together []byte // several groups on their way into one write
}

// undoable is what was written last, as Undo needs it.
type undoable struct {
	end    Cut // behind it; the zero Cut if there is nothing to undo
	offset int64
	lines  int // of the index, before it
	stats  Stats
}

// OpenWriter opens the archive in o.Dir for writing. A nil resume starts a new one and fails with ErrResume if there are files
// already. Otherwise the archive is brought back to end at the Cut: files behind it are removed, the one it
// names is cut to its length, files before it that were still open are finished. A Cut that lies
// beyond what is there is ErrResume. The first file is made by the first Append.
func OpenWriter(fsys vfs.FS, o Options, resume *Cut) (*Writer, error) {
	o = o.WithDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	e, err := NewEncoder(EncoderOptions{Compression: o.Compression, Level: o.Level, Dictionary: o.Dictionary})
	if err != nil {
		return nil, err
	}
	w := &Writer{fsys: fsys, o: o, info: infoBlock(o.Info), encoder: e, lock: make(chan struct{}, 1)}
	if err := fsys.MkdirAll(o.Dir); err != nil {
		return nil, fmt.Errorf("warc: %w", err)
	}
	if err := w.resume(resume); err != nil {
		return nil, err
	}
	return w, nil
}

func (w *Writer) acquire() { w.lock <- struct{}{} }
func (w *Writer) release() { <-w.lock }

// Append writes a group behind all others, with one write, and borrows it. The Position is the whole group's. Before a
// group that would make the file too long the next file is begun.
//
// After an error nothing of the group is in the archive, and unless the error is ErrClosed, ErrLost or ErrRecord the
// same call may be made again later: a full disk heals that way.
func (w *Writer) Append(g Group) (Position, error) {
	if err := w.Ready(g); err != nil {
		return Position{}, err
	}
	one := [1]Group{g}
	_, pos, err := w.AppendAll(one[:])
	return pos, err
}

// Ready says what is wrong with a group, and does for it what needs no lock. Append calls it; for groups that go to AppendAll
// each one's owner does.
func (w *Writer) Ready(g Group) error {
	if g.Len() == 0 {
		return fmt.Errorf("%w: empty group", ErrRecord)
	}
	if g.e.broken != nil {
		return g.e.broken
	}
	if g.e.p.compression != w.o.Compression {
		return fmt.Errorf("%w: group is %s, archive is %s", ErrRecord, g.e.p.compression, w.o.Compression)
	}
	if w.encoder.p.dictionary() != g.e.p.dictionary() {
		return fmt.Errorf("%w: group and archive have different dictionaries", ErrRecord)
	}
	if id := w.id.Load(); id != nil { // most of the time the file stays the same
		g.stamp(*id)
	}
	return nil
}

// AppendAll is Append for several groups, which must be Ready, with one write for as many of them as belong into the same file and
// are not too long together. Those are the first n, at least one, and they stand one behind the other in the span. An error is
// about those n too: none of them is in the archive.
func (w *Writer) AppendAll(groups []Group) (n int, span Position, err error) {
	w.acquire()
	n, span, err = w.appendHeld(groups)
	full := w.full
	if err != nil {
		w.stats.Failures++
	}
	w.release()
	if err == nil && len(full) > 0 && !w.o.FinishLater {
		// The groups are safe; a file that cannot be finished now is counted and tried again at the next occasion, at the latest by Close.
		_ = w.finishFull(full)
	}
	return n, span, err
}

// writeMost is how many bytes of several groups go into one write: what they are gathered in.
const writeMost = 256 << 10

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
	b := w.gather(groups, c.size)
	span = Position{Serial: c.info.Serial, Offset: c.size, Length: int64(len(b))}
	w.last = undoable{end: span.End(), offset: c.size, lines: len(c.index.lines), stats: w.stats}
	err = c.append(b)
	for at := span.Offset; at < span.End().Length; n++ {
		if err == nil {
			w.note(groups[n], at)
		}
		at += groups[n].Size()
	}
	return n, span, err
}

// gather gives the bytes of the first groups, as many as go into one write at this place of the current file.
func (w *Writer) gather(groups []Group, at int64) []byte {
	groups[0].stamp(w.current.id)
	b := groups[0].e.p.out.b
	for i, g := range groups[1:] {
		size := int64(len(b)) + g.Size()
		if size > writeMost || at+size > w.o.SizeMax {
			break
		}
		if i == 0 {
			w.together = append(w.together[:0], b...)
		}
		g.stamp(w.current.id)
		w.together = append(w.together, g.e.p.out.b...)
		b = w.together
	}
	return b
}

// note keeps the index lines of a group that was written at this place, and counts it.
func (w *Writer) note(g Group, at int64) {
	from := 0
	for i := range g.e.members {
		m := &g.e.members[i]
		if m.indexEnd > from {
			w.current.index.add(g.e.index[from:m.indexEnd], at+int64(m.start), int64(m.end-m.start))
			from = m.indexEnd
		}
		w.count(m)
	}
	w.stats.Groups++
}

// Undo takes back what the last Append or AppendAll wrote, at pos, before anything else was appended: for a caller who notes each
// group elsewhere and could not. What it left in the file is cut off now, or at the latest before the next group is written.
func (w *Writer) Undo(pos Position) {
	w.acquire()
	defer w.release()
	c := w.current
	if c == nil || w.last.end != pos.End() || w.cutHeld() != pos.End() {
		panic("BUG: warc: Undo of a group that is not the last one")
	}
	c.size, c.dirty = w.last.offset, true
	c.index.cut(w.last.lines)
	w.stats.Records, w.stats.Groups = w.last.stats.Records, w.last.stats.Groups
	w.stats.Bytes, w.stats.BytesRaw = w.last.stats.Bytes, w.last.stats.BytesRaw
	w.last = undoable{}
	_ = c.clean() // it stays dirty, and the next append, sync or finish tries again and says why it cannot
}

// count adds one written record to the statistics.
func (w *Writer) count(m *member) {
	w.stats.Records[m.kind]++
	w.stats.Bytes += int64(m.end - m.start)
	w.stats.BytesRaw += m.raw
}

// rotate begins the next file; the one so far, if any, waits to be finished. After an error all is as before.
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
		})
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
	begin := w.encoder.p.out.b
	if l := w.encoder.p.late; l != nil {
		w.encoder.Group().stamp(r.ID)
		begin = slices.Concat(l.frame, w.encoder.p.out.b)
	}
	if err := f.append(begin); err != nil {
		return err
	}
	f.id, f.infoSize = r.ID, f.size
	w.count(&w.encoder.members[0])
	w.stats.Bytes += int64(len(begin) - len(w.encoder.p.out.b))
	w.stats.Files++
	w.next++
	if w.current != nil {
		w.full = append(slices.Clone(w.full), w.current)
	}
	w.current, w.spare = f, nil
	w.id.Store(&r.ID)
	return nil
}

// Finish brings full files to their final names, for a Writer with FinishLater, and makes the index anew of the file with which it
// went on from a Cut, which may take a while: all of it is read. Appends and Sync go on meanwhile. After an error it may be called
// again and goes on where it stopped.
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

// finishFull brings full files to their final names, outside the lock. Several callers may do so at once.
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

// fail makes the Writer refuse everything from now on.
func (w *Writer) fail(err error) {
	if w.lost == nil {
		w.lost = err
	}
}

// Sync makes every group durable whose Append returned before Sync was called. Appends go on meanwhile. An error is ErrLost,
// and stays.
func (w *Writer) Sync() error {
	w.acquire()
	lost, files := w.lost, slices.Clone(w.full)
	if w.current != nil {
		files = append(files, w.current)
	}
	wrote, size := make([]int64, len(files)), make([]int64, len(files))
	for i, f := range files {
		wrote[i], size[i] = f.wrote, f.size
	}
	if len(files) > 0 {
		w.stats.Syncs++
	}
	w.release()
	if lost != nil {
		return lost
	}
	for i, f := range files {
		if err := f.sync(wrote[i], size[i]); err != nil {
			w.acquire()
			w.fail(err)
			w.release()
			return err
		}
	}
	return nil
}

// Cut tells where the archive ends now.
func (w *Writer) Cut() Cut {
	w.acquire()
	defer w.release()
	return w.cutHeld()
}

func (w *Writer) cutHeld() Cut {
	if w.current == nil {
		return w.end
	}
	return Cut{Serial: w.current.info.Serial, Length: w.current.size}
}

// Stats returns the counts so far.
func (w *Writer) Stats() Stats {
	w.acquire()
	defer w.release()
	s := w.stats
	s.Unfinished = len(w.full)
	if w.current != nil {
		s.IndexMemory = w.current.index.memory()
	}
	return s
}

// Close finishes all files: data synced, index written and synced, final name, directory synced. After an error it may be
// called again and goes on where it stopped. Cut and Stats stay usable; no Append succeeds afterwards.
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
		return errors.Join(lost, w.abandon(full))
	}
	return errors.Join(fault, w.finishFull(full))
}

// Abandon closes all files as they are, without syncing them or giving them their final names: what a kill would leave, and
// OpenWriter finds. After Close it does nothing.
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
	return w.abandon(files)
}

// abandon closes the files of a Writer that has lost data, as they are.
func (w *Writer) abandon(full []*outFile) error {
	var faults []error
	for _, f := range full {
		faults = append(faults, f.abandon())
	}
	return errors.Join(faults...)
}
