package inflate

import (
	"encoding/binary"
	"errors"
	"slices"
)

// The ways in which an input can be wrong.
var (
	ErrTruncated = errors.New("inflate: the input ends too early")
	ErrCorrupt   = errors.New("inflate: the input is corrupt")
	ErrLimit     = errors.New("inflate: the output is larger than the limit")
	ErrWork      = errors.New("inflate: too many blocks for what they hold")
)

// Bounds for blocks with their own codes. The tables of a block take about a microsecond; a block of 11 bytes can need
// them and contain nothing. So the number of such blocks is bounded in proportion to the bytes read and written. A
// server that flushes every line stays far below.
const (
	blocksFree   = 4096 // blocks in any case,
	blocksInput  = 32   // and one for so many bytes of input,
	blocksOutput = 256  // and one for so many bytes of output
)

const (
	matchMax  = 258
	overshoot = matchMax + 2       // bytes beyond the limit that may come out: two literals and a match
	slack     = overshoot + 32 + 1 // free bytes of dst while symbols are read: a match may copy beyond its end
	growMin   = 64 << 10           // bytes that dst grows by at least
)

// Decoder holds the tables of a block.
type Decoder struct {
	meanings meanings
	lengths  [lengthTable]entry
	words    [literalCodes + distanceCodes + 6]word // a repeat may lead beyond the end
	literals *[literalTable]entry                   // the tables at hand: own or fixed
	distance *[distanceTable]entry
	own      tables
	fixed    *tables // of the fixed codes; nil until the first block that has them
	blocks   int     // with codes of their own, since the call began
}

// tables are those of a block.
type tables struct {
	literals [literalTable]entry
	distance [distanceTable]entry
}

// NewDecoder makes a Decoder.
func NewDecoder() *Decoder {
	d := &Decoder{}
	d.meanings.init()
	return d
}

// reader gives the bits of src. Beyond its end there are zeros, which are counted.
type reader struct {
	src     []byte
	at      int
	bits    uint64
	n       uint // of bits
	padding int  // bytes of bits that are not in src
}

// fill makes n at least 56.
func (r *reader) fill() {
	if r.at+8 <= len(r.src) {
		r.bits |= binary.LittleEndian.Uint64(r.src[r.at:]) << (r.n & 63)
		r.at += int((63 - r.n) >> 3)
		r.n |= 56
		return
	}
	for ; r.n < 56; r.n += 8 {
		if r.at < len(r.src) {
			r.bits |= uint64(r.src[r.at]) << (r.n & 63)
			r.at++
		} else {
			r.padding++
		}
	}
}

// take gives n bits that are there.
func (r *reader) take(n uint) int {
	v := int(r.bits & (1<<n - 1))
	r.bits >>= n
	r.n -= n
	return v
}

// beyond says that bits were taken that are not in src.
func (r *reader) beyond() bool { return 8*r.padding > int(r.n) }

// Raw unpacks a DEFLATE stream at the start of src and appends what it holds to dst, up to limit bytes in all; more
// gives ErrLimit and at most overshoot bytes beyond. used is how many bytes of src the stream has; it means nothing
// after an error. Too many blocks for what they hold give ErrWork.
func (d *Decoder) Raw(dst, src []byte, limit int) (out []byte, used int, err error) {
	d.blocks = 0
	return d.stream(dst, src, limit, 0, len(dst))
}

// Blocks returns how many blocks with their own codes the last call has read. The tables of one take about a
// microsecond, however little it holds.
func (d *Decoder) Blocks() int { return d.blocks }

