package deflate

import "encoding/binary"

const (
	wordMax     = 14 // bits of a word, so that a token and the waiting bits fit into 64; the standard allows 15
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
	firstCount     [indexes]uint32
	secondCount    [indexes]uint32
	literalCount   [literalCodes]uint32
	distanceCount  [distanceCodes]uint32
	literalLength  [literalCodes]uint8
	distanceLength [distanceCodes]uint8
	literals       huffman
	distances      huffman
	literalWords   [literalCodes]word
	distanceWords  [distanceCodes]word
	codes          codes

	// The lengths are written in a separate code: symbols 0 to 15 are lengths, 16 to 18 repeat.
	runs         [literalCodes + distanceCodes]uint16 // symbol, and its extra bits above bit 8
	runsUsed     int
	runCount     [lengthCodes]uint32
	runLength    [lengthCodes]uint8
	runWords     [lengthCodes]word
	runLengthsN  int // number of runLengths that are written
	lengths      huffman
	literalsN    int
	distancesN   int
	headerLength int // bits

	fixedLiterals  [literalCodes]word
	fixedDistances [distanceCodes]word
}

// codes are what is written for the indexes of a token.
type codes struct {
	first, second struct {
		bits   [indexes]uint32
		length [indexes]uint8
	}
	secondAll [indexes]uint8 // length with the extra bits of a distance
	end       word
}

func (c *coder) init() {
	var h huffman
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
		h.used[i] = uint32(i)
	}
	var words [288]word
	h.usedN = len(words)
	h.assign(words[:], length[:])
	copy(c.fixedLiterals[:], words[:])
	for i := range 32 {
		length[i] = 5
	}
	h.usedN = 32
	h.assign(words[:], length[:])
	copy(c.fixedDistances[:], words[:])
}

// block writes the current block in the shortest of its forms, but stores it if that is only a little longer. Most
// blocks that do not become smaller are bodies that the server has compressed; the small gain would cost a word per
// byte.
func (e *Encoder) block(dst []byte, last bool) []byte {
	m, c := &e.matcher, &e.coder
	if e.start == 0 {
		m.begin(e.end)
	}
	m.find(e.start, e.end)
	bit := uint64(0)
	if last {
		bit = 1
	}
	if m.isNoise(e.end - e.start) {
		return e.stored(dst, m.buf.slice(e.start, e.end), bit)
	}
	c.count(m)
	c.prepare()
	dynamic, fixed := c.sizes()
	stored := 8*(e.end-e.start) + 40*(1+(e.end-e.start)/storedMax)
	switch {
	case stored <= dynamic+dynamic/storedGain && stored <= fixed:
		return e.stored(dst, m.buf.slice(e.start, e.end), bit)
	case fixed <= dynamic:
		e.bits.put(bit|kindFixed<<1, 3)
		c.tables(&c.fixedLiterals, &c.fixedDistances)
	default:
		e.bits.put(bit|kindDynamic<<1, 3)
		c.header(&e.bits)
		c.literals.assign(c.literalWords[:], c.literalLength[:])
		c.distances.assign(c.distanceWords[:], c.distanceLength[:])
		c.tables(&c.literalWords, &c.distanceWords)
	}
	e.bits.putTokens(m, &c.codes)
	e.bits.put(uint64(c.codes.end.bits()), c.codes.end.length())
	return e.bits.flush(dst)
}

// sizes returns the bits of the block with its own codes and with the fixed ones.
func (c *coder) sizes() (dynamic, fixed int) {
	extra := 0
	for code, n := range c.literalCount[lengthsFrom:] {
		_, _, bits := lengthRange(lengthsFrom + code)
		extra += int(n) * int(bits)
	}
	for code, n := range c.distanceCount {
		extra += int(n) * distanceExtra(code)
	}
	dynamic = c.headerLength + extra + c.literals.cost(c.literalLength[:]) + c.distances.cost(c.distanceLength[:])
	fixed = 3 + extra
	for _, x := range c.literals.used[:c.literals.usedN] {
		fixed += int(x>>9) * int(c.fixedLiterals[x&511].length())
	}
	for _, x := range c.distances.used[:c.distances.usedN] {
		fixed += int(x>>9) * 5
	}
	return dynamic, fixed
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
		e.bits.put(bit|kindStored<<1, 3)
		dst = e.bits.finish(dst)
		dst = binary.LittleEndian.AppendUint16(dst, uint16(len(part)))
		dst = binary.LittleEndian.AppendUint16(dst, ^uint16(len(part)))
		dst = append(dst, part...)
		if len(src) == 0 {
			return dst
		}
	}
}

