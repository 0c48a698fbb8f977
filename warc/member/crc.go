package member

import (
	"fmt"
	"hash/crc32"
)

// A CRC-32 is the remainder of a polynomial division. So if the first part of a text changes, its checksum can be
// computed from the checksums of the parts: crc(A|B) = crc(A)*x^(8*len(B)) + crc(B), modulo the polynomial. Polynomials
// are stored as in gzip: the coefficient of x^0 is the highest bit.

// crcPoly is the polynomial of gzip, in that order of bits.
const crcPoly = crc32.IEEE

// crcMultiply returns a*b modulo the polynomial.
func crcMultiply(a, b uint32) uint32 {
	var p uint32
	for m := uint32(1) << 31; m != 0; m >>= 1 {
		if a&m != 0 {
			p ^= b
		}
		carry := b & 1
		b >>= 1
		b ^= crcPoly & -carry
	}
	return p
}

// crcShift returns x^(8*n) modulo the polynomial: the factor by which n more bytes multiply a checksum.
func crcShift(n int64) uint32 {
	p := uint32(1) << 31      // x^0
	square := uint32(1) << 23 // x^8
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			p = crcMultiply(square, p)
		}
		square = crcMultiply(square, square)
	}
	return p
}

// crcJoin returns the checksum of A|B, where shift is crcShift(len(B)).
func crcJoin(a, b, shift uint32) uint32 { return crcMultiply(shift, a) ^ b }

// What may be unpacked of a file: UnpackedFree bytes, and UnpackedMost bytes for each one that was read. DEFLATE cannot
// reach this, zstd can by a thousand times.
const (
	UnpackedFree = 256 << 20
	UnpackedMost = 1100
)

// Charge counts n unpacked bytes. What decodes content further counts its bytes, too. The error wraps ErrTooLarge: the
// file unpacks to more than it may.
func (z *Reader) Charge(n int) error {
	z.furthest = max(z.furthest, z.Offset())
	z.unpacked += int64(n)
	if z.unbounded || z.unpacked <= UnpackedFree+UnpackedMost*z.furthest {
		return nil
	}
	return fmt.Errorf("%w: more than %d MiB and %d bytes are unpacked for each byte of the file: unpack it with zstd -d, "+
		"and name the result", ErrTooLarge, UnpackedFree>>20, UnpackedMost)
}