// stream is Raw for a stream before which the call has read so many bytes already, and which began to write at origin.
func (d *Decoder) stream(dst, src []byte, limit, read, origin int) (out []byte, used int, err error) {
	r := reader{src: src}
	base := len(dst)
	for last := false; !last; {
		r.fill()
		last = r.take(1) == 1
		switch r.take(2) {
		case 0:
			dst, err = r.stored(dst, limit)
		case 1:
			d.useFixed()
			dst, err = d.block(dst, base, &r, limit)
		case 2:
			if d.blocks++; d.blocks > blocksFree+(read+r.at)/blocksInput+(len(dst)-origin)/blocksOutput {
				return dst, 0, ErrWork
			}
			if err = d.useDynamic(&r); err == nil {
				dst, err = d.block(dst, base, &r, limit)
			}
		default:
			err = ErrCorrupt
		}
		if r.beyond() {
			err = ErrTruncated
		}
		if err != nil {
			return dst, 0, err
		}
	}
	return dst, r.place(), nil
}

// place is how many bytes of src were taken, the last one perhaps in part.
func (r *reader) place() int { return r.at - (int(r.n)/8 - r.padding) }

// stored copies a block that is not packed.
func (r *reader) stored(dst []byte, limit int) ([]byte, error) {
	at := r.place()
	r.bits, r.n, r.padding = 0, 0, 0
	if at+4 > len(r.src) {
		return dst, ErrTruncated
	}
	n := int(binary.LittleEndian.Uint16(r.src[at:]))
	if n^0xffff != int(binary.LittleEndian.Uint16(r.src[at+2:])) {
		return dst, ErrCorrupt
	}
	rest := r.src[at+4:]
	whole := n <= len(rest)
	n = min(n, len(rest))
	r.at = at + 4 + n
	if len(dst)+n > limit {
		return append(dst, rest[:max(limit+1-len(dst), 0)]...), ErrLimit
	}
	dst = append(dst, rest[:n]...)
	if !whole {
		return dst, ErrTruncated
	}
	return dst, nil
}

// useFixed has the next block read by the fixed codes.
func (d *Decoder) useFixed() {
	if d.fixed == nil {
		d.fixed = &tables{}
		for i := range d.words[:literalCodes] {
			n := word(8)
			switch {
			case 144 <= i && i < 256:
				n = 9
			case 256 <= i && i < 280:
				n = 7
			}
			d.words[i] = word(i)<<4 | n
		}
		build(d.fixed.literals[:], literalBits, d.words[:literalCodes], 0, d.meanings.literals[:])
		for i := range distanceCodes {
			d.words[i] = word(i)<<4 | 5
		}
		build(d.fixed.distance[:], distanceBits, d.words[:distanceCodes], 0, d.meanings.distances[:])
	}
	d.literals, d.distance = &d.fixed.literals, &d.fixed.distance
}

// useDynamic reads the codes of a block and makes their tables.
func (d *Decoder) useDynamic(r *reader) error {
	d.literals, d.distance = &d.own.literals, &d.own.distance
	r.fill()
	literals, distances, lengths := 257+r.take(5), 1+r.take(5), 4+r.take(4)
	if literals > 286 || distances > 30 {
		return ErrCorrupt
	}
	var n [lengthCodes]word
	order := [lengthCodes]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}
	for i, symbol := range order[:lengths] {
		if i&15 == 0 {
			r.fill()
		}
		n[symbol] = word(r.take(3))
	}
	k := 0
	for symbol, n := range n {
		d.words[k] = word(symbol)<<4 | n
		k += int(n+15) >> 4
	}
	if !build(d.lengths[:], lengthBits, d.words[:k], 0, d.meanings.lengths[:]) {
		return ErrCorrupt
	}
	if k = d.codeLengths(r, literals+distances); k < 0 {
		return ErrCorrupt
	}
	split, _ := slices.BinarySearch(d.words[:k], word(literals)<<4)
	if !build(d.literals[:], literalBits, d.words[:split], 0, d.meanings.literals[:]) ||
		!build(d.distance[:], distanceBits, d.words[split:k], literals, d.meanings.distances[:]) {
		return ErrCorrupt
	}
	return nil
}

