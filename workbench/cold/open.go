package cold

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"orbweaver/internal/vfs"
)

// Open opens the store in o.Dir. If cut is nil, the store is new and empty, and old files are removed. Otherwise Open
// restores exactly this checkpoint and removes everything after it. The checkpoint must be the last one that was
// released, or a later one. Open reads the whole log. An error that wraps vfs.ErrCorrupt means that the files do not
// match the checkpoint.
func Open(fsys vfs.FS, o Options, cut *Checkpoint) (*Store, error) {
	o = o.WithDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	s := &Store{
		fs: fsys, o: o, head: Position{1, segmentHead}, tail: Position{1, 0},
		files: make(map[uint32]vfs.File), dirty: make(map[uint32]bool),
	}
	if err := fsys.MkdirAll(o.Dir); err != nil {
		return nil, fmt.Errorf("cold: open: %w", err)
	}
	if cut != nil {
		if err := cut.validate(); err != nil {
			return nil, err
		}
		s.head, s.tail = cut.Head, cut.Tail
	}
	err := s.removeOutside(cut)
	if err == nil && cut != nil {
		err = s.restore(cut)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// removeOutside deletes the files that do not belong to the checkpoint; all files if it is nil.
func (s *Store) removeOutside(cut *Checkpoint) error {
	names, err := s.fs.List(s.o.Dir)
	if err != nil {
		return fmt.Errorf("cold: open: %w", err)
	}
	for _, base := range names {
		segment, ok := segmentOf(base)
		if !ok || cut != nil && segment >= cut.Head.Segment && segment <= s.lastFile() {
			continue
		}
		if err := vfs.RemoveIfExists(s.fs, s.name(segment)); err != nil {
			return fmt.Errorf("cold: open: %w", err)
		}
	}
	return nil
}

// lastFile returns the number of the newest file with content. The result is less than the head's number if there is
// none.
func (s *Store) lastFile() uint32 {
	if s.tail.Offset == 0 {
		return s.tail.Segment - 1
	}
	return s.tail.Segment
}

// restore opens the files of a checkpoint, truncates the last one at the tail, and reads them.
func (s *Store) restore(cut *Checkpoint) error {
	for segment := s.head.Segment; segment <= s.lastFile(); segment++ {
		if _, err := s.fs.Size(s.name(segment)); errors.Is(err, fs.ErrNotExist) {
			return s.corrupt(Position{segment, 0}, "the file is missing")
		}
		f, err := s.fs.OpenRW(s.name(segment))
		if err != nil {
			return fmt.Errorf("cold: open: %w", err)
		}
		s.files[segment] = f
	}
	if f := s.files[s.tail.Segment]; f != nil {
		size, err := f.Size()
		if err == nil && size > s.tail.Offset {
			err = f.Truncate(s.tail.Offset)
		}
		if err != nil {
			return fmt.Errorf("cold: open: %w", err)
		}
		if size < s.tail.Offset {
			return s.corrupt(s.tail, fmt.Sprintf("the file ends at %d", size))
		}
	}
	err := s.walk(func(p Position, r *record) error { return s.apply(p, r) })
	if err != nil {
		return err
	}
	if uint64(s.table.used) != cut.Hosts || s.sum != cut.Sum {
		return s.corrupt(
			s.tail,
			fmt.Sprintf(
				"%d hosts with the sum %016x, want %d with %016x",
				s.table.used,
				s.sum,
				cut.Hosts,
				cut.Sum,
			),
		)
	}
	return nil
}

// apply applies a record. After all records, the store has the hosts of the checkpoint (H3).
func (s *Store) apply(p Position, r *record) error {
	s.log += r.size
	if r.kind == kindHost {
		s.addHost(s.hash(r.key), p, r.size)
		return nil
	}
	g := r.removal
	if g.at.before(s.head) {
		return nil
	}
	if !g.at.before(p) || g.at.Offset >= segmentBytesMax || !s.removeHost(g.hash, g.at, g.size) {
		return s.corrupt(
			p,
			fmt.Sprintf("removal of a host at byte %d of file %d, which has none", g.at.Offset, g.at.Segment),
		)
	}
	return nil
}

// walk reads all records from head to tail. All of them must be in files.
func (s *Store) walk(visit func(p Position, r *record) error) error {
	for segment := s.head.Segment; segment <= s.lastFile(); segment++ {
		f := s.files[segment]
		end, err := f.Size()
		if err != nil {
			return fmt.Errorf("cold: read: %w", err)
		}
		if segment == s.tail.Segment {
			end = s.tail.Offset
		}
		head, err := s.readFile(f, Position{segment, 0}, segmentHead)
		if err != nil {
			return err
		}
		if fault := faultOfHead(head, segment); fault != "" {
			return s.corrupt(Position{segment, 0}, fault)
		}
		from := int64(segmentHead)
		if segment == s.head.Segment {
			from = s.head.Offset
		}
		l := logReader{s: s, f: f, p: Position{segment, from}, end: end}
		for l.p.Offset < end {
			p := l.p
			r, err := l.next()
			if err != nil {
				return err
			}
			if p.Offset >= segmentBytesMax {
				return s.corrupt(p, "the offset of a record is too large")
			}
			if err := visit(p, &r); err != nil {
				return err
			}
		}
	}
	return nil
}

// logReader reads the records of a file in order.
type logReader struct {
	s   *Store
	f   vfs.File
	p   Position // of the next record
	end int64    // of the file

	block []byte // the bytes read last
	at    int    // position in block
}

const readBlock = 256 << 10

// next returns the next record. It is valid until the next call.
func (l *logReader) next() (record, error) {
	r, fault := parseRecord(l.block[l.at:], l.p)
	if fault != "" { // the record may continue after the block
		need := int64(readBlock)
		if size, fault := sizeInHead(l.block[l.at:]); fault == "" {
			need = max(need, size)
		}
		if err := l.fill(need); err != nil {
			return r, err
		}
		if size, fault := sizeInHead(l.block); fault == "" && size > int64(len(l.block)) && size > need {
			if err := l.fill(size); err != nil {
				return r, err
			}
		}
		if r, fault = parseRecord(l.block, l.p); fault != "" {
			return r, l.s.corrupt(l.p, fault)
		}
	}
	l.at += int(r.size)
	l.p.Offset += r.size
	return r, nil
}

// fill reads n bytes from the next record on, fewer at the end.
func (l *logReader) fill(n int64) error {
	n = min(n, l.end-l.p.Offset)
	if int64(cap(l.block)) < n {
		l.block = make([]byte, n)
	}
	l.block, l.at = l.block[:n], 0
	got, err := l.f.ReadAt(l.block, l.p.Offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("cold: read: %w", err)
	}
	l.block = l.block[:got]
	return nil
}
