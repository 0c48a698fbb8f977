package deflate

import "encoding/binary"

const (
	wordMax     = 14 // bits of a word, so that four words and the waiting bits fit into 64; the standard allows 15
	lengthCodes = 19
	lengthMax   = 7
	storedMax   = 1<<16 - 1
	storedGain  = 64 // a block is stored unless it becomes smaller by this part
)

// The two bits of the block type.
const (
	kindStored  = 0
	kindFixed   = 1
	kindDynamic = 2
)

// coder computes the codes of a block and writes their lengths.
type coder struct {
	literalCount   [literalCodes]uint32
	distanceCount  [distanceCodes]uint32
	literalLength  [literalCodes]uint8
	distanceLength [distanceCodes]uint8
	literalWords   [literalCodes]word
	distanceWords  [distanceCodes]word
	extra          int // extra bits of lengths and distances

	// The lengths are written in a separate code: symbols 0 to 15 are lengths, 16 to 18 repeat.
	runs         [literalCodes + distanceCodes]uint16 // symbol, and its extra bits above bit 8
	runsUsed     int
	runCount     [lengthCodes]uint32
	runLength    [lengthCodes]uint8
	runWords     [lengthCodes]word
	runLengthsN  int // number of runLengths that are written
	literalsN    int
	distancesN   int
	headerLength int // bits

	fixedLiterals  [literalCodes]word
	fixedDistances [distanceCodes]word
	huffman        huffman
}

func (c *coder) init() {
	var length [288]uint8 // the fixed code has two words more than there are symbols
	for i := range length {
		switch {
		case i < 144:
			length[i] = 8
		case i < 256:
			length[i] = 9
		case i < 280:
			length[i] = 7
		default:
			length[i] = 8
		}
	}
	var words [288]word
	assign(words[:], length[:])
	copy(c.fixedLiterals[:], words[:])
	var distances [32]uint8
	for i := range distances {
		distances[i] = 5
	}
	assign(words[:32], distances[:])
	copy(c.fixedDistances[:], words[:])
}

// block writes the current block in the shortest of its forms, but stores it if that is only a little longer. Most
// blocks that do not become smaller are bodies that the server has compressed; the small gain would cost a word per
// byte.
func (e *Encoder) block(dst []byte, last bool) []byte {
	if !e.later {
		e.matcher.begin(e.end)
	}
	src := e.buf[e.start:e.end]
	m, c := &e.matcher, &e.coder
	m.find(&e.buf, e.start, e.end)
	c.count(m.literals[:m.literalN], m.seqs, &e.shapes)
	c.prepare()
	dynamic := c.headerLength + c.size(&c.literalLength, &c.distanceLength)
	fixed := c.fixedSize()
	stored := 8*len(src) + 40*(1+len(src)/storedMax)
	bit := uint64(0)
	if last {
		bit = 1
	}
	switch {
	case stored <= dynamic+dynamic/storedGain && stored <= fixed:
		return e.stored(dst, src, bit)
	case fixed <= dynamic:
		dst = e.bits.put(dst, bit|kindFixed<<1, 3)
		c.literalWords, c.distanceWords = c.fixedLiterals, c.fixedDistances
		return e.bits.fill(dst, fixed/8+2, m, c, &e.shapes)
	default:
		dst = e.bits.put(dst, bit|kindDynamic<<1, 3)
		dst = c.header(dst, &e.bits)
		assign(c.literalWords[:], c.literalLength[:])
		assign(c.distanceWords[:], c.distanceLength[:])
		return e.bits.fill(dst, dynamic/8+2, m, c, &e.shapes)
	}
}

// stored writes bytes uncompressed.
func (e *Encoder) stored(dst, src []byte, last uint64) []byte {
	for {
		part := src[:min(len(src), storedMax)]
		src = src[len(part):]
		bit := last
		if len(src) > 0 {
			bit = 0
		}
		dst = e.bits.finish(e.bits.put(dst, bit|kindStored<<1, 3))
		dst = binary.LittleEndian.AppendUint16(dst, uint16(len(part)))
		dst = binary.LittleEndian.AppendUint16(dst, ^uint16(len(part)))
		dst = append(dst, part...)
		if len(src) == 0 {
			return dst
		}
	}
}

