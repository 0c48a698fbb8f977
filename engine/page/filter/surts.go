package filter

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// SURTs is a list of SURT prefixes. A SURT (Sort-friendly URI Reordering Transform) is a URL that begins with its most
// significant part: http://www.example.org/a?b is http://(org,example,www,)/a?b. The longest prefix of a URL decides:
// with + the URL belongs to the crawl, with - it does not. If no prefix matches, the URL belongs if the list has no +.
// The list never changes and is safe for concurrent use.
//
// The forms are those of Heritrix:
//
//	+http://(org,example,           example.org and all below it
//	+http://(org,example,)          that host only, any port but those written in URLs
//	-http://(org,example,)/private  paths that begin like this
//	http://(org,                    the same as with a +
//	+https://example.org/a/b        a URL stands for its directory: http://(org,example,)/a/
//	+example.org                    a host, or a URL without a path, for itself and all below it
//
// As in Heritrix, https is read as http, letters are compared in lower case, and addresses are not reversed.
//
// The list is a trie of host labels. The rest of a prefix after its last comma is a tail; the tails of a node are
// sorted.
//
//	root --"org,"--> . --"example,"--> +  tails: ")" -, ")/private/press/" +, "w" -
type SURTs struct {
	labels  labelTrie  // marked with a verdict
	spans   []tailSpan // the tails of each node
	tails   []surtTail
	text    []byte // text of the tails
	longest int    // length of the longest prefix, in bytes
	size    int
	plus    bool // there is a rule with +
}

type tailSpan struct{ from, to uint32 }

type surtTail struct {
	node   uint32
	at     uint32
	length uint16
	sign   verdict
}

// verdict is the sign of a prefix, for URLs that begin with it.
type verdict int8

const (
	minus  verdict = -1
	silent verdict = 0
	plus   verdict = 1
)

// surtMax is the longest prefix, in bytes after the bracket: the rest of a URL is ignored.
const surtMax = 512

// ErrSURT is wrapped by every error about a SURT prefix.
var ErrSURT = errors.New("filter: bad SURT prefix")

