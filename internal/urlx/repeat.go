package urlx

import "bytes"

const (
	repeatPeriod   = 4  // segments of the longest group that is checked for repetition
	repeatSegments = 64 // segments of a path that are checked
)

// Repeats reports whether the path of a normal form, without its query, contains the same one to four segments more
// than max times in a row. Wrong relative links produce such paths. It checks the first 64 segments. It allocates
// nothing. If max is below 1 or above 63, it returns false.
func Repeats(url []byte, max int) bool {
	if max < 1 || max >= repeatSegments || bytes.Count(url, []byte{'/'}) <= max+2 { // two slashes stand before the host
		return false
	}
	_, path := Split(url)
	if at := bytes.IndexByte(path, '?'); at >= 0 {
		path = path[:at]
	}
	var buf [repeatSegments]segment
	marks := buf[:0]
	for from := 0; from < len(path) && len(marks) < repeatSegments; {
		n := bytes.IndexByte(path[from+1:], '/')
		if n < 0 {
			n = len(path) - from - 1
		}
		marks = append(marks, segmentOf(from, path[from:from+1+n]))
		from += 1 + n
	}
	for period := 1; period <= repeatPeriod && period*(max+1) <= len(marks); period++ {
		alike := 0 // consecutive segments that equal the one a period before
		for i := period; i < len(marks); i++ {
			if a, b := marks[i-period], marks[i]; a.summary != b.summary ||
				!bytes.Equal(path[a.from:a.end], path[b.from:b.end]) {
				alike = 0
			} else if alike++; alike >= period*max {
				return true
			}
		}
	}
	return false
}

// segment is a path segment with the slash before it: its offsets and a summary.
type segment struct {
	from, end uint16
	summary   uint32 // length and two bytes: segments with different summaries differ
}

func segmentOf(from int, text []byte) segment {
	n := len(text)
	return segment{uint16(from), uint16(from + n), uint32(n)<<16 | uint32(text[n/2])<<8 | uint32(text[n-1])}
}
