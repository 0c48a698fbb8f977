package virtualize

import (
	"encoding/binary"
	"errors"
	"fmt"

	"orbweaver/internal/vfs"
)

// segmentList holds the segments of the log. Every address that a queue or a block refers to leads to one block. A
// segment with live blocks is never deleted.
type segmentList struct {
	fsys vfs.FS
	dir  string
	size int64 // bytes of a new segment

	byNumber []*segment // nil where there is none
	active   *segment   // the segment to write to; nil before the first write
	moved    relocations
	leaky    bool // a damaged queue was dropped: segments may count too many live bytes

	deleted      int64 // segments, since Open
	fullFailures int64 // writes refused by a full disk, since Open
}

func newSegmentList(fsys vfs.FS, o Options) segmentList {
	return segmentList{
		fsys: fsys, dir: o.Dir, size: o.SegmentBytes,
		byNumber: make([]*segment, 1), // There is no segment 0, so that no block has address 0.
	}
}

// locate returns the current segment and slot of a block, or nil if there is none.
func (l *segmentList) locate(a address) (*segment, uint32) {
	if int(a.segment()) >= len(l.byNumber) {
		return nil, 0
	}
	s := l.byNumber[a.segment()]
	if s == nil || s.moved > 0 {
		if to, ok := l.moved.get(a); ok {
			// The segments in the table exist, because a segment with live blocks is never deleted.
			return l.byNumber[to.segment()], to.slot()
		}
	}
	return s, a.slot()
}

// exists reports whether a segment has this slot.
func (l *segmentList) exists(a address) bool {
	if int(a.segment()) >= len(l.byNumber) {
		return false
	}
	s := l.byNumber[a.segment()]
	return s != nil && a.slot() < s.slots
}

// relocate stores the current address of a block, or removes it if that is 0.
func (l *segmentList) relocate(born, now address) {
	delta := l.moved.change(born, now)
	if s := l.byNumber[born.segment()]; s != nil {
		s.moved += uint32(delta) // the block was created here
	}
}

// kill stops counting a block as live after its last item was taken. It does not use the mapping, so it cannot fail.
func (l *segmentList) kill(b spent) {
	b.segment.live -= b.cost
	l.relocate(b.at, 0)
}

// diskBytes returns the bytes of all segments.
func (l *segmentList) diskBytes() (bytes int64) {
	for _, s := range l.byNumber {
		if s != nil {
			bytes += int64(len(s.data))
		}
	}
	return bytes
}

// nextNumber returns the number of the next new segment.
func (l *segmentList) nextNumber() uint32 { return uint32(len(l.byNumber)) }

// create creates a segment with these codes and makes it the active one.
func (l *segmentList) create(c *codes) (*segment, error) {
	s, err := createSegment(l.fsys, l.dir, l.nextNumber(), l.size, c)
	if err != nil {
		if vfs.IsFull(err) {
			l.fullFailures++
		}
		return nil, err
	}
	l.byNumber = append(l.byNumber, s)
	l.active = s
	return s, nil
}

// open opens the segments of an index file.
func (l *segmentList) open(h *header, named []namedSegment, book *codebook) error {
	l.byNumber = make([]*segment, h.next)
	for _, d := range named {
		if err := l.openNamed(h, d, book); err != nil {
			return err
		}
	}
	if h.active != 0 {
		if h.active >= h.next || l.byNumber[h.active] == nil {
			return corrupt("index %d: no active segment %d", h.base, h.active)
		}
		l.active = l.byNumber[h.active]
	}
	return l.countMoved(h.base)
}

func (l *segmentList) openNamed(h *header, d namedSegment, book *codebook) error {
	switch {
	case d.number == 0 || d.number >= h.next || l.byNumber[d.number] != nil,
		d.size < segmentHead || d.size > 1<<30,
		d.slots > d.size || d.dataEnd < segmentHead || d.dataEnd > d.size || d.dataEnd+d.slots*slotBytes > d.size,
		d.live == 0 || d.live > d.dataEnd-segmentHead+d.slots*slotBytes:
		return corrupt("index %d: impossible segment %d", h.base, d.number)
	}
	s, err := openSegment(l.fsys, l.dir, uint32(d.number), int64(d.size))
	if err != nil {
		return err
	}
	l.byNumber[d.number] = s
	s.slots, s.dataEnd, s.live, s.named = uint32(d.slots), uint32(d.dataEnd), int64(d.live), h.generation
	m, err := s.readModel()
	if err != nil {
		return err
	}
	if s.codes = book.of(m); s.codes == nil {
		return corrupt("segment %d: its model is none", d.number)
	}
	return nil
}