// count counts the symbols of a block.
func (c *coder) count(m *matcher) {
	first, second := &c.firstCount, &c.secondCount
	clear(first[:])
	clear(second[:])
	for _, t := range m.tokens[:m.tokensN] {
		first[t%indexes]++
		second[t>>indexBits%indexes]++
	}
	for _, r := range m.runs[:m.runsN] {
		literals := m.buf.slice(r.from, r.to)
		for ; len(literals) >= 2; literals = literals[2:] {
			first[literals[0]]++
			second[literals[1]]++
		}
		if len(literals) > 0 {
			first[literals[0]]++
		}
	}
	for i := range 256 {
		c.literalCount[i] = first[i] + second[i]
	}
	c.literalCount[endOfBlock] = 1
	for code := lengthsFrom; code < literalCodes; code++ {
		from, to, _ := lengthRange(code)
		sum := uint32(0)
		for _, n := range first[indexMatch+from : indexMatch+to] {
			sum += n
		}
		c.literalCount[code] = sum
	}
	copy(c.distanceCount[:], second[indexMatch:])
}

// tables computes what is written for each index of a token that occurs.
func (c *coder) tables(literals *[literalCodes]word, distances *[distanceCodes]word) {
	t := &c.codes
	for _, x := range c.literals.used[:c.literals.usedN] {
		symbol := int(x & 511)
		w := literals[symbol]
		switch {
		case symbol < endOfBlock:
			t.first.bits[symbol], t.second.bits[symbol] = w.bits(), w.bits()
			n := uint8(w.length())
			t.first.length[symbol], t.second.length[symbol], t.secondAll[symbol] = n, n, n
		case symbol > endOfBlock:
			from, to, extra := lengthRange(symbol)
			for i := from; i < to; i++ {
				t.first.bits[indexMatch+i] = w.bits() | uint32(i-from)<<w.length()
				t.first.length[indexMatch+i] = uint8(w.length() + extra)
			}
		}
	}
	for _, x := range c.distances.used[:c.distances.usedN] {
		code := int(x & 511)
		w := distances[code]
		t.second.bits[indexMatch+code], t.second.length[indexMatch+code] = w.bits(), uint8(w.length())
		t.secondAll[indexMatch+code] = uint8(int(w.length()) + distanceExtra(code))
	}
	t.end = literals[endOfBlock]
}

// prepare computes the lengths of all words, and the header with them.
func (c *coder) prepare() {
	c.literals.lengths(c.literalCount[:], c.literalLength[:], wordMax)
	c.distances.lengths(c.distanceCount[:], c.distanceLength[:], wordMax)
	c.literalsN = int(c.literals.used[c.literals.usedN-1]&511) + 1 // at least endOfBlock, which occurs
	c.distancesN = int(c.distances.used[c.distances.usedN-1]&511) + 1
	c.findRuns()
	c.lengths.lengths(c.runCount[:], c.runLength[:], lengthMax)
	order := runOrder()
	for c.runLengthsN = lengthCodes; c.runLength[order[c.runLengthsN-1]] == 0; {
		c.runLengthsN--
	}
	c.headerLength = 3 + 5 + 5 + 4 + 3*c.runLengthsN + c.lengths.cost(c.runLength[:])
	for symbol := 16; symbol < lengthCodes; symbol++ {
		c.headerLength += int(c.runCount[symbol]) * int(runExtra(symbol))
	}
}

// runOrder is the order of the lengths of the length code in the header.
func runOrder() [lengthCodes]uint8 {
	return [lengthCodes]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}
}

// runExtra returns the number of extra bits of a symbol of the length code.
func runExtra(symbol int) uint {
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
func (c *coder) header(w *bitWriter) {
	w.put(uint64(c.literalsN-lengthsFrom)|uint64(c.distancesN-1)<<5|uint64(c.runLengthsN-4)<<10, 5+5+4)
	order := runOrder()
	for _, symbol := range order[:c.runLengthsN] {
		w.put(uint64(c.runLength[symbol]), 3)
	}
	c.lengths.assign(c.runWords[:], c.runLength[:])
	for _, r := range c.runs[:c.runsUsed] {
		symbol := r & 255
		a := c.runWords[symbol]
		w.put(uint64(a.bits())|uint64(r>>8)<<a.length(), a.length()+runExtra(int(symbol)))
	}
}