// count counts the symbols of a block.
func (c *coder) count(literals []byte, seqs []sequence, s *shapes) {
	// Two counters per byte, because equal bytes often follow each other.
	var odd [256]uint32
	clear(c.literalCount[:])
	clear(c.distanceCount[:])
	even := (*[256]uint32)(c.literalCount[:])
	for ; len(literals) >= 2; literals = literals[2:] {
		even[literals[0]]++
		odd[literals[1]]++
	}
	if len(literals) > 0 {
		even[literals[0]]++
	}
	for b, n := range odd {
		even[b] += n
	}
	extra := 0
	for _, q := range seqs[:len(seqs)-1] {
		code := s.lengthCode[q.length]
		c.literalCount[code]++
		far := s.distance(q.distance)
		c.distanceCount[far]++
		extra += int(s.lengthExtra[code-lengthsFrom]) + int(s.distanceExtra[far])
	}
	c.extra = extra
	c.literalCount[endOfBlock]++
}

// prepare computes the lengths of all words, and the header with them.
func (c *coder) prepare() {
	c.huffman.lengths(c.literalCount[:], c.literalLength[:], wordMax)
	c.huffman.lengths(c.distanceCount[:], c.distanceLength[:], wordMax)
	c.literalsN, c.distancesN = literalCodes, distanceCodes
	for c.literalLength[c.literalsN-1] == 0 {
		c.literalsN-- // never below endOfBlock, which occurs
	}
	for c.distanceLength[c.distancesN-1] == 0 {
		c.distancesN--
	}
	c.findRuns()
	c.huffman.lengths(c.runCount[:], c.runLength[:], lengthMax)
	order := runOrder()
	for c.runLengthsN = lengthCodes; c.runLength[order[c.runLengthsN-1]] == 0; {
		c.runLengthsN--
	}
	c.headerLength = 3 + 5 + 5 + 4 + 3*c.runLengthsN
	for symbol, n := range c.runCount {
		c.headerLength += int(n) * (int(c.runLength[symbol]) + runExtra(symbol))
	}
}

// runOrder is the order of the lengths of the length code in the header.
func runOrder() [lengthCodes]uint8 {
	return [lengthCodes]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}
}

// runExtra returns the number of extra bits of a symbol of the length code.
func runExtra(symbol int) int {
	switch symbol {
	case 16:
		return 2
	case 17:
		return 3
	case 18:
		return 7
	default:
		return 0
	}
}

// findRuns encodes the lengths of both codes as lengths and repeats.
func (c *coder) findRuns() {
	var all [literalCodes + distanceCodes]uint8
	n := copy(all[:], c.literalLength[:c.literalsN])
	n += copy(all[n:], c.distanceLength[:c.distancesN])
	c.runsUsed = 0
	clear(c.runCount[:])
	for i := 0; i < n; {
		d, end := all[i], i+1
		for end < n && all[end] == d {
			end++
		}
		run := end - i
		i = end
		if d > 0 { // the first one is written itself
			c.run(uint16(d), 0)
			run--
		}
		for run >= 3 {
			switch {
			case d > 0:
				m := min(run, 6)
				c.run(16, m-3)
				run -= m
			case run <= 10:
				c.run(17, run-3)
				run = 0
			default:
				m := min(run, 138)
				c.run(18, m-11)
				run -= m
			}
		}
		for range run {
			c.run(uint16(d), 0)
		}
	}
}

func (c *coder) run(symbol uint16, extra int) {
	c.runs[c.runsUsed] = symbol | uint16(extra)<<8
	c.runsUsed++
	c.runCount[symbol]++
}

// header writes the lengths of the words.
func (c *coder) header(dst []byte, w *bitWriter) []byte {
	dst = w.put(dst, uint64(c.literalsN-lengthsFrom), 5)
	dst = w.put(dst, uint64(c.distancesN-1), 5)
	dst = w.put(dst, uint64(c.runLengthsN-4), 4)
	order := runOrder()
	for _, symbol := range order[:c.runLengthsN] {
		dst = w.put(dst, uint64(c.runLength[symbol]), 3)
	}
	assign(c.runWords[:], c.runLength[:])
	for _, r := range c.runs[:c.runsUsed] {
		symbol := r & 255
		a := c.runWords[symbol]
		dst = w.put(dst, uint64(a&0xffff)|uint64(r>>8)<<(a>>16), uint(a>>16)+uint(runExtra(int(symbol))))
	}
	return dst
}

// size is how many bits the block takes in words of such lengths.
func (c *coder) size(literals *[literalCodes]uint8, distances *[distanceCodes]uint8) int {
	n := c.extra
	for symbol, f := range c.literalCount {
		n += int(f) * int(literals[symbol])
	}
	for symbol, f := range c.distanceCount {
		n += int(f) * int(distances[symbol])
	}
	return n
}

// fixedSize is the same in words of the fixed codes, and 3 bits for the head of the block.
func (c *coder) fixedSize() int {
	n := 3 + c.extra
	for symbol, f := range c.literalCount {
		n += int(f) * int(c.fixedLiterals[symbol]>>16)
	}
	for _, f := range c.distanceCount {
		n += int(f) * 5
	}
	return n
}
