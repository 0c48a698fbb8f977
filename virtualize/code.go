package virtualize

import (
	"math/bits"
	"slices"
)

const (
	codeBits = 11 // length of the longest code

	symEnd   = 0 // end of an item
	symByte  = 1 // the eight bits of a byte that is no visible character follow
	symCopy  = 2 // a length and a distance follow
	symFirst = 3 // the symbols of '!' to '~' start here
	charSyms = symFirst + '~' - '!' + 1

	contexts  = 37
	noContext = contexts - 1
	countSyms = 48
	countMax  = 1<<12 - 1 // the largest number that has a symbol
)

// code is a prefix code for writing and reading, low bits first.
type code struct {
	write []uint16              // by symbol: code << 4 | its length
	read  [1 << codeBits]uint16 // by the next bits: symbol << 4 | the length of its code
}

// newCode returns the canonical code for the given lengths, or nil if they are invalid: if a symbol has no code, or if
// some bits begin with none.
func newCode(lengths []uint8) *code {
	c := &code{write: make([]uint16, len(lengths))}
	next := uint32(0)
	for length := 1; length <= codeBits; length++ {
		for sym, l := range lengths {
			if int(l) != length {
				continue
			}
			if next >= 1<<length {
				return nil
			}
			mirrored := bits.Reverse32(next) >> (32 - length)
			c.write[sym] = uint16(mirrored<<4) | uint16(length)
			for at := mirrored; at < 1<<codeBits; at += 1 << length {
				c.read[at] = uint16(sym<<4 | length)
			}
			next++
		}
		next <<= 1
	}
	if next != 1<<(codeBits+1) || slices.Contains(c.write, 0) {
		return nil
	}
	return c
}

// codes are the codes of one model, 170 KB. They are immutable.
type codes struct {
	model   *model
	context [256]uint8 // by the preceding byte
	char    [contexts]*code
	share   *code
	copied  *code
}

// newCodes returns the codes of a model, or nil if it is invalid.
func newCodes(m *model) *codes {
	c := &codes{model: m, share: newCode(m.share[:]), copied: newCode(m.copied[:])}
	if c.share == nil || c.copied == nil {
		return nil
	}
	for i := range c.char {
		if c.char[i] = newCode(m.char[i][:]); c.char[i] == nil {
			return nil
		}
	}
	for b := range c.context {
		c.context[b] = contextOf(byte(b))
	}
	return c
}

// contextOf groups the bytes by what usually follows them.
func contextOf(b byte) uint8 {
	const marks = "/-._=&?%"
	switch {
	case b >= 'a' && b <= 'z':
		return b - 'a'
	case b >= '0' && b <= '9':
		return noContext - 2
	case b >= 'A' && b <= 'Z':
		return noContext - 1
	}
	for i := range marks {
		if marks[i] == b {
			return 'z' - 'a' + 1 + uint8(i)
		}
	}
	return noContext
}

// countSym returns the symbol for a number up to countMax, and the number of low bits that follow it.
func countSym(n uint32) (sym uint32, extra uint) {
	if n < 16 {
		return n, 0
	}
	top := uint(bits.Len32(n)) - 1
	return 16 + uint32(top-4)*4 + n>>(top-2)&3, top - 2
}

// countBase returns the smallest number of a symbol, and the number of low bits that follow.
func countBase(sym uint32) (n uint32, extra uint) {
	if sym < 16 {
		return sym, 0
	}
	top := uint(sym-16)/4 + 4
	return (4 + (sym-16)&3) << (top - 2), top - 2
}
