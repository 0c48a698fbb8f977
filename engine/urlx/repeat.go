package urlx

import "bytes"

const (
	repeatPeriod   = 4  // segments of the longest group whose repetition is looked for
	repeatSegments = 64 // segments of a path that are looked at
)

// Repeats says whether the path of a normal form, its query left out, has the same one to four segments more than max times in a
// row, which is what relative links make that lead into themselves. It looks at the first 64 segments, and no closer than at their number if
// they are few. It allocates nothing. With max below 1 the answer is no.
func Repeats(url []byte, max int) bool {
	if max < 1 || bytes.Count(url, []byte{'/'}) <= max+2 { // two stand before the host
		return false
	}
	_, path := Split(url)
	if at := bytes.IndexByte(path, '?'); at >= 0 {
		path = path[:at]
	}
	var room [repeatSegments]mark
	marks := room[:0]
	for from := 0; from < len(path) && len(marks) < repeatSegments; {
		n := bytes.IndexByte(path[from+1:], '/')
		if n < 0 {
			n = len(path) - from - 1
		}
		marks = append(marks, markOf(from, path[from:from+1+n]))
		from += 1 + n
	}
	for period := 1; period <= repeatPeriod && period*(max+1) <= len(marks); period++ {
		alike := 0 // segments in a row that are as the ones a period before
		for i := period; i < len(marks); i++ {
			if a, b := marks[i-period], marks[i]; a.look != b.look || !bytes.Equal(path[a.from:a.end], path[b.from:b.end]) {
				alike = 0
			} else if alike++; alike >= period*max {
				return true
			}
		}
	}
	return false
}

// mark is a segment with the slash before it.
type mark struct {
	from, end uint16
	look      uint32 // segments that look different are
}

func markOf(from int, segment []byte) mark {
	n := len(segment)
	return mark{uint16(from), uint16(from + n), uint32(n)<<16 | uint32(segment[n/2])<<8 | uint32(segment[n-1])}
}
