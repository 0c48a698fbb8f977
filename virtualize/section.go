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

// appendHead appends the header and the current segments.
func (v *Virtualizer) appendHead(dst []byte, im *Snapshot) []byte {
	h := header{
		generation: im.generation, base: v.file.base, before: v.file.sum, next: uint64(len(v.segments)),
		ordinal: v.ordinal, items: im.items, queues: im.queues,
	}
	if im.base {
		h.base, h.before = im.generation, 0
	}
	if v.active != nil && v.active.live > 0 {
		h.active = uint64(v.active.number)
	}
	if v.leaky {
		h.leaky = 1
	}
	dst = append(dst, indexMagic...)
	for _, field := range h.fields() {
		dst = binary.LittleEndian.AppendUint64(dst, *field)
	}
	for _, s := range v.segments {
		if s != nil && s.live > 0 {
			dst = append(dst, recordSegment)
			for _, n := range []uint64{uint64(s.number), uint64(len(s.data)), uint64(s.slots), uint64(s.dataEnd), uint64(s.live)} {
				dst = binary.AppendUvarint(dst, n)
			}
		}
	}
	return dst
}

func appendAddress(dst []byte, a address) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(dst, uint64(a.segment())), uint64(a.slot()))
}

func appendMove(dst []byte, born, now address) []byte {
	return appendAddress(appendAddress(append(dst, recordMove), born), now)
}

// appendQueue appends the record of a queue, with its items in the buffer. A free entry has no record.
func (v *Virtualizer) appendQueue(dst []byte, e *entry) []byte {
	if e.items() == 0 {
		return dst
	}
	dst = binary.AppendUvarint(append(dst, recordQueue), e.key)
	dst = binary.AppendUvarint(dst, e.first)
	dst = appendAddress(appendAddress(dst, e.head), e.tail)
	dst = binary.AppendUvarint(dst, uint64(e.disk))
	dst = binary.AppendUvarint(dst, uint64(e.buffered))
	if e.buffered == 0 {
		return dst
	}
	v.pack.begin(v.first)
	for at := v.buf.oldest(e); v.pack.items < e.buffered; {
		var item []byte
		item, at = v.buf.record(at)
		v.pack.add(item)
	}
	payload := v.pack.payload()
	return append(binary.AppendUvarint(dst, uint64(len(payload))), payload...)
}
