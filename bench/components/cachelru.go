package components

import "github.com/zeebo/xxh3"

// trueLRU is what the cache is measured against: exactly the fingerprints used last, chained in one list. A fingerprint
// takes 32 bytes of it, and eight more of its table.
type trueLRU struct {
	nodes  []lruNode // node 0 is the head of the list: newest after it, oldest before it
	table  []uint32  // first node of each chain
	mask   uint64
	filled uint32
}

type lruNode struct {
	fp           xxh3.Uint128
	newer, older uint32
	chain        uint32
	_            uint32
}

const lruBytes = 40

func newTrueLRU(capacity int) *trueLRU {
	size := 1
	for size < 2*capacity {
		size *= 2
	}
	return &trueLRU{nodes: make([]lruNode, capacity+1), table: make([]uint32, size), mask: uint64(size - 1)}
}

// seen reports whether fp is there, and makes it the newest in any case.
func (l *trueLRU) seen(fp xxh3.Uint128) bool {
	slot := &l.table[fp.Lo&l.mask]
	for i := *slot; i != 0; i = l.nodes[i].chain {
		if l.nodes[i].fp == fp {
			l.unlink(i)
			l.link(i)
			return true
		}
	}
	i := l.filled + 1
	if int(i) < len(l.nodes) {
		l.filled = i
	} else {
		i = l.nodes[0].newer // the oldest
		l.unlink(i)
		l.unchain(i)
	}
	l.nodes[i].fp, l.nodes[i].chain = fp, *slot
	*slot = i
	l.link(i)
	return false
}

// ask counts the fingerprints of a batch that are there when their turn comes.
func (l *trueLRU) ask(batch []xxh3.Uint128) (hits int64) {
	for _, fp := range batch {
		if l.seen(fp) {
			hits++
		}
	}
	return hits
}

func (l *trueLRU) link(i uint32) {
	head := &l.nodes[0]
	l.nodes[i].newer, l.nodes[i].older = 0, head.older
	l.nodes[head.older].newer = i
	head.older = i
}

func (l *trueLRU) unlink(i uint32) {
	n := l.nodes[i]
	l.nodes[n.newer].older = n.older
	l.nodes[n.older].newer = n.newer
}

func (l *trueLRU) unchain(i uint32) {
	at := &l.table[l.nodes[i].fp.Lo&l.mask]
	for *at != i {
		at = &l.nodes[*at].chain
	}
	*at = l.nodes[i].chain
}
