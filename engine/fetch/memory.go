package fetch

import "time"

// pageMemory is the memory of a Page: the buffers that it has from a pool. A Page that was made by Stored has none.
type pageMemory struct {
	pool    *bufferPool
	raw     buffer // holds Page.Raw
	payload buffer // holds the payload if it was assembled from chunks and did not fit behind Raw
}

// release returns the buffers to the pool. Page.Raw and the payload are invalid then.
func (m *pageMemory) release() {
	m.pool.returnBuffer(m.raw)
	m.pool.returnBuffer(m.payload)
	m.raw, m.payload = buffer{}, buffer{}
}

// grow makes room for need bytes in all, and returns raw in its new place. It returns false if there is no buffer.
func (m *pageMemory) grow(raw []byte, need int) ([]byte, bool) {
	if need <= len(m.raw.b) {
		return raw, true
	}
	bigger, ok := m.pool.takeBuffer(need)
	if !ok {
		return raw, false
	}
	return m.move(raw, bigger), true
}

// growOrWait is grow, but waits for a buffer until limit or until done is closed. The buffer must be full.
func (m *pageMemory) growOrWait(raw []byte, limit time.Time, done <-chan struct{}) ([]byte, bool) {
	bigger, ok := m.pool.takeOrWait(len(raw)+1, limit, done)
	if !ok {
		return raw, false
	}
	return m.move(raw, bigger), true
}

// move copies raw to a larger buffer, and returns the smaller one to the pool.
func (m *pageMemory) move(raw []byte, bigger buffer) []byte {
	n := copy(bigger.b, raw)
	m.pool.returnBuffer(m.raw)
	m.raw = bigger
	return bigger.b[:n]
}

// isFull reports whether there is no room behind raw.
func (m *pageMemory) isFull(raw []byte) bool { return len(raw) >= len(m.raw.b) }

// spaceBehind returns memory for need bytes, with length 0: behind raw if there is room.
func (m *pageMemory) spaceBehind(raw []byte, need int) []byte {
	switch {
	case len(m.raw.b)-len(raw) >= need:
		return m.raw.b[len(raw):len(raw)]
	case m.raw.b == nil: // raw is not of a pool
		return make([]byte, 0, need)
	}
	m.payload = m.pool.takeOrMake(need)
	return m.payload.b[:0]
}
