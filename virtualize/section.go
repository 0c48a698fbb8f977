package virtualize

import "encoding/binary"

const (
	indexMagic  = "orbwvi2\n"
	sectionHead = 80 // bytes, the magic included
	sectionTail = 8  // the checksum
	fileFew     = 64 << 10
)

// The kinds of records in a section.
const (
	recordSegment = 'S'
	recordMove    = 'R'
	recordDeleted = 'D'
	recordQueue   = 'Q'
	recordEnd     = 'E'
)

// indexFile is the file to which snapshots append their sections.
type indexFile struct {
	base       uint64 // generation of the first section; 0 if there is no file
	baseLength uint64
	length     uint64
	sum        uint64 // of the last section
}

// wantsBase reports whether the sections after the first one are as long as the first. A new file then costs no more
// than what was written since.
func (f *indexFile) wantsBase() bool {
	return f.base == 0 || f.length-f.baseLength >= max(f.baseLength, fileFew)
}

// header is the first part of a section.
type header struct {
	generation, base, before, next, active, ordinal, items, queues, leaky uint64
}

func (h *header) fields() []*uint64 {
	return []*uint64{&h.generation, &h.base, &h.before, &h.next, &h.active, &h.ordinal, &h.items, &h.queues, &h.leaky}
}

// appendHead completes the header and appends it and the current segments.
func (q *queues) appendHead(dst []byte, h header) []byte {
	l := &q.log.segments
	h.next, h.ordinal = uint64(len(l.byNumber)), q.log.ordinal
	if l.active != nil && l.active.live > 0 {
		h.active = uint64(l.active.number)
	}
	if l.leaky {
		h.leaky = 1
	}
	dst = append(dst, indexMagic...)
	for _, field := range h.fields() {
		dst = binary.LittleEndian.AppendUint64(dst, *field)
	}
	return l.appendRecords(dst)
}

func appendAddress(dst []byte, a address) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(dst, uint64(a.segment())), uint64(a.slot()))
}

func appendMove(dst []byte, born, now address) []byte {
	return appendAddress(appendAddress(append(dst, recordMove), born), now)
}
