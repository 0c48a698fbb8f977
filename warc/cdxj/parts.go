package cdxj

import "bytes"

// Key returns the key of a line and its time of 14 digits. Both are parts of line.
func Key(line []byte) (key, stamp []byte) {
	key, rest, _ := bytes.Cut(line, []byte{' '})
	stamp, _, _ = bytes.Cut(rest, []byte{' '})
	return key, stamp
}

// Offset returns the offset in a line that Append and Lines have made; 0 if there is none. It costs less than
// ParseLine.
func Offset(line []byte) (offset int64) {
	const name = `"offset":"`
	at := bytes.LastIndex(line, []byte(name))
	if at < 0 {
		return 0
	}
	for _, c := range line[at+len(name):] {
		if c < '0' || c > '9' {
			break
		}
		offset = offset*10 + int64(c-'0')
	}
	return offset
}
