package cold

import (
	"bytes"
	"slices"
)

// recordLog is the log of records: where it begins and ends, and the records that are not yet in a file. The lock of
// the Store guards it.
type recordLog struct {
	segmentBytes int64 // from which a new file begins

	head     Position // start of the valid records
	tail     Position // position of the next record; at offset 0 the file does not exist yet
	bytes    int64    // of all records from head to tail
	chunks   []*chunk // not yet written, in order
	buffered int      // bytes in chunks
}

// chunk is a piece of the log that is not yet written.
type chunk struct {
	from   Position
	b      []byte
	sealed bool // is being written, so nothing may be appended
}

// position decodes a position of the table. This is unique because the log has fewer than segmentsMax files.
func (l *recordLog) position(place uint64) Position {
	ahead := (uint32(place>>offsetBits) - l.head.Segment) % segmentsMax
	return Position{l.head.Segment + ahead, int64(place % (1 << offsetBits) * recordAlign)}
}

// filesBehindHead returns the number of files of the log without that of the head.
func (l *recordLog) filesBehindHead() uint32 { return l.tail.Segment - l.head.Segment }

// append adds a record at the tail, in memory.
func (l *recordLog) append(kind byte, key, rest []byte) (p Position, size int64) {
	if l.tail.Offset >= l.segmentBytes {
		if l.filesBehindHead() >= segmentsMax-2 {
			panic("BUG: cold: too many files in the log")
		}
		l.tail = Position{l.tail.Segment + 1, 0}
	}
	var c *chunk
	if n := len(l.chunks); n > 0 {
		c = l.chunks[n-1]
	}
	if c == nil || c.sealed || l.tail.Offset == 0 {
		c = &chunk{from: l.tail}
		l.chunks = append(l.chunks, c)
	}
	before := len(c.b)
	if l.tail.Offset == 0 {
		c.b = appendSegmentHead(c.b, l.tail.Segment)
		l.tail.Offset = segmentHead
	}
	p, size = l.tail, sizeOf(len(key)+len(rest))
	c.b = appendRecord(c.b, p, kind, key, rest)
	l.tail.Offset += size
	l.bytes += size
	l.buffered += len(c.b) - before
	return p, size
}

// seal returns the chunks to be written. Later records go into new ones.
func (l *recordLog) seal() []*chunk {
	for _, c := range l.chunks {
		c.sealed = true
	}
	return slices.Clone(l.chunks)
}

// removeFirst removes the first chunk, which is now in a file.
func (l *recordLog) removeFirst() {
	l.buffered -= len(l.chunks[0].b)
	l.chunks = l.chunks[1:]
}

// headComplete reports whether the first file is complete: it is not the last one, and no chunk belongs to it.
func (l *recordLog) headComplete() bool {
	return l.filesBehindHead() > 0 && (len(l.chunks) == 0 || l.chunks[0].from.Segment > l.head.Segment)
}

// skip moves the head past a record.
func (l *recordLog) skip(size int64) {
	l.head.Offset += size
	l.bytes -= size
}

// skipFile moves the head to the next file.
func (l *recordLog) skipFile() { l.head = Position{l.head.Segment + 1, segmentHead} }

// inMemory returns a copy of the record at p from the chunks, or nil if it is in none.
func (l *recordLog) inMemory(p Position) []byte {
	for _, c := range l.chunks {
		if c.from.Segment != p.Segment || p.Offset < c.from.Offset || p.Offset >= c.from.Offset+int64(len(c.b)) {
			continue
		}
		b := c.b[p.Offset-c.from.Offset:]
		size, fault := sizeInHead(b)
		if fault != "" || size > int64(len(b)) {
			panic("BUG: cold: invalid record in memory")
		}
		return bytes.Clone(b[:size])
	}
	return nil
}
