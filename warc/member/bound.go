package member

import "fmt"

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
