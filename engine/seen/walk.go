package seen

import (
	"bytes"
	"errors"
)

// errEnough ends a scan.
var errEnough = errors.New("seen: enough")

// Walk calls visit for at most n digests in the order of insertion. from is the place that the previous Walk returned,
// 0 for the first one. over says that there are no more at the moment. Inserts may run meanwhile.
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
