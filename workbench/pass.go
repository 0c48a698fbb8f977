package workbench

import "encoding/binary"

// frameBeyond is a position behind the end of each frame.
const frameBeyond = 1 << 30

// PassNumber returns the position after a number in b. It may be behind the end of b.
func passFrameNumber(b []byte, at int) int {
	for at < len(b) && b[at] >= 0x80 {
		at++
	}
	return at + 1
}

// PassBytes returns bytes after their length, and the position after them; Beyond if they do not end in b.
func passFrameBytes(b []byte, at int) (_ []byte, next int) {
	if at >= len(b) {
		return nil, frameBeyond
	}
	n := uint64(b[at])
	if at++; n >= 0x80 {
		var used int
		if n, used = binary.Uvarint(b[at-1:]); used <= 0 {
			return nil, frameBeyond
		}
		at += used - 1
	}
	if n > uint64(len(b)-at) {
		return nil, frameBeyond
	}
	return b[at : at+int(n)], at + int(n)
}
