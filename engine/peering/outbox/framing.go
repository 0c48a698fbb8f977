package outbox

import (
	"encoding/binary"
	"errors"
	"iter"
)

// ErrMalformed means that bytes are not a sequence of items.
var ErrMalformed = errors.New("outbox: malformed items")

// AppendItem appends an item in the form that Items reads: its length as a uvarint, then its bytes.
func AppendItem(dst, item []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(item))), item...)
}

// cutItem splits b behind its first item.
func cutItem(b []byte) (item, rest []byte, ok bool) {
	size, n := binary.Uvarint(b)
	if n <= 0 || size > uint64(len(b)-n) {
		return nil, nil, false
	}
	return b[n : n+int(size)], b[n+int(size):], true
}

// mustCutItem is cutItem for bytes that this package has written.
func mustCutItem(b []byte) (item, rest []byte) {
	item, rest, ok := cutItem(b)
	if !ok {
		panic("BUG: outbox: own items cannot be read")
	}
	return item, rest
}

// eachItem calls f for each item of bytes that this package has written.
func eachItem(b []byte, f func(item []byte)) {
	for len(b) > 0 {
		var item []byte
		item, b = mustCutItem(b)
		f(item)
	}
}

// Items yields the items of a batch, which share its memory. Another agent may have sent the bytes, so they can be
// malformed: then the last error is ErrMalformed.
func Items(batch []byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for len(batch) > 0 {
			item, rest, ok := cutItem(batch)
			if !ok {
				yield(nil, ErrMalformed)
				return
			}
			if !yield(item, nil) {
				return
			}
			batch = rest
		}
	}
}
