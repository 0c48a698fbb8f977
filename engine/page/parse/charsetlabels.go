package parse

import (
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
)

// charsetState is how the bytes of the current body are decoded.
type charsetState struct {
	name      string
	certain   bool // declared by the header or the body
	whole     bool // not a superset of ASCII: the body must be decoded before it is scanned
	forbidden bool
	decoder   *encoding.Decoder // nil for UTF-8
	encoder   *encoding.Encoder // for queries; nil if they are in UTF-8
}

// labelEntry caches a lookup, because most pages name the same few character sets.
type labelEntry struct {
	label string
	state charsetState
	known bool
}

// charsetLabels finds character sets by their labels, and caches the last ones.
type charsetLabels struct {
	entries [4]labelEntry
	oldest  int // index of the entry that is replaced next
}

// lookup finds a character set by one of its labels.
func (l *charsetLabels) lookup(label []byte) (charsetState, bool) {
	label = trimSpace(label)
	switch {
	case len(label) == 0 || len(label) > 64:
		return charsetState{}, false
	case fold(label, "utf-8"):
		return charsetState{name: "utf-8", certain: true}, true
	}
	for i := range l.entries {
		if l.entries[i].label == string(label) {
			return l.entries[i].state, l.entries[i].known
		}
	}
	e := labelEntry{label: string(label)}
	e.state, e.known = newCharset(e.label)
	l.entries[l.oldest] = e
	l.oldest = (l.oldest + 1) % len(l.entries)
	return e.state, e.known
}

// lookupInside is lookup for a label inside the body. It was read as ASCII, so the body cannot be UTF-16, whatever the
// label says.
func (l *charsetLabels) lookupInside(label []byte) (charsetState, bool) {
	c, ok := l.lookup(label)
	switch {
	case !ok:
	case c.name == "utf-16le" || c.name == "utf-16be":
		return charsetState{name: "utf-8", certain: true}, true
	case c.name == "x-user-defined":
		return l.lookup([]byte("windows-1252"))
	}
	return c, ok
}

func newCharset(label string) (charsetState, bool) {
	coding, err := htmlindex.Get(label)
	if err != nil {
		return charsetState{}, false
	}
	name, err := htmlindex.Name(coding)
	if err != nil {
		return charsetState{}, false
	}
	c := charsetState{name: strings.ToLower(name), certain: true}
	switch c.name {
	case "utf-8":
	case "replacement":
		c.forbidden = true
	case "utf-16le", "utf-16be", "iso-2022-jp":
		c.whole = true
		c.decoder = coding.NewDecoder()
	default:
		c.decoder, c.encoder = coding.NewDecoder(), coding.NewEncoder()
	}
	return c, true
}