// CompileSURTs returns a list of rules. The error joins all faults, each with its place.
func CompileSURTs(rules Rules) (*SURTs, error) {
	s := &SURTs{labels: newLabelTrie()}
	err := rules.Each(func(_ int, text string) error {
		sign, prefix, err := readSURT(text)
		if err != nil {
			return err
		}
		return s.put(sign, prefix)
	})
	if err == nil {
		err = s.hang(rules)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Len returns the number of rules.
func (s *SURTs) Len() int { return s.size }

// put adds a rule. The tails are sorted later.
func (s *SURTs) put(sign verdict, prefix string) error {
	if len(s.text)+len(prefix) > math.MaxUint32 {
		return fmt.Errorf("%w: there are more than 4 GB of them", ErrSURT)
	}
	s.size++
	s.plus = s.plus || sign == plus
	s.longest = max(s.longest, len(prefix))
	node, rest := uint32(0), []byte(prefix)
	for end := label(rest); end > 0; end = label(rest) {
		node = s.labels.grow(node, rest[:end-1])
		rest = rest[end:]
	}
	if len(rest) > 0 {
		s.tails = append(s.tails, surtTail{node: node, at: uint32(len(s.text)), length: uint16(len(rest)), sign: sign})
		s.text = append(s.text, rest...)
		return nil
	}
	mark := &s.labels.nodes[node].mark
	if *mark == int8(-sign) {
		return fmt.Errorf("%w: %q stands there with a + and with a -", ErrSURT, prefix)
	}
	*mark = int8(sign)
	return nil
}

// hang sorts the tails and attaches them to their nodes.
func (s *SURTs) hang(rules Rules) error {
	slices.SortFunc(s.tails, func(a, b surtTail) int {
		if a.node != b.node {
			return int(int64(a.node) - int64(b.node))
		}
		return bytes.Compare(s.tailText(&a), s.tailText(&b))
	})
	s.spans = make([]tailSpan, len(s.labels.nodes))
	for i := range s.tails {
		t := &s.tails[i]
		if i > 0 && s.tails[i-1].node == t.node && s.tails[i-1].sign == -t.sign &&
			bytes.Equal(s.tailText(&s.tails[i-1]), s.tailText(t)) {
			return fmt.Errorf("%w: what ends in %q stands in %s with a + and with a -", ErrSURT, s.tailText(t),
				cmp.Or(rules.Name, "the list"))
		}
		span := &s.spans[t.node]
		if span.to == 0 {
			span.from = uint32(i)
		}
		span.to = uint32(i) + 1
	}
	return nil
}

func (s *SURTs) tailText(t *surtTail) []byte { return s.text[t.at:][:t.length] }

// label returns the length of the first label of a SURT, with its comma; 0 if there is none.
func label(surt []byte) int {
	for i, c := range surt {
		switch c {
		case ',':
			return i + 1
		case ')':
			return 0
		}
	}
	return 0
}

// admits reports whether a URL belongs to the crawl. It does not allocate.
func (s *SURTs) admits(p parts) bool {
	var room [surtMax]byte
	switch sign, _ := s.find(appendSURT(room[:0:s.longest], p)); sign {
	case plus:
		return true
	case minus:
		return false
	default:
		return !s.plus
	}
}

// find returns the sign of the longest prefix of a SURT, and its length.
func (s *SURTs) find(surt []byte) (found verdict, length int) {
	node, at := uint32(0), 0
	for {
		if sign := verdict(s.labels.nodes[node].mark); sign != silent {
			found, length = sign, at
		}
		if t := s.tail(s.spans[node], surt[at:]); t != nil {
			found, length = t.sign, at+int(t.length)
		}
		end := label(surt[at:])
		if end == 0 {
			return found, length
		}
		if node = s.labels.child(node, surt[at:at+end-1]); node == 0 {
			return found, length
		}
		at += end
	}
}

// tail returns the longest tail of a node with which rest begins, or nil.
func (s *SURTs) tail(of tailSpan, rest []byte) *surtTail {
	list := s.tails[of.from:of.to]
	for len(rest) > 0 && len(list) > 0 {
		// The last tail that does not sort after rest is its longest prefix, or shares with it what any prefix must
		// share.
		below, above := 0, len(list)
		for below < above {
			if middle := int(uint(below+above) >> 1); bytes.Compare(s.tailText(&list[middle]), rest) <= 0 {
				below = middle + 1
			} else {
				above = middle
			}
		}
		if below == 0 {
			return nil
		}
		list = list[:below]
		text := s.tailText(&list[below-1])
		if bytes.HasPrefix(rest, text) {
			return &list[below-1]
		}
		rest = rest[:common(rest, text)]
	}
	return nil
}

func common(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// appendSURT appends the SURT of a URL without the common http://(, as far as dst has capacity.
func appendSURT(dst []byte, p parts) []byte {
	host := withoutDot(p.host)
	if isAddress(host) {
		dst = appendRoom(dst, host)
	} else {
		for len(host) > 0 {
			dot := bytes.LastIndexByte(host, '.')
			dst = appendRoom(appendRoom(dst, host[dot+1:]), []byte{','})
			host = host[:max(dot, 0)]
		}
	}
	if len(p.port) > 0 {
		dst = appendRoom(appendRoom(dst, []byte{':'}), p.port)
	}
	dst = appendRoom(dst, []byte{')'})
	from := len(dst)
	dst = appendRoom(dst, p.tail[len(p.authority):])
	for i, c := range dst[from:] {
		if 'A' <= c && c <= 'Z' {
			dst[from+i] = c + 'a' - 'A'
		}
	}
	return dst
}

func appendRoom(dst, b []byte) []byte { return append(dst, b[:min(len(b), cap(dst)-len(dst))]...) }

// FindSURT returns the rule that decides about a normal form, or -1. It tries them one by one: it is for explanations,
// SURTs for decisions.
func (r Rules) FindSURT(url []byte) int {
	p, ok := split(url)
	if !ok {
		return -1
	}
	surt := string(appendSURT(make([]byte, 0, surtMax), p))
	found, longest := -1, -1
	for i, text := range r.Texts {
		if _, prefix, err := readSURT(text); err == nil && len(prefix) > longest && strings.HasPrefix(surt, prefix) {
			found, longest = i, len(prefix)
		}
	}
	return found
}
