package message

import (
	"bytes"
	"fmt"

	"orbweaver/engine/state/queued"
	"orbweaver/internal/urlx"
)

// AppendLink appends an item with a URL, which is whole in it.Rest.
func AppendLink(dst []byte, it *queued.URL) []byte { return queued.Append(append(dst, Link), it) }

// ReadLink reads an item with a URL that CheckLink has passed.
func ReadLink(item []byte) (queued.URL, error) {
	if KindOf(item) != Link {
		return queued.URL{}, fmt.Errorf("an item of an unknown kind: %.20q", item)
	}
	it, ok := queued.Decode(item[1:])
	if !ok || it.RobotsOf != nil {
		return queued.URL{}, fmt.Errorf("not a URL: %.200q", item)
	}
	return it, nil
}

// CheckLink says what is wrong with an item with a URL: its URLs must be in normal form. It returns scratch, perhaps
// grown.
func CheckLink(scratch, item []byte) ([]byte, error) {
	it, err := ReadLink(item)
	if err != nil {
		return scratch, err
	}
	url, err := urlx.Normalize(scratch[:0], it.Rest)
	if err != nil || !bytes.Equal(url, it.Rest) {
		return scratch, fmt.Errorf("a URL that is not in normal form: %.200q", it.Rest)
	}
	if len(it.HopPath) > queued.HopPathMax || !isHopPath(it.HopPath) {
		return url, fmt.Errorf("not a hop path: %.200q", it.HopPath)
	}
	if len(it.Via) > 0 { // it will stand in a record
		if url, err = urlx.Normalize(url[:0], it.Via); err != nil || !bytes.Equal(url, it.Via) {
			return scratch, fmt.Errorf("a referring page that is not in normal form: %.200q", it.Via)
		}
	}
	return url, nil
}

// isHopPath says that a text has only the bytes of a hop path.
func isHopPath(text []byte) bool {
	for _, c := range text {
		if c != '-' && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return true
}

// isSiteKey says that bytes are scheme and authority of a URL in normal form.
func isSiteKey(key []byte) bool {
	if len(key) == 0 || key[len(key)-1] == '/' {
		return false
	}
	root := append(bytes.Clone(key), '/')
	url, err := urlx.Normalize(nil, root)
	return err == nil && bytes.Equal(url, root)
}
