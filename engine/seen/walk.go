package seen

import (
	"bytes"
	"errors"
)

// errEnough ends a scan.
var errEnough = errors.New("seen: enough")

// Walk lends visit the digests of entries in the order in which they came, n at most, beginning with the one at the place that the Walk
// before has returned; the first begins at 0. Over says that there are no more, for now. Others may insert meanwhile.
func (m *Map) Walk(from int64, n int, visit func(d Digest)) (next int64, over bool, err error) {
	m.mu.Lock()
	for m.entries.writing != nil && !m.closed {
		m.idle.Wait()
	}
	if m.closed {
		m.mu.Unlock()
		return from, false, ErrClosed
	}
	begin, end := max(from, headBytes), m.entries.written
	buffered := bytes.Clone(m.entries.buf)
	m.mu.Unlock()
	if begin >= end { // the head may not be written yet
		buffered, end = buffered[begin-end:], begin
	}
	err = m.scan(begin, end, bytes.NewReader(buffered), func(offset int64, d Digest) error {
		if n == 0 {
			next = offset
			return errEnough
		}
		n--
		visit(d)
		return nil
	})
	if errors.Is(err, errEnough) {
		return next, false, nil
	}
	return end + int64(len(buffered)), true, err
}
