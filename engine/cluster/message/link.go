package message

import (
	"bytes"
	"fmt"
	"slices"

	"orbweaver/engine/state/queued"
	"orbweaver/internal/urlx"
)

// AppendLink appends an item with a URL, which is whole in it.Rest.
func AppendLink(dst []byte, it *queued.URL) []byte { return queued.Append(append(dst, Link), it) }

// readURL reads a URL of an item of some kind. key is what precedes the URL: that of its site, or nothing for a whole
// one.
func (r *reader) readURL(kind byte, key, raw []byte) (queued.URL, error) {
	it, ok := queued.Decode(raw)
	isRedirect := kind == RobotsRedirect
	if !ok || isRedirect != (it.RobotsOf != nil) {
		return queued.URL{}, fmt.Errorf("not a URL of an item %c: %.200q", kind, raw)
	}
	if len(key) > 0 {
		it.Rest = slices.Concat(key, it.Rest)
	}
	switch {
	case r.isTrusted:
		return it, nil
	case isRedirect && !r.isSite(it.RobotsOf):
		return it, fmt.Errorf("a redirect of the robots.txt of no site: %.200q", it.RobotsOf)
	case !r.isNormal(it.Rest):
		return it, fmt.Errorf("a URL that is not in normal form: %.200q", it.Rest)
	case !isHopPath(it.HopPath):
		return it, fmt.Errorf("not a hop path: %.200q", it.HopPath)
	case len(it.Via) > 0 && !r.isNormal(it.Via): // it will stand in a record
		return it, fmt.Errorf("a referring page that is not in normal form: %.200q", it.Via)
	}
	return it, nil
}

// isNormal says that a URL is in normal form.
func (r *reader) isNormal(url []byte) bool {
	normal, err := urlx.Normalize(r.scratch[:0], url)
	if err != nil {
		return false
	}
	r.scratch = normal
	return bytes.Equal(normal, url)
}

// isHopPath says that a text is a hop path.
func isHopPath(text []byte) bool {
	return len(text) <= queued.HopPathMax &&
		!slices.ContainsFunc(text, func(c byte) bool { return c != '-' && (c < 'A' || c > 'Z') })
}

// isSite says that bytes are scheme and authority of a URL in normal form, or trusted.
func (r *reader) isSite(key []byte) bool {
	if r.isTrusted {
		return true
	}
	url := append(bytes.Clone(key), '/')
	if !r.isNormal(url) {
		return false
	}
	_, path := urlx.Split(url)
	return len(path) == 1
}
