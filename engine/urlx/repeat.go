package urlx

import "bytes"

// repeatPeriod is the longest group of segments whose repetition is looked for.
const repeatPeriod = 4

// Repeats says whether the path of a normal form, its query left out, has the same one to four segments more than max times in a
// row, which is what relative links make that lead into themselves. It allocates nothing, and looks closer only at paths that
// are long enough. With max below 1 the answer is no.
func Repeats(url []byte, max int) bool {
	path := url[min(authority(url), len(url)):]
	if max < 1 || len(path) < 2*max+2 || bytes.Count(path, []byte{'/'}) <= max+1 {
		return false // one more slash than segments before the last; the last one is no folder
	}
	_, path = Split(url)
	if at := bytes.IndexByte(path, '?'); at >= 0 {
		path = path[:at]
	}
	for period := 1; period <= repeatPeriod; period++ {
		if repeats(path, period, max) {
			return true
		}
	}
	return false
}

// repeats looks for groups of one length: a second place in the path runs so many segments ahead of the first.
func repeats(path []byte, period, max int) bool {
	ahead := path
	for range period {
		at := segment(ahead)
		if at == len(ahead) {
			return false
		}
		ahead = ahead[at:]
	}
	alike := 0 // segments in a row that are as they were a period before
	for len(ahead) > 0 {
		n, m := segment(path), segment(ahead)
		if bytes.Equal(path[:n], ahead[:m]) {
			if alike++; alike >= period*max {
				return true
			}
		} else {
			alike = 0
		}
		path, ahead = path[n:], ahead[m:]
	}
	return false
}

// segment is the length of the first segment with the slash before it.
func segment(path []byte) int {
	if at := bytes.IndexByte(path[1:], '/'); at >= 0 {
		return at + 1
	}
	return len(path)
}
