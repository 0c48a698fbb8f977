package bvgraph

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/bits"
)

// ErrCorrupt is wrapped by the errors of a Reader for bytes that are no graph.
var ErrCorrupt = errors.New("bvgraph: corrupt graph")

// bitWriter writes bits, the most significant first.
type bitWriter struct {
	w       *bufio.Writer
	acc     uint64 // the last n bits are not written
	n       uint
	written int64 // bits
}

// put writes the lowest width bits of v; width is at most 56.
func (b *bitWriter) put(v uint64, width uint) error {
	b.acc = b.acc<<width | v&(1<<width-1)
	b.n += width
	b.written += int64(width)
	for b.n >= 8 {
		b.n -= 8
		if err := b.w.WriteByte(byte(b.acc >> b.n)); err != nil {
			return err
		}
	}
	return nil
}

// unary writes v zeros and a one.
func (b *bitWriter) unary(v uint64) error {
	for ; v >= 32; v -= 32 {
		if err := b.put(0, 32); err != nil {
			return err
		}
	}
	return b.put(1, uint(v)+1)
}

// gamma writes a natural number in Elias' gamma code.
func (b *bitWriter) gamma(v uint64) error {
	v++
	width := uint(bits.Len64(v)) - 1
	if err := b.unary(uint64(width)); err != nil {
		return err
	}
	return b.put(v, width)
}

// zeta writes a natural number in the zeta code.
func (b *bitWriter) zeta(v uint64) error {
	v++
	h := (uint(bits.Len64(v)) - 1) / zetaK
	if err := b.unary(uint64(h)); err != nil {
		return err
	}
	left := uint64(1) << (h * zetaK)
	if v-left < left {
		return b.put(v-left, h*zetaK+zetaK-1)
	}
	return b.put(v, h*zetaK+zetaK)
}

// flush fills the last byte with zeros.
func (b *bitWriter) flush() error {
	if b.n > 0 {
		if err := b.w.WriteByte(byte(b.acc << (8 - b.n))); err != nil {
			return err
		}
		b.n = 0
	}
	return b.w.Flush()
}

// Lengths of the codes in bits.
func gammaBits(v uint64) int { return 2*bits.Len64(v+1) - 1 }

func zetaBits(v uint64) int {
	v++
	h := (bits.Len64(v) - 1) / zetaK
	left := uint64(1) << (h * zetaK)
	if v-left < left {
		return h + 1 + h*zetaK + zetaK - 1
	}
	return h + 1 + h*zetaK + zetaK
}

// bitReader reads bits. Its first error stays.
type bitReader struct {
	r   io.ByteReader
	acc byte
	n   uint // bits of acc that were not read
	err error
}

func (b *bitReader) fail(format string, args ...any) {
	if b.err == nil {
		b.err = fmt.Errorf("%w: %s", ErrCorrupt, fmt.Sprintf(format, args...))
	}
}

// fill reads the next byte.
func (b *bitReader) fill() bool {
	if b.err != nil {
		return false
	}
	c, err := b.r.ReadByte()
	if err == io.EOF { //nolint:errorlint // a ByteReader returns it unwrapped
		b.fail("the file ends in a list")
		return false
	}
	if err != nil {
		b.err = err
		return false
	}
	b.acc, b.n = c, 8
	return true
}

func (b *bitReader) get(width uint) (v uint64) {
	for width > 0 {
		if b.n == 0 && !b.fill() {
			return 0
		}
		take := min(width, b.n)
		b.n -= take
		v = v<<take | uint64(b.acc>>b.n)&(1<<take-1)
		width -= take
	}
	return v
}

// unary counts zeros up to a one: at most `most` of them.
func (b *bitReader) unary(most uint64) (v uint64) {
	for {
		if b.n == 0 && !b.fill() {
			return 0
		}
		rest := b.acc & (1<<b.n - 1)
		if rest == 0 {
			v += uint64(b.n)
			b.n = 0
			if v > most {
				b.fail("unary code beyond %d", most)
				return 0
			}
			continue
		}
		zeros := b.n - uint(bits.Len8(rest))
		b.n -= zeros + 1
		if v += uint64(zeros); v > most {
			b.fail("unary code beyond %d", most)
			return 0
		}
		return v
	}
}

// widthMax is the most bits of a number.
const widthMax = 54

func (b *bitReader) gamma() uint64 {
	width := uint(b.unary(widthMax))
	return (1<<width | b.get(width)) - 1
}

func (b *bitReader) zeta() uint64 {
	h := uint(b.unary(widthMax / zetaK))
	left := uint64(1) << (h * zetaK)
	v := b.get(h*zetaK + zetaK - 1)
	if v < left {
		return v + left - 1
	}
	return v<<1 + b.get(1) - 1
}

// toNatural maps 0, -1, 1, -2, 2 ... to 0, 1, 2, 3, 4 ...
func toNatural(v int64) uint64 {
	if v < 0 {
		return uint64(-v)<<1 - 1
	}
	return uint64(v) << 1
}

func fromNatural(v uint64) int64 {
	if v&1 == 1 {
		return -int64((v + 1) >> 1)
	}
	return int64(v >> 1)
}
