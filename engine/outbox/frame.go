package outbox

import (
	"encoding/binary"
	"errors"
	"iter"
)

// ErrFrame says that bytes are no batch.
var ErrFrame = errors.New("outbox: these bytes are no list of items")

// AppendItem appends an item in the form that Items reads.
func AppendItem(dst, item []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(item))), item...)
}

// cut takes the first item of some.
func cut(b []byte) (item, rest []byte, ok bool) {
	size, n := binary.Uvarint(b)
	if n <= 0 || size > uint64(len(b)-n) {
		return nil, nil, false
	}
	return b[n : n+int(size)], b[n+int(size):], true
}

func mustCut(b []byte) (item, rest []byte) {
	item, rest, ok := cut(b)
	if !ok {
		panic("BUG: outbox: items that we framed ourselves cannot be read")
	}
	return item, rest
}

func each(b []byte, f func(item []byte)) {
	for len(b) > 0 {
		var item []byte
		item, b = mustCut(b)
		f(item)
	}
}

// Items are the items of a batch, which alias it. Bytes that are no batch, which another agent may send, end with ErrFrame.
func Items(batch []byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for len(batch) > 0 {
			item, rest, ok := cut(batch)
			if !ok {
				yield(nil, ErrFrame)
				return
			}
			if !yield(item, nil) {
				return
			}
			batch = rest
		}
	}
}
