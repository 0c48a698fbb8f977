package inflate

import "math/bits"

// entry says what the next bits mean.
//
//	bits 0-5    used: how many bits the word takes (in a second table: what is left of it), with those that follow it
//	bit  6      the end of the block
//	bit  7      no word
//	bits 8-11   length of the word without the bits that follow; of a link: how many bits more its table needs
//	bit  12     link: look further in the table at value
//	bit  14     of code lengths: the previous length is repeated
//	bit  15     a literal, which is value
//	bits 16-31  value: the literal, or the least length, distance or number of repeats
//
// used is in the lowest bits, and nothing beside it is set in the low byte of a word: so an entry can be subtracted as
// it is from a number of bits that counts modulo 64.
type entry uint32

const (
	isEnd     entry = 1 << 6
	isNone    entry = 1 << 7
	isLink    entry = 1 << 12
	isAgain   entry = 1 << 14
	isSpecial       = isLink | isEnd | isNone
	isLiteral entry = 1 << 15
)

func (e entry) used() uint   { return uint(e & 63) }
func (e entry) length() uint { return uint(e >> 8 & 15) }
func (e entry) value() int   { return int(e >> 16) }

// plus returns value and the bits that follow the word, which begins bits.
func (e entry) plus(bits uint64) int { return e.value() + int(bits&(1<<(e&63)-1)>>(e>>8&63)) }

// ofLength returns the entry of a symbol whose word has n bits (in a second table: are left). meaning has the number of
// bits that follow in used.
func (e entry) ofLength(n uint) entry { return e + entry(n) | entry(n)<<8 }

const (
	wordMax       = 15 // bits
	literalBits   = 11
	distanceBits  = 8
	lengthBits    = 7
	literalCodes  = 288 // two of them stand for nothing
	distanceCodes = 32  // the same
	lengthCodes   = 19

	// The most entries that complete codes of so many words can need, by zlib's program enough.
	literalTable  = 2342
	distanceTable = 402
	lengthTable   = 1 << lengthBits
)

// meanings are the entries of all symbols, without the lengths of their words.
type meanings struct {
	literals  [literalCodes]entry
	distances [distanceCodes]entry
	lengths   [lengthCodes]entry
}

func (m *meanings) init() {
	for i := range 256 {
		m.literals[i] = isLiteral | entry(i)<<16
	}
	m.literals[256] = isEnd
	base := 3
	for i := 257; i < 285; i++ {
		extra := max((i-257)/4-1, 0)
		m.literals[i] = entry(extra) | entry(base)<<16
		base += 1 << extra
	}
	m.literals[285] = 258 << 16
	m.literals[286], m.literals[287] = isNone, isNone
	base = 1
	for i := range 30 {
		extra := max(i/2-1, 0)
		m.distances[i] = entry(extra) | entry(base)<<16
		base += 1 << extra
	}
	m.distances[30], m.distances[31] = isNone, isNone
	for i := range 16 {
		m.lengths[i] = isLiteral | entry(i)<<16
	}
	m.lengths[16] = isAgain | 2 | 3<<16
	m.lengths[17] = 3 | 3<<16
	m.lengths[18] = 7 | 11<<16
}

// word is a symbol that has a word, and the length of the word: symbol<<4 | length.
type word uint16

// build fills a table of 1<<first entries, and second ones behind it, with these words. Their symbols ascend, and least
// is the first that can be. It is false for lengths that leave words over or ask for too many; a single word of one bit
// may leave the other over, and no word at all leaves all.
func build(table []entry, first uint, words []word, least int, meaning []entry) bool {
	var count [wordMax + 1]int
	for _, w := range words {
		count[w&15]++
	}
	longest := uint(wordMax)
	for longest > 0 && count[longest] == 0 {
		longest--
	}
	room := 1
	var next [wordMax + 2]int // where the symbols of each length go
	for n := uint(1); n <= longest; n++ {
		if room = room<<1 - count[n]; room < 0 {
			return false
		}
		next[n+1] = next[n] + count[n]
	}
	if room > 0 && longest > 1 {
		return false
	}
	var sorted [literalCodes]uint16
	for _, w := range words {
		sorted[next[w&15]] = uint16(int(w>>4) - least)
		next[w&15]++
	}
	// Words of up to first bits. The table of the words of n bits is twice the one of n-1 bits, and the new words in
	// it. What is copied where a longer word belongs is written over, since nothing is left over; of a single word that
	// leaves the other over, isNone stays.
	table[0] = isNone
	code, at := 0, 0 // the next word, and symbol
	for n := uint(1); n <= first; n++ {
		copy(table[1<<(n-1):1<<n], table[:1<<(n-1)])
		code <<= 1
		for left := count[n]; left > 0; left-- {
			table[bits.Reverse16(uint16(code)<<(16-n))] = meaning[sorted[at]].ofLength(n)
			at++
			code++
		}
	}
	used := 1 << first // entries
	var link struct{ at, from, bits int }
	link.at = -1
	for n := first + 1; n <= longest; n++ {
		code <<= 1
		for left := count[n]; left > 0; left-- {
			e := meaning[sorted[at]].ofLength(n - first)
			at++
			word := int(bits.Reverse16(uint16(code) << (16 - n)))
			code++
			if prefix := word & (1<<first - 1); prefix != link.at {
				// As many bits as the longest word with this prefix has.
				size := n - first
				for room := 1<<size - left; room > 0 && size+first < longest; {
					size++
					room = room<<1 - count[size+first]
				}
				link.at, link.from, link.bits = prefix, used, int(size)
				used += 1 << size
				table[prefix] = isLink | entry(first) | entry(size)<<8 | entry(link.from)<<16
			}
			for i := word >> first; i < 1<<link.bits; i += 1 << (n - first) {
				table[link.from+i] = e
			}
		}
	}
	return true
}
