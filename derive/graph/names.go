package graph

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
)

// names are names by number.
type names struct {
	text []byte
	ends []int // of each name in text
}

func (n *names) add(name []byte) {
	n.text = append(n.text, name...)
	n.ends = append(n.ends, len(n.text))
}

func (n *names) get(number uint32) []byte {
	begin := 0
	if number > 0 {
		begin = n.ends[number-1]
	}
	return n.text[begin:n.ends[number]]
}

func (n *names) clear() { n.text, n.ends = n.text[:0], n.ends[:0] }

// ordered is a name that is sorted. key is keyBytes of it.
type ordered struct {
	key    uint64
	number uint32
}

const keyBytes = 8

// sorted returns the numbers of all names in the order of the names.
func (n *names) sorted() []ordered {
	order := make([]ordered, len(n.ends))
	for i := range order {
		order[i].number = uint32(i)
	}
	n.sort(order, 0)
	return order
}

// fewNames are so few that they are compared as a whole. Names beyond keysMost bytes are, too.
const (
	fewNames = 12
	keysMost = 1 << 10
)

// sort sorts names that share their first bytes, by the next eight. Those that share these as well are sorted again.
func (n *names) sort(order []ordered, shared int) {
	if len(order) <= fewNames || shared >= keysMost {
		slices.SortFunc(order, func(a, b ordered) int { return bytes.Compare(n.get(a.number), n.get(b.number)) })
		return
	}
	for i := range order {
		var key [keyBytes]byte
		name := n.get(order[i].number)
		copy(key[:], name[min(shared, len(name)):])
		order[i].key = binary.BigEndian.Uint64(key[:])
	}
	slices.SortFunc(order, func(a, b ordered) int { return cmp.Compare(a.key, b.key) })
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && order[to].key == order[from].key {
			to++
		}
		if to-from > 1 {
			n.sort(order[from:to], shared+keyBytes)
		}
		from = to
	}
}
