package inflate

import (
	"encoding/binary"
	"errors"
	"hash/adler32"
	"hash/crc32"
)

// ErrTrailing means that the bytes after the last member are no gzip member. All members were decompressed.
var ErrTrailing = errors.New("inflate: bytes after the end")

// The flags of a gzip header.
const (
	flagChecksum = 1 << 1
	flagExtra    = 1 << 2
	flagName     = 1 << 3
	flagComment  = 1 << 4
)

const (
	gzipHeader  = 10
	gzipTrailer = 8
)

// Gzip decompresses all members of src and appends their content to dst, up to limit bytes in all. More content gives
// ErrLimit, with at most overshoot bytes beyond the limit. The output before an error is returned.
func (d *Decoder) Gzip(dst, src []byte, limit int) ([]byte, error) {
	d.blocks = 0
	origin, size := len(dst), len(src)
	for first := true; first || len(src) > 0; first = false {
		out, used, err := d.member(dst, src, limit, size-len(src), origin)
		if used == 0 && err != nil && !first {
			err = ErrTrailing
		}
		if dst = out; err != nil {
			return dst, err
		}
		src = src[used:]
	}
	return dst, nil
}

// GzipMember decompresses the member at the start of src, as Gzip does. used is its length; it means nothing after an
// error. ErrTruncated may mean that src ends before the member does.
func (d *Decoder) GzipMember(dst, src []byte, limit int) (out []byte, used int, err error) {
	d.blocks = 0
	return d.member(dst, src, limit, 0, len(dst))
}

// member decompresses one member. read and origin are those of stream. After an error, used is 0 if the header is bad.
func (d *Decoder) member(dst, src []byte, limit, read, origin int) (out []byte, used int, err error) {
	head, err := headerOf(src)
	if err != nil {
		return dst, 0, err
	}
	base := len(dst)
	if dst, used, err = d.stream(dst, src[head:], limit, read, origin); err != nil {
		return dst, head, err
	}
	end := head + used
	if len(src)-end < gzipTrailer {
		return dst, head, ErrTruncated
	}
	if binary.LittleEndian.Uint32(src[end:]) != crc32.ChecksumIEEE(dst[base:]) ||
		binary.LittleEndian.Uint32(src[end+4:]) != uint32(len(dst)-base) {
		return dst, head, ErrCorrupt
	}
	return dst, end + gzipTrailer, nil
}

// headerOf gives the length of a member's header.
func headerOf(src []byte) (int, error) {
	if len(src) < gzipHeader {
		return 0, ErrTruncated
	}
	if src[0] != 0x1f || src[1] != 0x8b || src[2] != 8 {
		return 0, ErrCorrupt
	}
	n, flags := gzipHeader, src[3]
	if flags&flagExtra != 0 {
		if len(src) < n+2 {
			return 0, ErrTruncated
		}
		n += 2 + int(binary.LittleEndian.Uint16(src[n:]))
	}
	for _, text := range [...]byte{flagName, flagComment} {
		if flags&text == 0 {
			continue
		}
		for n < len(src) && src[n] != 0 {
			n++
		}
		n++
	}
	if flags&flagChecksum != 0 {
		if len(src) >= n+2 && binary.LittleEndian.Uint16(src[n:]) != uint16(crc32.ChecksumIEEE(src[:n])) {
			return 0, ErrCorrupt
		}
		n += 2
	}
	if n > len(src) {
		return 0, ErrTruncated
	}
	return n, nil
}

// Zlib decompresses a zlib stream (RFC 1950) without a dictionary at the start of src, as Gzip does. It ignores the
// bytes after the stream.
func (d *Decoder) Zlib(dst, src []byte, limit int) ([]byte, error) {
	const header, trailer = 2, 4
	if len(src) < header {
		return dst, ErrTruncated
	}
	if src[0]&0x0f != 8 || src[0]>>4 > 7 || src[1]&0x20 != 0 || binary.BigEndian.Uint16(src)%31 != 0 {
		return dst, ErrCorrupt
	}
	base := len(dst)
	dst, used, err := d.Raw(dst, src[header:], limit)
	if err != nil {
		return dst, err
	}
	if src = src[header+used:]; len(src) < trailer {
		return dst, ErrTruncated
	}
	if binary.BigEndian.Uint32(src) != adler32.Checksum(dst[base:]) {
		return dst, ErrCorrupt
	}
	return dst, nil
}
