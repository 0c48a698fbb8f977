package filter

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// SURTs is a list of prefixes of SURTs, the form of a URL that begins with what is most significant:
// http://www.example.org/a?b is http://(org,example,www,)/a?b. The longest prefix that fits a URL decides: + that it
// belongs to the crawl, - that it does not. Where none fits, it belongs if there is no + in the list. It is never changed,
// so any number may read it.
//
// The forms are those of Heritrix:
//
//	+http://(org,example,           example.org and all below it
//	+http://(org,example,)          that host only, any port but those written in URLs
//	-http://(org,example,)/private  what begins so there
//	http://(org,                    the same as with a +
//	+https://example.org/a/b        a URL stands for its directory: http://(org,example,)/a/
//	+example.org                    a host, or a URL without a path, for itself and all below it
//
// As there, https is read as http, letters are compared in lower case, and addresses are not turned round.
//
// It is a trie whose edges are the components of SURTs, with their separator (labels, the end of the authority, segments of
// the path), found in one table of hashes; what is left of a prefix behind its last separator hangs on its node, sorted.
//
//	root --"org,"--> . --"example,"--> + --")"--> . --"/"--> .  tails: "private" -
type SURTs struct {
	edges   []uint64 // open addressing: half of a hash, and the number of the node that the edge leads to; 0 is free
	nodes   []surtNode
	tails   []surtTail
	text    []byte
	longest int // prefix, in bytes
	size    int
	plus    bool // there is a +
}

// surtNode is a prefix that ends with a separator. Number 0 is the root.
type surtNode struct {
	parent   uint32
	at       uint32 // of the last component in text
	from, to uint32 // its tails
	length   uint16 // of the last component
	sign     verdict
}

type surtTail struct {
	node   uint32
	at     uint32
	length uint16
	sign   verdict
}

// verdict is what a prefix says of URLs that begin so.
type verdict int8

const (
	minus  verdict = -1
	silent verdict = 0
	plus   verdict = 1
)

// surtMax is the longest prefix, in bytes behind the bracket: more of a URL is never looked at.
const surtMax = 512

// ErrSURT is wrapped by every fault of a SURT prefix.
var ErrSURT = errors.New("filter: bad SURT prefix")

