package warc

import (
	"bytes"
	"io"
	"slices"

	"orbweaver/warc/member"
)

// content is the content of the members of a file, one after another, behind a buffer.
type content struct {
	src   member.Reader
	own   []byte
	buf   []byte // own, or the content of a member
	past  []byte // what was before buf, at most pastMost bytes
	r, w  int    // buf[r:w] was read and not used
	ended bool   // the current member has no more content
	inner int64  // number of bytes used of the current member
	// crossed is set if a record continues in another member. oneMember forbids it.
	crossed, oneMember bool
	atRecord           bool // a member begins here, with a record where another should continue
}

// reset starts with another file and keeps the memory.
func (c *content) reset(r io.Reader, o *ReaderOptions) {
	if c.own == nil {
		c.own = make([]byte, pastMost)
	}
	c.buf, c.past = c.own, c.past[:0]
	c.src.Reset(r, member.ReaderOptions{
		Base: o.Base, Dictionary: o.Dictionary, Form: o.Form, LengthAt: o.LengthAt, Unbounded: o.Unbounded,
		Start: o.Start, FirstRead: o.FirstRead,
	})
	c.r, c.w, c.ended, c.inner = 0, 0, true, 0
	c.crossed, c.oneMember, c.atRecord = false, o.OneMember, false
}

// fillBlock is fill within a block. A member that begins with a record ends the block with io.EOF.
func (c *content) fillBlock() error {
	err := c.fill(true)
	start := c.unused()
	start = start[:min(len(start), len(versionStart))]
	if c.atRecord = err == nil && c.crossed && c.inner == 0 && string(start) == versionStart; c.atRecord {
		return io.EOF
	}
	return err
}

// restart forgets what was read of a plain file, which was moved.
func (c *content) restart() { c.buf, c.past, c.r, c.w, c.ended = c.own, c.past[:0], 0, 0, false }

// pastMost is how many bytes before buf are kept, in any case.
const pastMost = 64 << 10

// reuse makes room behind the unused bytes, which are few, and keeps those before them.
func (c *content) reuse() {
	rest := c.unused()
	if len(c.buf) == len(c.own) && &c.buf[0] == &c.own[0] {
		if cap(c.past) < pastMost {
			c.past = make([]byte, pastMost)
		}
		c.own, c.past = c.past[:pastMost], c.own[:c.r]
	} else {
		c.past = append(c.past[:0], c.buf[max(0, c.r-pastMost):c.r]...)
	}
	c.buf, c.r, c.w = c.own, 0, copy(c.own, rest)
}

// before returns what is known of the content behind a place, n bytes ago or less, and how many of it were used.
func (c *content) before(n int64) (text []byte, used int) {
	used = int(min(n, int64(len(c.past)+c.r)))
	if used <= c.r {
		return c.buf[c.r-used : c.w], used
	}
	return slices.Concat(c.past[len(c.past)-(used-c.r):], c.buf[:c.w]), used
}

// goBack goes on at a part of what before has returned. used bytes of it were used.
func (c *content) goBack(text []byte, used int) {
	c.buf, c.past, c.r, c.w = text, c.past[:0], 0, len(text)
	c.inner -= int64(used)
}

// unused returns the bytes that were read and not used.
func (c *content) unused() []byte { return c.buf[c.r:c.w] }

// use marks n bytes as used.
func (c *content) use(n int) {
	c.r += n
	c.inner += int64(n)
}

// fill reads more content into buf, which must have space. Within a record it continues in the next member. io.EOF
// means the end of the file, or of the member if within is false.
func (c *content) fill(within bool) error {
	if c.r == c.w || c.w == len(c.buf) {
		c.reuse()
	}
	for {
		if c.ended {
			if !within || c.oneMember && !c.src.Plain() {
				return io.EOF
			}
			if err := c.src.Next(); err != nil {
				return err
			}
			c.ended, c.inner, c.crossed = false, 0, true
		}
		if c.w == 0 {
			if b := member.TakeContent(&c.src); b != nil {
				c.buf, c.w, c.ended = b, len(b), !c.src.Inside()
				return nil
			}
		}
		n, err := c.src.Read(c.buf[c.w:])
		c.w += n
		if err == io.EOF {
			c.ended, err = true, nil
		}
		if n > 0 || err != nil {
			return err
		}
	}
}

// beginRecord moves to the first byte of a record, in this member or the next. It skips empty lines and returns their
// number of bytes.
func (c *content) beginRecord() (skipped int, err error) {
	c.crossed, c.atRecord = false, false
	for {
		if c.ended && c.r == c.w {
			if err := c.src.Next(); err != nil {
				return 0, err
			}
			c.restart()
			c.inner = 0
		}
		for c.r < c.w && (c.buf[c.r] == '\r' || c.buf[c.r] == '\n') {
			c.use(1)
			skipped++
		}
		if c.r < c.w {
			return skipped, nil
		}
		if err := c.fill(false); err != nil && err != io.EOF {
			return 0, err
		}
	}
}

