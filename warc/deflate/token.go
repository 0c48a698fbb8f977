package deflate

import "math/bits"

// token is one literal, a pair of literals, or a match. All have the same form, so that no branch depends on what it
// is: an index into the first table of codes, an index into the second above bit 9, and above bit 18 the extra bits of
// a distance.
//
//	         first                    second
//	literal  the byte                 secondNothing
//	pair     the byte                 the byte
//	match    indexMatch+length-3      indexMatch+code of the distance
type token uint32

const (
	indexBits     = 9
	indexes       = 1 << indexBits
	indexMatch    = 256
	secondNothing = indexes - 1
)

func literalToken(b byte) token { return token(b) | secondNothing<<indexBits }

// pairToken has the two low bytes of v.
func pairToken(v uint64) token { return token(v&0xff | v<<1&0x1fe00) }

func matchToken(length, distance int) token {
	code, extra := distanceCode(distance)
	return token(indexMatch+length-matchMin) | token(indexMatch+code)<<indexBits |
		token((distance-1)&(1<<(extra&31)-1))<<(2*indexBits)
}

// The alphabets of RFC 1951, 3.2.5.
const (
	literalCodes  = 286 // 256 bytes, the end of a block, 29 lengths
	distanceCodes = 30
	endOfBlock    = 256
	lengthsFrom   = 257
	lengthLast    = literalCodes - lengthsFrom - 1
)

// distanceCode returns the code of a distance, from 1 on, and the number of its extra bits.
func distanceCode(distance int) (code int, extra uint) {
	extra = uint(bits.Len32(uint32(distance-1)>>1|1)) - 1
	return int(2*extra) + (distance-1)>>(extra&31), extra
}

// distanceExtra returns the number of extra bits of a code.
func distanceExtra(code int) int { return max(code/2-1, 0) }

// lengthRange returns the lengths of a code, from lengthsFrom on, minus matchMin, and the number of extra bits.
func lengthRange(code int) (from, to int, extra uint) {
	switch code -= lengthsFrom; {
	case code < 8:
		return code, code + 1, 0
	case code == lengthLast:
		return matchMax - matchMin, matchMax - matchMin + 1, 0 // the longest length has its own code
	default:
		extra = uint(code)/4 - 1
		from = (4 + code&3) << extra
		return from, min(from+1<<extra, matchMax-matchMin), extra
	}
}