// CompileSURTs makes a list of rules. The faults come all at once, each with its place.
func CompileSURTs(rules Rules) (*SURTs, error) {
	s := &SURTs{nodes: make([]surtNode, 1), edges: make([]uint64, 64)}
	err := rules.each(func(_ int, text string) error {
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

// Len gives the number of rules.
func (s *SURTs) Len() int { return s.size }

// put notes a rule. The tails are sorted later.
func (s *SURTs) put(sign verdict, prefix string) error {
	if len(s.text)+len(prefix) > math.MaxUint32 {
		return fmt.Errorf("%w: there are more than 4 GB of them", ErrSURT)
	}
	s.size++
	s.plus = s.plus || sign == plus
	s.longest = max(s.longest, len(prefix))
	node, rest, path := uint32(0), []byte(prefix), false
	for {
		end, closed := component(rest, path)
		if end < 0 {
			break
		}
		node = s.grow(node, rest[:end])
		rest, path = rest[end:], path || closed
	}
	if len(rest) > 0 {
		s.tails = append(s.tails, surtTail{node: node, at: uint32(len(s.text)), length: uint16(len(rest)), sign: sign})
		s.text = append(s.text, rest...)
		return nil
	}
	if s.nodes[node].sign == -sign {
		return fmt.Errorf("%w: %q stands there with a + and with a -", ErrSURT, prefix)
	}
	s.nodes[node].sign = sign
	return nil
}

// hang sorts the tails and hangs them on their nodes.
func (s *SURTs) hang(rules Rules) error {
	slices.SortFunc(s.tails, func(a, b surtTail) int {
		if a.node != b.node {
			return int(int64(a.node) - int64(b.node))
		}
		return bytes.Compare(s.tailText(&a), s.tailText(&b))
	})
	for i := range s.tails {
		t := &s.tails[i]
		if i > 0 && s.tails[i-1].node == t.node && s.tails[i-1].sign == -t.sign && bytes.Equal(s.tailText(&s.tails[i-1]), s.tailText(t)) {
			return fmt.Errorf("%w: what ends in %q stands in %s with a + and with a -", ErrSURT, s.tailText(t), rules.Name)
		}
		n := &s.nodes[t.node]
		if n.to == 0 {
			n.from = uint32(i)
		}
		n.to = uint32(i) + 1
	}
	return nil
}

func (s *SURTs) tailText(t *surtTail) []byte { return s.text[t.at:][:t.length] }

// component gives the end of the first component of what is left of a SURT, -1 if it has no end there, and whether it
// closes the authority. path says that the authority is behind.
func component(rest []byte, path bool) (end int, closes bool) {
	if path {
		if i := bytes.IndexByte(rest, '/'); i >= 0 {
			return i + 1, false
		}
		return -1, false
	}
	for i, c := range rest {
		if c == ',' || c == ')' {
			return i + 1, c == ')'
		}
	}
	return -1, false
}

// child gives the node that a component leads to, 0 if there is none.
func (s *SURTs) child(node uint32, component []byte) uint32 {
	hash := surtHash(node, component)
	mask := uint64(len(s.edges) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		switch edge := s.edges[i]; {
		case edge == 0:
			return 0
		case edge>>32 == hash>>32:
			if n := &s.nodes[uint32(edge)]; n.parent == node && bytes.Equal(s.text[n.at:][:n.length], component) {
				return uint32(edge)
			}
		}
	}
}

// grow gives the node that a component leads to, making it if it must.
func (s *SURTs) grow(node uint32, component []byte) uint32 {
	if known := s.child(node, component); known != 0 {
		return known
	}
	s.nodes = append(s.nodes, surtNode{parent: node, at: uint32(len(s.text)), length: uint16(len(component))})
	s.text = append(s.text, component...)
	if 2*len(s.nodes) <= len(s.edges) {
		s.join(uint32(len(s.nodes) - 1))
		return uint32(len(s.nodes) - 1)
	}
	s.edges = make([]uint64, 2*len(s.edges))
	for n := 1; n < len(s.nodes); n++ {
		s.join(uint32(n))
	}
	return uint32(len(s.nodes) - 1)
}

// join enters the edge to a node into the table.
func (s *SURTs) join(to uint32) {
	n := &s.nodes[to]
	hash := surtHash(n.parent, s.text[n.at:][:n.length])
	mask := uint64(len(s.edges) - 1)
	i := hash & mask
	for s.edges[i] != 0 {
		i = (i + 1) & mask
	}
	s.edges[i] = hash>>32<<32 | uint64(to)
}

func surtHash(node uint32, component []byte) uint64 {
	const odd = 0x9e3779b97f4a7c15
	h := (uint64(node) + 1) * odd
	for _, c := range component {
		h = (h ^ uint64(c)) * 0x100000001b3
	}
	h = (h ^ h>>32) * odd
	return h ^ h>>29
}

// admits says whether a URL belongs to the crawl. It does not allocate.
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

// find gives the sign of the longest prefix of a SURT, and its length.
func (s *SURTs) find(surt []byte) (found verdict, length int) {
	node, at, path := uint32(0), 0, false
	for {
		n := &s.nodes[node]
		if n.sign != silent {
			found, length = n.sign, at
		}
		if n.to > 0 {
			if t := s.tail(n, surt[at:]); t != nil {
				found, length = t.sign, at+int(t.length)
			}
		}
		end, closed := component(surt[at:], path)
		if end < 0 {
			return found, length
		}
		if node = s.child(node, surt[at:at+end]); node == 0 {
			return found, length
		}
		at, path = at+end, path || closed
	}
}

// tail gives the longest tail of a node that rest begins with.
func (s *SURTs) tail(n *surtNode, rest []byte) *surtTail {
	list := s.tails[n.from:n.to]
	for len(rest) > 0 {
		// The last one that does not come behind rest is its longest prefix, or shares with it what any prefix must be part of.
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

// appendSURT appends the SURT of a URL without the http://( that all begin with, as far as dst has room.
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

// FindSURT gives the rule of a list of SURT prefixes that decides about a URL in normal form, -1 if none does. It reads
// them one by one: it is for telling people, where SURTs is for deciding.
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
