package coding

// What a zstd body costs apart from its bytes are the tables of its blocks (RFC 8878): up to three state tables and a
// Huffman tree for each, some microseconds, for as little as 16 bytes. Encoders write a table only if it saves more
// than it takes. So the tables are bounded in proportion to the encoded bytes, as internal/inflate bounds blocks.
const (
	tablesFree  = 4096 // tables in any case,
	tablesInput = 32   // and one for so many encoded bytes
)

// affordable is how many bytes of a zstd body have no more tables than their number allows: all of them, or those
// before a block. It reads the headers of frames and blocks; where they cannot be read, the decoder will say so.
func affordable(body []byte) int {
	tables := 0
	for at := 0; ; {
		n, skip := frameHeader(body[at:])
		if at += n; n == 0 || at > len(body) {
			return len(body)
		}
		if skip {
			continue
		}
		checksum := body[at-n+4]&4 != 0
		for last := false; !last; {
			if at+3 > len(body) {
				return len(body)
			}
			header := int(body[at]) | int(body[at+1])<<8 | int(body[at+2])<<16
			size := header >> 3
			last = header&1 != 0
			switch header >> 1 & 3 {
			case 1: // one byte, repeated
				size = 1
			case 2:
				if tables += blockTables(body[at+3 : min(at+3+size, len(body))]); tables > tablesFree+at/tablesInput {
					return at
				}
			}
			if at += 3 + size; at > len(body) {
				return len(body)
			}
		}
		if checksum {
			at += 4
		}
		if at >= len(body) {
			return len(body)
		}
	}
}

// frameHeader gives the length of the frame header at the start of b, 0 if there is none; skip says that it is a whole
// frame to be skipped.
func frameHeader(b []byte) (n int, skip bool) {
	if len(b) < 8 {
		return 0, false
	}
	if b[0]&0xf0 == 0x50 && b[1] == 0x2a && b[2] == 0x4d && b[3] == 0x18 {
		return 8 + (int(b[4]) | int(b[5])<<8 | int(b[6])<<16 | int(b[7])<<24), true
	}
	if b[0] != 0x28 || b[1] != 0xb5 || b[2] != 0x2f || b[3] != 0xfd {
		return 0, false
	}
	descriptor := b[4]
	n = 5 + [4]int{0, 1, 2, 4}[descriptor&3] + [4]int{0, 2, 4, 8}[descriptor>>6]
	if single := descriptor&0x20 != 0; !single || descriptor>>6 == 0 {
		n++ // the window, or a content size of one byte
	}
	return n, false
}

// blockTables counts the tables that a compressed block brings.
func blockTables(b []byte) (tables int) {
	if len(b) < 2 {
		return 0
	}
	kind, format := b[0]&3, b[0]>>2&3
	var at int // where the sequences begin
	switch kind {
	case 0, 1: // raw, or one byte repeated
		switch format {
		case 1:
			at = 2 + (int(b[0])>>4 | int(b[1])<<4)
		case 3:
			if len(b) < 3 {
				return 0
			}
			at = 3 + (int(b[0])>>4 | int(b[1])<<4 | int(b[2])<<12)
		default:
			at = 1 + int(b[0]>>3)
		}
		if kind == 1 {
			at = [4]int{2, 3, 2, 4}[format]
		}
	default: // Huffman, with its tree or with the one before
		if kind == 2 {
			tables++
		}
		if len(b) < 5 {
			return tables
		}
		bits := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 | uint64(b[4])<<32
		switch format {
		case 2:
			at = 4 + int(bits>>18&(1<<14-1))
		case 3:
			at = 5 + int(bits>>22&(1<<18-1))
		default:
			at = 3 + int(bits>>14&(1<<10-1))
		}
	}
	if at >= len(b) {
		return tables
	}
	switch first := b[at]; {
	case first == 0:
		return tables
	case first == 255:
		at += 3
	case first >= 128:
		at += 2
	default:
		at++
	}
	if at >= len(b) {
		return tables
	}
	for modes := b[at] >> 2; modes != 0; modes >>= 2 {
		if modes&3 == 2 {
			tables++
		}
	}
	return tables
}
