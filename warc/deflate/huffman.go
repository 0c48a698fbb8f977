package deflate

import "math/bits"

// codesMax is the size of the largest alphabet.
const codesMax = 286

// huffman is memory for computing codes.
type huffman struct {
	order  [codesMax]uint32 // used symbols, each with its frequency above: frequency<<9 | symbol
	spare  [codesMax]uint32
	weight [codesMax]uint32
}

// lengths sets the code length of each symbol, at most limit bits, 0 for symbols that do not occur. At least two
// symbols get a length, because some decompressors refuse codes with fewer words.
func (h *huffman) lengths(frequency []uint32, length []uint8, limit int) {
	clear(length)
	n := 0
	for symbol, f := range frequency {
		if f > 0 {
			h.order[n] = f<<9 | uint32(symbol)
			n++
		}
	}
	if n < 2 {
		used := uint32(0)
		if n == 1 {
			used = h.order[0] & 511
		}
		length[used], length[(used+1)&1] = 1, 1
		return
	}
	order, weight := h.sort(n), h.weight[:n]
	for i, x := range order {
		weight[i] = x >> 9
	}
	depths(weight)
	var count [32]int
	for _, d := range weight {
		count[min(int(d), limit)]++
	}
	mend(count[:], limit)
	i := 0
	for d := limit; d > 0; d-- {
		for range count[d] {
			length[order[i]&511] = uint8(d)
			i++
		}
	}
}

// sort orders the first n symbols by frequency, with two passes over eight bits each, or four if frequencies are high.
func (h *huffman) sort(n int) []uint32 {
	from, to := h.order[:n], h.spare[:n]
	highest := uint32(0)
	for _, x := range from {
		highest |= x
	}
	for shift := 9; highest>>shift > 0; shift += 8 {
		var ends [256]uint16
		for _, x := range from {
			ends[x>>shift&255]++
		}
		sum := uint16(0)
		for i, c := range ends {
			ends[i] = sum
			sum += c
		}
		for _, x := range from {
			at := &ends[x>>shift&255]
			to[*at] = x
			*at++
		}
		from, to = to, from
	}
	return from
}

// depths replaces ascending weights by the depths of their leaves in a tree of least cost, in place (Moffat and
// Katajainen 1995).
func depths(a []uint32) {
	n := len(a)
	// From left to right: inner nodes replace their leaves; a node with a parent stores its position.
	a[0] += a[1]
	root, leaf := 0, 2
	for next := 1; next < n-1; next++ {
		if leaf >= n || a[root] < a[leaf] {
			a[next] = a[root]
			a[root] = uint32(next)
			root++
		} else {
			a[next] = a[leaf]
			leaf++
		}
		if leaf >= n || root < next && a[root] < a[leaf] {
			a[next] += a[root]
			a[root] = uint32(next)
			root++
		} else {
			a[next] += a[leaf]
			leaf++
		}
	}
	// From right to left: depths of inner nodes.
	a[n-2] = 0
	for next := n - 3; next >= 0; next-- {
		a[next] = a[a[next]] + 1
	}
	// And those of the leaves, which fill the free places at each depth.
	root = n - 2
	next := n - 1
	for free, depth := 1, uint32(0); free > 0; depth++ {
		inner := 0
		for root >= 0 && a[root] == depth {
			inner++
			root--
		}
		for ; free > inner; free-- {
			a[next] = depth
			next--
		}
		free = 2 * inner
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

// assign computes the words of a code from the lengths (RFC 1951, 3.2.2).
func assign(words []word, length []uint8) {
	var count, next [16]uint16
	for _, d := range length {
		count[d]++
	}
	code := uint16(0)
	count[0] = 0
	for d := 1; d < 16; d++ {
		code = (code + count[d-1]) << 1
		next[d] = code
	}
	for symbol, d := range length {
		if d == 0 {
			words[symbol] = 0
			continue
		}
		words[symbol] = word(d)<<16 | word(bits.Reverse16(next[d])>>(16-d))
		next[d]++
	}
}