// findRecord moves to the next position where a record can start, after a fault.
func (c *content) findRecord() error {
	if c.src.Plain() {
		return c.findVersionLine()
	}
	c.buf, c.r, c.w, c.ended = c.own, 0, 0, true
	for c.src.Inside() { // the member itself is valid up to now: skip the rest of it
		if _, err := c.src.Read(c.buf); err != nil && err != io.EOF {
			break
		}
	}
	if c.src.Damaged() {
		return c.src.Resync()
	}
	return nil
}

// findVersionLine moves to the next line of a plain file that starts a record.
func (c *content) findVersionLine() error {
	mark := []byte("\nWARC/")
	for {
		b := c.unused()
		if bytes.HasPrefix(b, mark[1:]) {
			return nil
		}
		if i := bytes.Index(b, mark); i >= 0 {
			c.use(i + 1)
			return nil
		}
		if len(b) >= len(mark) {
			c.use(len(b) - len(mark) + 1)
		}
		if err := c.fill(false); err != nil {
			c.use(c.w - c.r)
			return err
		}
	}
}

// findInMember moves to the next record in the rest of a member that holds several. It returns false if there is none,
// at the end of the member or at damage.
func (c *content) findInMember() bool {
	for !c.crossed && c.findVersionLine() == nil {
		for !c.ended && len(c.unused()) < searchHeader && c.fill(false) == nil {
		}
		start := c.unused()
		if _, ok := soundHeader(bytes.NewReader(start[:min(len(start), searchHeader)])); ok {
			return true
		}
		c.use(1)
	}
	return false
}

// endRecord reads the two empty lines after a block into dst, or as many bytes of them as there are. Then it reads to
// the end of the member if no record follows in it, because this verifies the checksum.
func (c *content) endRecord(dst []byte) ([]byte, error) {
	for len(dst) < recordEnd {
		if c.r == c.w {
			err := c.fill(c.src.Plain() || c.crossed)
			if err == io.EOF {
				break
			}
			if err != nil {
				return dst, err
			}
			continue
		}
		b := c.buf[c.r]
		if b != "\r\n"[len(dst)&1] {
			break
		}
		dst = append(dst, b)
		c.use(1)
	}
	return dst, c.endMember()
}

// endMember reads to the end of the member if nothing else is left in it.
func (c *content) endMember() error {
	if c.r == c.w && !c.ended {
		if err := c.fill(false); err != nil && err != io.EOF {
			return err
		}
	}
	return nil
}

// slopMost is how many bytes behind a record, in its member, are taken for slop of the writer.
const slopMost = 64

// skipSlop moves to the end of the member, behind a record, if there are few bytes until there, which are no record. It
// returns how many it skipped.
func (c *content) skipSlop() (skipped int64, err error) {
	for !c.ended && len(c.unused()) <= slopMost {
		if err := c.fill(false); err != nil && err != io.EOF {
			return 0, err
		}
	}
	slop := c.unused()
	rest := bytes.TrimLeft(slop, "\r\n")
	if rest = rest[:min(len(rest), len(versionStart))]; len(slop) > slopMost || len(rest) > 0 && startsVersion(rest) {
		return 0, nil
	}
	c.use(len(slop))
	return int64(len(slop)), nil
}

// precedesRecord reports whether a record or the end of a plain file follows, behind empty lines.
func (c *content) precedesRecord() bool {
	for !c.ended && len(c.unused()) <= slopMost && c.fill(false) == nil {
	}
	rest := bytes.TrimLeft(c.unused(), "\r\n")
	rest = rest[:min(len(rest), len(versionStart))]
	return startsVersion(rest)
}

// skipRecord moves behind a record with so many bytes of its block left, without reading them. It returns false, and
// does nothing, unless the record is known to be all of its member.
func (c *content) skipRecord(remaining int64) bool {
	if c.ended || c.crossed || !member.SkipContent(&c.src, c.inner+remaining+recordEnd) {
		return false
	}
	c.r, c.w, c.ended = 0, 0, true
	return true
}

// recordEnd is the length of the two empty lines after a block.
const recordEnd = 4

// place returns the position of the next byte of content: exactly in a plain file, otherwise the start of the member.
func (c *content) place() int64 {
	if c.src.Plain() {
		return c.src.Offset() - int64(c.w-c.r)
	}
	return c.src.Start()
}
