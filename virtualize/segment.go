package virtualize

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime/debug"

	"orbweaver/internal/vfs"
)

// segment is one mapped file of the log: payloads grow from the front, slots from the end.
type segment struct {
	number uint32
	mapped vfs.Mapping // the file itself is closed, to save descriptors
	data   []byte      // the mapping
	codes  *codes      // of its payloads

	slots   uint32 // blocks
	dataEnd uint32 // position of the next payload
	live    int64  // bytes of live blocks, slots included
	moved   uint32 // number of blocks created here that are now elsewhere
	dirty   bool   // changed since the last snapshot
	bad     bool   // Collect found damage in it
	named   uint64 // generation of the last checkpoint that names it; 0 if none

	syncing int // number of running Syncs that use it
}

// createSegment creates a segment and allocates its space, so that a full disk is reported here. On a copy-on-write
// file system a later write to the mapping can also report it: see guard.
func createSegment(fsys vfs.FS, dir string, number uint32, size int64, c *codes) (*segment, error) {
	name := segmentName(dir, number)
	file, err := fsys.Create(name)
	if err != nil {
		return nil, fmt.Errorf("virtualize: new segment: %w", err)
	}
	if err := file.Allocate(0, size); err != nil {
		return nil, fmt.Errorf("virtualize: new segment: %w",
			errors.Join(err, file.Close(), vfs.RemoveIfExists(fsys, name)))
	}
	s, err := mapSegment(file, number, size)
	if err != nil {
		return nil, errors.Join(err, vfs.RemoveIfExists(fsys, name))
	}
	if err := s.writeHead(c.model); err != nil {
		return nil, fmt.Errorf("virtualize: new segment: %w",
			errors.Join(err, s.close(), vfs.RemoveIfExists(fsys, name)))
	}
	s.dataEnd, s.dirty, s.codes = segmentHead, true, c
	return s, nil
}

// openSegment maps a segment of an index. It does not compute its codes.
func openSegment(fsys vfs.FS, dir string, number uint32, size int64) (*segment, error) {
	file, err := fsys.OpenRW(segmentName(dir, number))
	if err != nil {
		return nil, fmt.Errorf("virtualize: open: %w", err)
	}
	if got, err := file.Size(); err != nil || got != size {
		return nil, errors.Join(corrupt("segment %d has %d bytes, want %d", number, got, size), err, file.Close())
	}
	s, err := mapSegment(file, number, size)
	if err != nil {
		return nil, err
	}
	if err := s.checkHead(); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *segment) writeHead(m *model) (err error) {
	defer s.guard(writing, debug.SetPanicOnFault(true), &err)
	putSegmentHead(s.data, s.number, m)
	return nil
}

func (s *segment) checkHead() (err error) {
	defer s.guard(reading, debug.SetPanicOnFault(true), &err)
	return checkSegmentHead(s.data, s.number)
}

func (s *segment) readModel() (m *model, err error) {
	defer s.guard(reading, debug.SetPanicOnFault(true), &err)
	return parseModel(s.data[headModel:]), nil
}

// mapSegment maps a segment and closes the file, also after an error.
func mapSegment(file vfs.File, number uint32, size int64) (*segment, error) {
	mapped, err := file.Map(size)
	if err = errors.Join(err, file.Close()); err != nil {
		if mapped != nil {
			err = errors.Join(err, mapped.Close())
		}
		return nil, fmt.Errorf("virtualize: map: %w", err)
	}
	return &segment{number: number, mapped: mapped, data: mapped.Bytes()}, nil
}

func (s *segment) close() error {
	s.data = nil
	return s.mapped.Close()
}

// slotAt returns the bytes of a slot that exists or is the next one. They are part of the mapping.
func (s *segment) slotAt(i uint32) []byte {
	end := len(s.data) - int(i)*slotBytes
	return s.data[end-slotBytes : end : end]
}

// room returns the number of payload bytes that another block could have; negative if not even its slot fits.
func (s *segment) room() int {
	return len(s.data) - int(s.slots+1)*slotBytes - int(s.dataEnd)
}

// body returns a slot and the bytes of its block, including an original address. The checksum is not verified. The
// bytes are part of the mapping.
func (s *segment) body(i uint32) (sl slot, next address, body []byte, err error) {
	if i >= s.slots {
		return slot{}, 0, nil, corrupt("segment %d has no slot %d", s.number, i)
	}
	sl, next = parseSlot(s.slotAt(i))
	end := s.dataEnd
	if i+1 < s.slots {
		end = binary.LittleEndian.Uint32(s.slotAt(i + 1)[24:]) &^ movedFlag
	}
	if sl.offset < segmentHead || sl.offset >= end || end > s.dataEnd || sl.items == 0 ||
		(sl.moved && end-sl.offset < 8) {
		return slot{}, 0, nil, corrupt("segment %d slot %d: %d items from %d to %d", s.number, i, sl.items, sl.offset,
			end)
	}
	return sl, next, s.data[sl.offset:end:end], nil
}

// cost returns the bytes that a block needs in its segment.
func cost(body []byte) int64 { return slotBytes + int64(len(body)) }

// used returns the number of bytes of all blocks, live or dead.
func (s *segment) used() int64 { return int64(s.slots)*slotBytes + int64(s.dataEnd) - segmentHead }

func (s *segment) setNext(i uint32, next address) {
	binary.LittleEndian.PutUint64(s.slotAt(i)[16:], uint64(next))
	s.dirty = true
}

// place writes a block after the last one: its body, then its slot. It changes only free space of the mapping, so the
// segment is unchanged until seal. born is the original address of a moved block. There must be enough space.
func (s *segment) place(sl slot, born, next address, payload []byte) (end uint32) {
	sl.offset, end = s.dataEnd, s.dataEnd
	if sl.moved {
		binary.LittleEndian.PutUint64(s.data[end:], uint64(born))
		end += 8
	}
	end += uint32(copy(s.data[end:], payload))
	sl.sum = sl.checksum(s.data[sl.offset:end])
	sl.put(s.slotAt(s.slots), next)
	return end
}

// seal makes the placed block a part of the segment. It does not use the mapping, so it cannot fail.
func (s *segment) seal(end uint32) {
	s.live += slotBytes + int64(end-s.dataEnd)
	s.slots++
	s.dataEnd = end
	s.dirty = true
}

// nextAddress returns the address of the next sealed block.
func (s *segment) nextAddress() address { return makeAddress(s.number, s.slots) }
