package fetch

import (
	"sync/atomic"
	"time"

	"orbweaver/engine/net/fetch/buffers"
)

// pageMemory is the memory of a Page: the buffers that it has from a pool. A Page that was made by Stored has none.
type pageMemory struct {
	out     atomic.Bool // of the Pool
	pool    *buffers.Pool
	raw     buffers.Buffer // holds Page.Raw
	payload buffers.Buffer // holds the payload if it was assembled from chunks and did not fit behind Raw
}

// release returns the buffers to the pool. Page.Raw and the payload are invalid then.
func (m *pageMemory) release() {
	m.pool.Return(m.raw)
	m.pool.Return(m.payload)
	m.raw, m.payload = buffers.Buffer{}, buffers.Buffer{}
}

// grow makes room for need bytes in all, and returns raw in its new place. It returns false if there is no buffer.
func (m *pageMemory) grow(raw []byte, need int) ([]byte, bool) {
	if need <= len(m.raw.B) {
		return raw, true
	}
	bigger, ok := m.pool.Take(need)
	if !ok {
		return raw, false
	}
	return m.move(raw, bigger), true
}

// growOrWait is grow, but waits for a buffer until limit or until done is closed. The buffer must be full.
func (m *pageMemory) growOrWait(raw []byte, limit time.Time, done <-chan struct{}) ([]byte, bool) {
	bigger, ok := m.pool.TakeOrWait(len(raw)+1, limit, done)
	if !ok {
		return raw, false
	}
	return m.move(raw, bigger), true
}

// move copies raw to another buffer, and returns the old one to the pool.
func (m *pageMemory) move(raw []byte, to buffers.Buffer) []byte {
	n := copy(to.B, raw)
	m.pool.Return(m.raw)
	m.raw = to
	return to.B[:n]
}

// isLargest reports whether no buffer of the pool is larger.
func (m *pageMemory) isLargest() bool { return len(m.raw.B) >= m.pool.LargestSize() }

// isFull reports whether there is no room behind raw.
func (m *pageMemory) isFull(raw []byte) bool { return len(raw) >= len(m.raw.B) }

// spaceBehind returns memory for need bytes, with length 0: behind raw if there is room.
func (m *pageMemory) spaceBehind(raw []byte, need int) []byte {
	switch {
	case len(m.raw.B)-len(raw) >= need:
		return m.raw.B[len(raw):len(raw)]
	case m.raw.B == nil: // raw is not of a pool
		return make([]byte, 0, need)
	}
	m.payload = m.pool.TakeOrMake(need)
	return m.payload.B[:0]
}
