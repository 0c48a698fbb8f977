package mining

import (
	"bytes"
	"strconv"

	"github.com/zeebo/xxh3"
)

// A numbered URL is a URL in parts: what stands before the number that its siblings have in its place, and behind it.
type numbered struct {
	before, after []byte // borrow the URL
	value         uint64
	width         int // of the number, if it begins with a zero
}

// digitsMost is the number of digits of a number that is one of a series. Longer ones are times and identifiers.
const digitsMost = 9

// numberOf finds the number of a path with query: the last one of the query, or else of the last part of the path. That
// of an extension, as in .mp3, is none.
func numberOf(path []byte) (n numbered, ok bool) {
	from, to := 0, len(path)
	if query := bytes.IndexByte(path, '?'); query >= 0 {
		from = query + 1
	} else {
		from = bytes.LastIndexByte(bytes.TrimSuffix(path, []byte{'/'}), '/') + 1
		if dot := bytes.LastIndexByte(path[from:], '.'); dot > 0 {
			to = from + dot
		}
	}
	end := to
	for end > from && !isDigit(path[end-1]) {
		end--
	}
	begin := end
	for begin > from && isDigit(path[begin-1]) {
		begin--
	}
	if begin == end || end-begin > digitsMost || // no part of an escape:
		bytes.IndexByte(path[max(begin-2, 0):begin], '%') >= 0 {
		return n, false
	}
	n = numbered{before: path[:begin], after: path[end:]}
	n.value, _ = strconv.ParseUint(string(path[begin:end]), 10, 64) // it has digitsMost digits at most
	if path[begin] == '0' && end-begin > 1 {
		n.width = end - begin
	}
	return n, true
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// key identifies the series of a numbered URL within its site.
func (n *numbered) key() uint64 {
	h := xxh3.Hash(n.before)
	return h*31 ^ xxh3.Hash(n.after)
}

// append appends the sibling with another number.
func (n *numbered) append(dst []byte, value uint64, width int) []byte {
	dst = append(dst, n.before...)
	digits := strconv.AppendUint(nil, value, 10)
	for range width - len(digits) {
		dst = append(dst, '0')
	}
	return append(append(dst, digits...), n.after...)
}

// series is what is known of the numbers of a series.
type series struct {
	key   uint64
	last  uint64
	step  uint64 // greatest common divisor of the differences; 0 as long as one number is known
	width int    // of a number that begins with a zero; 0 for none

	isProbed bool // a number between two steps was tried
}

// learn takes another number.
func (s *series) learn(n *numbered) {
	s.width = max(s.width, n.width)
	difference := max(n.value, s.last) - min(n.value, s.last)
	for a, b := s.step, difference; ; a, b = b, a%b {
		if b == 0 {
			s.step = a
			break
		}
	}
	s.last = n.value
}

// each calls f with the neighbours of a number: the next two and the one before; only the next one if no other number
// of the series is known. Of a larger step than 1 it tests once whether it is 1: links may lead to every second page of
// a series by chance.
func (s *series) each(value uint64, f func(uint64)) {
	if s.step == 0 {
		f(value + 1)
		return
	}
	f(value + s.step)
	f(value + 2*s.step)
	if value >= s.step {
		f(value - s.step)
	}
	if s.step > 1 && !s.isProbed {
		s.isProbed = true
		f(value + 1)
	}
}
