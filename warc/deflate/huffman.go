package deflate

import "math/bits"

// codesMax is the size of the largest alphabet: the fixed code has two words that are not used.
const codesMax = 288

// huffman computes a code. Almost no branch depends on a frequency, because it would often be mispredicted.
type huffman struct {
	used  [codesMax + 1]uint32 // symbols that have words, ascending, each with its frequency: frequency<<9 | symbol
	usedN int

	order  [codesMax + 1]uint32 // the same, by frequency
	weight [codesMax + 1]uint32 // of inner nodes, in the order in which they are made
	parent [codesMax + 1]uint16 // of inner nodes; then their depth
}

// beyond is more than any weight.
const beyond = 1 << 30

// lengths sets the code length of each symbol, at most limit bits, 0 for symbols that do not occur. At least two
// symbols get a length, because some decompressors refuse codes with fewer words.
func (h *huffman) lengths(frequency []uint32, length []uint8, limit int) {
	clear(length)
	n := 0
	for symbol, f := range frequency {
		h.used[n] = f<<9 | uint32(symbol)
		n += int((f | -f) >> 31)
	}
	if n < 2 {
		one := uint32(0)
		if n == 1 {
			one = h.used[0]
		}
		h.used[0], h.used[1] = 0, max(one, 1)
		if one&511 == 0 {
			h.used[0], h.used[1] = one, 1
		}
		n = 2
	}
	h.usedN = n
	h.sort(n)
	var count [32]int
	h.count(n, &count, limit)
	mend(count[:], limit)
	order := h.order[:n]
	for d := limit; d > 0; d-- {
		for _, x := range order[:count[d]] {
			length[x&511] = uint8(d)
		}
		order = order[count[d]:]
	}
}

// cost is the number of bits of all symbols in words of such lengths.
func (h *huffman) cost(length []uint8) int {
	n := 0
	for _, x := range h.used[:h.usedN] {
		n += int(x>>9) * int(length[x&511])
	}
	return n
}

// sort orders the used symbols by frequency: by counting, and those with high frequencies by insertion.
func (h *huffman) sort(n int) {
	const high = 255
	var ends [high + 1]uint16
	for _, x := range h.used[:n] {
		ends[min(x>>9, high)]++
	}
	sum := uint16(0)
	for i, c := range ends {
		ends[i] = sum
		sum += c
	}
	first := int(ends[high])
	for _, x := range h.used[:n] {
		at := &ends[min(x>>9, high)]
		h.order[*at] = x
		*at++
	}
	for i := first + 1; i < n; i++ {
		x, k := h.order[i], i
		for ; k > first && h.order[k-1] > x; k-- {
			h.order[k] = h.order[k-1]
		}
		h.order[k] = x
	}
}

// count counts the leaves at each depth of a tree of least cost for the first n symbols (Huffman 1952). Leaves below
// the limit count as if they were at the limit.
func (h *huffman) count(n int, count *[32]int, limit int) {
	h.order[n] = 1<<32 - 1
	root, leaf := 0, 0 // the lightest inner node without a parent, and the lightest leaf without one
	for next := range n - 1 {
		h.weight[next] = beyond
		sum := uint32(0)
		for range 2 {
			inner, outer := h.weight[root], h.order[leaf]>>9
			isInner := int32(inner-outer) >> 31 // -1 or 0
			sum += outer + (inner-outer)&uint32(isInner)
			h.parent[root] = uint16(next) // if it is not, it is corrected later
			root -= int(isInner)
			leaf += 1 + int(isInner)
		}
		h.weight[next] = sum
	}
	// Each inner node has two children, which are leaves or inner nodes.
	h.parent[n-2] = 0
	count[min(1, limit)] = 2
	for next := n - 3; next >= 0; next-- {
		depth := h.parent[h.parent[next]] + 1
		h.parent[next] = depth
		count[min(int(depth), limit)]--
		count[min(int(depth)+1, limit)] += 2
	}
}

// mend corrects lengths that were reduced to the limit, so that a prefix code exists: count[d] words have d bits.
func mend(count []int, limit int) {
	total := 0
	for d := 1; d <= limit; d++ {
		total += count[d] << (limit - d)
	}
	for ; total > 1<<limit; total-- {
		count[limit]--
		d := limit - 1
		for count[d] == 0 {
			d--
		}
		count[d]--
		count[d+1] += 2
	}
}

// word is a code word: its bits, the first one lowest, and their number above bit 16.
type word uint32

func (w word) bits() uint32 { return uint32(w & 0xffff) }
func (w word) length() uint { return uint(w>>16) & 31 }

// assign computes the words of the used symbols from their lengths (RFC 1951, 3.2.2).
func (h *huffman) assign(words []word, length []uint8) {
	var count, next [16]uint16
	for _, x := range h.used[:h.usedN] {
		count[length[x&511]&15]++
	}
	code := uint16(0)
	for d := 1; d < 16; d++ {
		code = (code + count[d-1]) << 1
		next[d] = code
	}
	for _, x := range h.used[:h.usedN] {
		d := length[x&511] & 15
		words[x&511] = word(d)<<16 | word(bits.Reverse16(next[d])>>(16-d))
		next[d]++
	}
}