// codeLengths reads the lengths of the words of so many symbols. The words go to d.words; it gives their number, or -1.
func (d *Decoder) codeLengths(r *reader, symbols int) int {
	const most = lengthBits + 7 // bits of a symbol
	i, k := 0, 0
	previous := word(0)
	for i < symbols {
		r.fill()
		bits, n := r.bits, r.n
		for n >= most && i < symbols {
			e := d.lengths[bits&(lengthTable-1)]
			before := bits
			bits >>= e & 63
			n -= e.used()
			if e&isLiteral != 0 {
				previous = word(e >> 16)
				d.words[k] = word(i)<<4 | previous
				k += int(previous+15) >> 4
				i++
				continue
			}
			if e&isNone != 0 || e&isAgain != 0 && i == 0 {
				r.n = n + e.used() - e.length() // what follows the word was not needed
				return -1
			}
			again := e.plus(before)
			if e&isAgain == 0 {
				previous = 0
			} else if previous > 0 {
				for j := range again {
					d.words[k+j] = word(i+j)<<4 | previous
				}
				k += again
			}
			i += again
		}
		r.bits, r.n = bits, n
	}
	if i > symbols || r.beyond() {
		return -1
	}
	return k
}

// grow makes room for at least slack bytes more.
func grow(dst []byte, limit int) []byte {
	return slices.Grow(dst, min(max(len(dst), growMin), max(limit-len(dst), 0))+slack)
}

// block unpacks one block. The stream began at base in dst.
func (d *Decoder) block(dst []byte, base int, r *reader, limit int) ([]byte, error) {
	for {
		if len(dst) > limit {
			return dst, ErrLimit
		}
		if cap(dst)-len(dst) < slack {
			dst = grow(dst, limit)
		}
		var state blockState
		if dst, state = d.fast(dst, base, r, limit); state == blockMore && len(dst) <= limit {
			dst, state = d.careful(dst, base, r)
		}
		switch state {
		case blockEnd:
			return dst, nil
		case blockCorrupt:
			return dst, ErrCorrupt
		case blockTruncated:
			return dst, ErrTruncated
		case blockMore:
		}
	}
}

type blockState uint8

const (
	blockMore blockState = iota
	blockEnd
	blockCorrupt
	blockTruncated
)

// look returns the entry of the next word of a table. The first bits of a word in a second table are taken.
func (r *reader) look(table []entry, first uint) entry {
	e := table[r.bits&(1<<first-1)]
	if e&isLink != 0 {
		r.take(first)
		e = table[e.value()+int(r.bits&(1<<e.length()-1))]
	}
	return e
}

// careful reads one symbol, wherever src ends.
func (d *Decoder) careful(dst []byte, base int, r *reader) ([]byte, blockState) {
	r.fill()
	e := r.look(d.literals[:], literalBits)
	before := r.bits
	r.take(e.used())
	switch {
	case r.beyond():
		return dst, blockTruncated
	case e&isNone != 0:
		return dst, blockCorrupt
	case e&isEnd != 0:
		return dst, blockEnd
	case e&isLiteral != 0:
		return append(dst, byte(e>>16)), blockMore
	}
	length := e.plus(before)
	e = r.look(d.distance[:], distanceBits)
	before = r.bits
	r.take(e.used())
	distance := e.plus(before)
	switch {
	case r.beyond():
		return dst, blockTruncated
	case e&isNone != 0 || distance > len(dst)-base:
		return dst, blockCorrupt
	}
	for range length {
		dst = append(dst, dst[len(dst)-distance])
	}
	return dst, blockMore
}

// refill makes n at least 56. n counts modulo 64, and src must have eight bytes at at.
func refill(src []byte, at int, bits uint64, n uint) (uint64, int, uint) {
	return bits | binary.LittleEndian.Uint64(src[at:at+8])<<(n&63), at + int(^n>>3&7), n | 56
}

// follow returns the entry of the second table to which e links, or e. bits are those behind the first table's.
func follow(table []entry, e entry, bits uint64) entry {
	if e&isLink == 0 {
		return e
	}
	return table[e.value()+int(bits&(1<<e.length()-1))]
}