// countMoved verifies the relocation table and counts the moved blocks of each segment.
func (l *segmentList) countMoved(base uint64) error {
	for _, table := range l.moved.tables {
		for born, now := range table {
			if born.segment() == 0 || int(born.segment()) >= len(l.byNumber) || !l.exists(now) {
				return corrupt("index %d: impossible relocation of %v to %v", base, born, now)
			}
			if s := l.byNumber[born.segment()]; s != nil {
				s.moved++
			}
		}
	}
	return nil
}

// nameLive records that a checkpoint of this generation names the live segments. It passes the segments that changed
// since the last snapshot to changed.
func (l *segmentList) nameLive(generation uint64, changed func(*segment)) {
	for _, s := range l.byNumber {
		if s == nil {
			continue
		}
		if s.live > 0 {
			s.named = generation
		}
		if s.dirty {
			changed(s)
			s.dirty = false
		}
	}
}

// appendRecords appends the record of each segment with live bytes.
func (l *segmentList) appendRecords(dst []byte) []byte {
	for _, s := range l.byNumber {
		if s == nil || s.live <= 0 {
			continue
		}
		dst = append(dst, recordSegment)
		d := namedSegment{uint64(s.number), uint64(len(s.data)), uint64(s.slots), uint64(s.dataEnd), uint64(s.live)}
		for _, n := range [...]uint64{d.number, d.size, d.slots, d.dataEnd, d.live} {
			dst = binary.AppendUvarint(dst, n)
		}
	}
	return dst
}

// takeDead removes the segments that neither a queue nor a checkpoint from released on needs, and returns them. The
// caller must close them and remove their files.
func (l *segmentList) takeDead(released uint64) (dead []*segment) {
	for _, s := range l.byNumber {
		if s != nil && s != l.active && s.live <= 0 && s.named < max(1, released) && s.syncing == 0 {
			l.byNumber[s.number] = nil
			l.deleted++
			dead = append(dead, s)
		}
	}
	return dead
}

// removeFile closes a segment of takeDead and removes its file. It uses nothing that the lock guards.
func (l *segmentList) removeFile(s *segment) error {
	err := errors.Join(s.close(), vfs.RemoveIfExists(l.fsys, segmentName(l.dir, s.number)))
	if err != nil {
		// No checkpoint names a file that could not be removed, so the next Open removes it.
		return fmt.Errorf("virtualize: delete segment %d: %w", s.number, err)
	}
	return nil
}

// fault returns the error of a panic that was a fault of a mapping, and nil for any other.
func (l *segmentList) fault(cause any, to access) error {
	for _, s := range l.byNumber {
		if s == nil {
			continue
		}
		if err := s.faultOf(cause, to); err != nil {
			if vfs.IsFull(err) {
				l.fullFailures++
			}
			return err
		}
	}
	return nil
}

// addStats adds sizes and counters.
func (l *segmentList) addStats(c *Stats) {
	c.Moved = int64(l.moved.count)
	c.SegmentsDeleted = l.deleted
	c.FullFailures += l.fullFailures
	for _, s := range l.byNumber {
		if s != nil {
			c.Live += max(s.live, 0)
			c.Used += s.used()
			c.Disk += int64(len(s.data))
			c.Segments++
		}
	}
	c.Memory += l.moved.bytes()
}

// close unmaps all segments.
func (l *segmentList) close() error {
	var errs []error
	for _, s := range l.byNumber {
		if s != nil {
			errs = append(errs, s.close())
		}
	}
	l.byNumber, l.active = nil, nil
	return errors.Join(errs...)
}
