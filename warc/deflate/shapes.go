package deflate

// The alphabets of RFC 1951, 3.2.5.
const (
	literalCodes  = 286 // 256 bytes, the end of a block, 29 lengths
	distanceCodes = 30
	endOfBlock    = 256
	lengthsFrom   = 257
)

// shapes are the code and the number of extra bits of each length and distance.
type shapes struct {
	lengthCode    [matchMax + 1]uint16 // by length, from 3 on
	lengthBase    [literalCodes - lengthsFrom]uint16
	lengthExtra   [literalCodes - lengthsFrom]uint8
	distanceNear  [256]uint8 // by distance-1
	distanceFar   [256]uint8 // by (distance-1)>>7
	distanceBase  [distanceCodes]uint16
	distanceExtra [distanceCodes]uint8
}

func (s *shapes) init() {
	base := 3
	for code := range s.lengthBase {
		extra := max(code/4-1, 0)
		if code == len(s.lengthBase)-1 {
			base, extra = matchMax, 0 // the longest length has its own code
		}
		s.lengthBase[code], s.lengthExtra[code] = uint16(base), uint8(extra)
		for range 1 << extra {
			if base <= matchMax {
				s.lengthCode[base] = uint16(lengthsFrom + code)
			}
			base++
		}
	}
	base = 0
	for code := range s.distanceBase {
		extra := max(code/2-1, 0)
		s.distanceBase[code], s.distanceExtra[code] = uint16(base+1), uint8(extra)
		for range 1 << extra {
			if base < len(s.distanceNear) {
				s.distanceNear[base] = uint8(code)
			}
			s.distanceFar[base>>7] = uint8(code)
			base++
		}
	}
}

// distance returns the code of a distance, from 1 on.
func (s *shapes) distance(d uint16) uint8 {
	if d--; d < 256 {
		return s.distanceNear[d]
	}
	return s.distanceFar[d>>7]
}
