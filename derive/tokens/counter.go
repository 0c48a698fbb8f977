package tokens

import "math"

// Counter counts tokens.
type Counter struct {
	vocabulary *Vocabulary

	next []int32 // of each part of a piece: where the next one begins; 0: it was joined with the one before
	prev []int32
	heap []pair
}

// pair is two parts that may be joined.
type pair struct {
	rank, at, end int32
}

// NewCounter returns a Counter for one goroutine.
func (v *Vocabulary) NewCounter() *Counter { return &Counter{vocabulary: v} }

// pieceMost bounds the memory of a Counter: a longer piece is counted in pieces of this length.
const pieceMost = 1 << 20

// Count returns the number of tokens of a text.
func (c *Counter) Count(text []byte) (tokens int64) {
	for len(text) > 0 {
		n := min(pieceLength(text), pieceMost)
		piece := text[:n]
		text = text[n:]
		if n == 1 {
			tokens++
			continue
		}
		if n <= c.vocabulary.longest {
			if _, ok := c.vocabulary.ranks[string(piece)]; ok {
				tokens++
				continue
			}
		}
		tokens += c.join(piece)
	}
	return tokens
}

// join joins the bytes of a piece to tokens, and returns how many are left.
func (c *Counter) join(piece []byte) (tokens int64) {
	n := int32(len(piece))
	c.next, c.prev, c.heap = c.next[:0], c.prev[:0], c.heap[:0]
	for i := range n {
		c.next, c.prev = append(c.next, i+1), append(c.prev, i-1)
	}
	for i := range n - 1 {
		c.propose(piece, i)
	}
	tokens = int64(n)
	for len(c.heap) > 0 {
		p := c.pop()
		middle := c.next[p.at]
		if middle == 0 || middle >= n || c.next[middle] != p.end {
			continue // one of both was joined with another
		}
		c.next[p.at] = p.end
		c.next[middle] = 0
		if p.end < n {
			c.prev[p.end] = p.at
			c.propose(piece, p.at)
		}
		if p.at > 0 {
			c.propose(piece, c.prev[p.at])
		}
		tokens--
	}
	return tokens
}

// propose adds the pair of the part that begins at this place and the next one, if they are a token.
func (c *Counter) propose(piece []byte, at int32) {
	end := c.next[c.next[at]]
	if int(end-at) > c.vocabulary.longest {
		return
	}
	if rank, ok := c.vocabulary.ranks[string(piece[at:end])]; ok {
		c.push(pair{rank, at, end})
	}
}

// key orders pairs: by rank, then by place.
func (p pair) key() int64 { return int64(p.rank)<<32 | int64(p.at)&math.MaxUint32 }

func (c *Counter) push(p pair) {
	c.heap = append(c.heap, p)
	i := len(c.heap) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if c.heap[parent].key() <= c.heap[i].key() {
			break
		}
		c.heap[parent], c.heap[i] = c.heap[i], c.heap[parent]
		i = parent
	}
}

func (c *Counter) pop() pair {
	top := c.heap[0]
	last := len(c.heap) - 1
	c.heap[0] = c.heap[last]
	c.heap = c.heap[:last]
	i := 0
	for {
		child := 2*i + 1
		if child >= last {
			break
		}
		if child+1 < last && c.heap[child+1].key() < c.heap[child].key() {
			child++
		}
		if c.heap[i].key() <= c.heap[child].key() {
			break
		}
		c.heap[i], c.heap[child] = c.heap[child], c.heap[i]
		i = child
	}
	return top
}
