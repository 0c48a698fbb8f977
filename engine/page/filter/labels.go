package filter

import "bytes"

// labelTrie is a set of names by their labels, the last one first. No other goroutine uses it while one adds to it. The
// edges are in one hash table, so most lookups of a missing name cost one cache miss, however many names there are.
//
//	root --"org"--> . --"example"--> . --"www"--> .
type labelTrie struct {
	edges []uint64 // open addressing: half of a hash, and the number of the edge's target node; 0 is free
	nodes []labelNode
	text  []byte
}

// labelNode is a name. Number 0 is the root.
type labelNode struct {
	parent uint32
	at     uint32 // offset of the name's first label in text
	length uint16
	mark   int8 // set by the user of the trie; 0 at first
}

func newLabelTrie() labelTrie {
	return labelTrie{edges: make([]uint64, 64), nodes: make([]labelNode, 1)}
}

// child returns the child of node with a label, 0 if there is none.
func (t *labelTrie) child(node uint32, label []byte) uint32 {
	hash := labelHash(node, label)
	mask := uint64(len(t.edges) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		switch edge := t.edges[i]; {
		case edge == 0:
			return 0
		case edge>>32 == hash>>32:
			if n := &t.nodes[uint32(edge)]; n.parent == node && bytes.Equal(t.text[n.at:][:n.length], label) {
				return uint32(edge)
			}
		}
	}
}

// grow returns the child of node with a label, and adds it if necessary.
func (t *labelTrie) grow(node uint32, label []byte) uint32 {
	if known := t.child(node, label); known != 0 {
		return known
	}
	made := uint32(len(t.nodes))
	t.nodes = append(t.nodes, labelNode{parent: node, at: uint32(len(t.text)), length: uint16(len(label))})
	t.text = append(t.text, label...)
	if 2*len(t.nodes) <= len(t.edges) {
		t.join(made)
		return made
	}
	t.edges = make([]uint64, 2*len(t.edges))
	for n := uint32(1); n <= made; n++ {
		t.join(n)
	}
	return made
}

// join adds the edge to a node to the table.
func (t *labelTrie) join(to uint32) {
	n := &t.nodes[to]
	hash := labelHash(n.parent, t.text[n.at:][:n.length])
	mask := uint64(len(t.edges) - 1)
	i := hash & mask
	for t.edges[i] != 0 {
		i = (i + 1) & mask
	}
	t.edges[i] = hash>>32<<32 | uint64(to)
}

func labelHash(node uint32, label []byte) uint64 {
	const odd = 0x9e3779b97f4a7c15
	h := (uint64(node) + 1) * odd
	for _, c := range label {
		h = (h ^ uint64(c)) * 0x100000001b3
	}
	h = (h ^ h>>32) * odd
	return h ^ h>>29
}