// fast reads symbols while src has sixteen bytes more and dst has room. It leaves the end of the block to careful.
//
// n counts modulo 64. The entry of the next word is looked up before the bytes of a match are copied, so that the
// processor does both at once. at >= 0 always holds; it lets the compiler leave out a check.
func (d *Decoder) fast(dst []byte, base int, r *reader, limit int) ([]byte, blockState) {
	buf, o, src, at, bits, n := dst[:cap(dst)], len(dst), r.src[:len(r.src):len(r.src)], r.at, r.bits, r.n
	stop, state := min(len(buf)-slack, limit), blockMore
	literals, distances := d.literals, d.distance
	if at > len(src)-16 {
		return dst, state
	}
	bits, at, n = refill(src, at, bits, n)
	e := literals[bits&(1<<literalBits-1)]
	for at >= 0 && at <= len(src)-16 && o <= stop {
		if e&isLiteral != 0 {
			bits, n = bits>>(e&63), n-uint(e)
			buf[o], o = byte(e>>16), o+1
			e = literals[bits&(1<<literalBits-1)]
			if e&isLiteral != 0 {
				bits, n = bits>>(e&63), n-uint(e)
				buf[o], o = byte(e>>16), o+1
				e = literals[bits&(1<<literalBits-1)]
			}
			bits, at, n = refill(src, at, bits, n)
			if e&isLiteral != 0 {
				bits, n = bits>>(e&63), n-uint(e)
				buf[o], o = byte(e>>16), o+1
				e = literals[bits&(1<<literalBits-1)]
				if e&isLiteral != 0 {
					continue
				}
				bits, at, n = refill(src, at, bits, n)
			}
		}
		if e&isSpecial != 0 {
			if e = follow(literals[:], e, bits>>literalBits); e&isSpecial != 0 {
				break
			}
			bits, n = bits>>literalBits, n-literalBits
			if e&isLiteral != 0 {
				bits, n = bits>>(e&63), n-uint(e)
				buf[o], o = byte(e>>16), o+1
				bits, at, n = refill(src, at, bits, n)
				e = literals[bits&(1<<literalBits-1)]
				continue
			}
		}
		length := e.plus(bits)
		bits, n = bits>>(e&63), n-uint(e)
		e = distances[bits&(1<<distanceBits-1)]
		if e&isSpecial != 0 {
			if e = follow(distances[:], e, bits>>distanceBits); e&isSpecial != 0 {
				state = blockCorrupt
				break
			}
			bits, n = bits>>distanceBits, n-distanceBits
		}
		from := o - e.plus(bits)
		bits, n = bits>>(e&63), n-uint(e)
		if from < base {
			state = blockCorrupt
			break
		}
		bits, at, n = refill(src, at, bits, n)
		e = literals[bits&(1<<literalBits-1)]
		end := o + length
		if o-from < 16 {
			copyNear(buf, o, from, end)
			o = end
			continue
		}
		to, of := (*[32]byte)(buf[o:o+32]), (*[32]byte)(buf[from:from+32])
		*(*[16]byte)(to[:]) = *(*[16]byte)(of[:]) // what is too much is written over
		*(*[16]byte)(to[16:]) = *(*[16]byte)(of[16:])
		for o, from = o+32, from+32; o < end; o, from = o+16, from+16 {
			*(*[16]byte)(buf[o : o+16]) = *(*[16]byte)(buf[from : from+16])
		}
		o = end
	}
	r.at, r.bits, r.n = at, bits, n&63
	return buf[:o], state
}

// copyNear copies a match that overlaps itself within sixteen bytes.
func copyNear(buf []byte, o, from, end int) {
	if o-from >= 8 {
		for ; o < end; o, from = o+8, from+8 {
			*(*[8]byte)(buf[o:]) = *(*[8]byte)(buf[from:])
		}
		return
	}
	for ; o < end; o, from = o+1, from+1 {
		buf[o] = buf[from]
	}
}
