package sieve

import "slices"

const (
	chunkBytesMax = 256 << 10 // size of a read or write of the pending file
	chunkBytesMin = 256
)

// chunk is a sequence of records in the format of a frame: key, length of the payload as a uvarint, payload.
type chunk struct {
	buf     []byte
	records int
}

// chunkList holds the payloads of a bucket that are in memory, in order of arrival.
type chunkList struct {
	size   int // usual size of a chunk in bytes
	chunks []chunk
	// sealed: the last chunk is complete. It separates the payloads of a snapshot from later ones.
	sealed bool
	used   int64    // capacity of chunks in bytes
	free   [][]byte // buffers of the usual size for reuse
}

// fits reports whether the last chunk has space for a record of the given size.
func (l *chunkList) fits(bytes int) bool {
	at := len(l.chunks) - 1
	return at >= 0 && !l.sealed && cap(l.chunks[at].buf)-len(l.chunks[at].buf) >= bytes
}

// grow appends an empty chunk for at least the given number of bytes, with a reused buffer if that is large enough.
func (l *chunkList) grow(bytes int) {
	l.sealed = false
	var buf []byte
	switch last := len(l.free) - 1; {
	case bytes > l.size:
		buf = make([]byte, 0, bytes)
	case last >= 0:
		buf = l.free[last][:0]
		l.free[last] = nil // otherwise the list would keep the buffer alive
		l.free = l.free[:last]
	default:
		buf = make([]byte, 0, l.size)
	}
	l.used += int64(cap(buf))
	l.chunks = append(l.chunks, chunk{buf: buf})
}

// seal ends the last chunk.
func (l *chunkList) seal() { l.sealed = len(l.chunks) > 0 }

// complete reports whether no record will be added to the first chunk.
func (l *chunkList) complete() bool { return len(l.chunks) > 1 || len(l.chunks) == 1 && l.sealed }

// removeFirst removes the first chunk and returns the number of its records.
func (l *chunkList) removeFirst() int {
	c := l.chunks[0]
	l.chunks = slices.Delete(l.chunks, 0, 1)
	l.sealed = l.sealed && len(l.chunks) > 0
	l.recycle(c)
	return c.records
}

// recycle keeps the buffer of a chunk for reuse, unless it was made for a long payload.
func (l *chunkList) recycle(c chunk) {
	l.used -= int64(cap(c.buf))
	if cap(c.buf) == l.size {
		l.free = append(l.free, c.buf)
	}
}

// trim frees unused buffers until all buffers take at most the given number of bytes.
func (l *chunkList) trim(bytes int64) {
	for last := len(l.free) - 1; last >= 0 && l.used+int64(last+1)*int64(l.size) > bytes; last-- {
		l.free[last] = nil
		l.free = l.free[:last]
	}
}

// empty removes all chunks and keeps their memory.
func (l *chunkList) empty() {
	for _, c := range l.chunks {
		l.recycle(c)
	}
	clear(l.chunks)
	l.chunks, l.sealed = l.chunks[:0], false
}
