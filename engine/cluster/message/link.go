package message

import (
	"bytes"
	"fmt"

	"orbweaver/engine/state/queued"
	"orbweaver/internal/urlx"
)

// AppendLink appends an item with a URL, which is whole in it.Rest.
func AppendLink(dst []byte, it *queued.URL) []byte { return queued.Append(append(dst, Link), it) }

func readLink(item []byte) (queued.URL, error) {
	if len(item) == 0 || item[0] != Link {
		return queued.URL{}, fmt.Errorf("an item of an unknown kind: %.20q", item)
	}
	it, ok := queued.Decode(item[1:])
	if !ok || it.RobotsOf != nil {
		return queued.URL{}, fmt.Errorf("not a URL: %.200q", item)
	}
	return it, nil
}

// checkLink says what is wrong with a URL: it must be in normal form.
func (c *checker) checkLink(it *queued.URL) error {
	switch {
	case !c.isNormal(it.Rest):
		return fmt.Errorf("a URL that is not in normal form: %.200q", it.Rest)
	case len(it.HopPath) > queued.HopPathMax || !isHopPath(it.HopPath):
		return fmt.Errorf("not a hop path: %.200q", it.HopPath)
	case len(it.Via) > 0 && !c.isNormal(it.Via): // it will stand in a record
		return fmt.Errorf("a referring page that is not in normal form: %.200q", it.Via)
	}
	return nil
}

// isNormal says that a URL is in normal form.
func (c *checker) isNormal(url []byte) bool {
	normal, err := urlx.Normalize(c.scratch[:0], url)
	if err != nil {
		return false
	}
	c.scratch = normal
	return bytes.Equal(normal, url)
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

// isSite says that bytes are scheme and authority of a URL in normal form.
func (c *checker) isSite(key []byte) bool {
	return len(key) > 0 && key[len(key)-1] != '/' && c.isNormal(append(bytes.Clone(key), '/'))
}
