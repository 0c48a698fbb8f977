package warc

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"orbweaver/warc/member"
)

// swallowed returns the fault of a record whose Content-Length is too large, and moves to the record that begins in its
// block. used is how many bytes ago the block began. It does nothing unless a sound record begins there. toEnd says
// that the block ends behind the file. Then all records from there up to the end must be sound: a block that was cut
// short can hold such text. A plain file that can seek is read again; otherwise what is in memory is searched, which is
// the last pastMost bytes at least.
func (z *Reader) swallowed(rec *RecordRead, used int64, toEnd bool) *Fault {
	if rec.IsARC || z.o.Unbounded { // our own files have no such records
		return nil
	}
	c := &z.content
	if c.crossed && !c.src.Plain() || !member.GoBack(&c.src, used) {
		return nil
	}
	blockStart := c.place() - used
	if file, origin, ok := member.Search(&c.src); ok {
		at, ok := findSound(file, blockStart+origin, used, toEnd, false)
		if !ok || !member.MoveTo(&c.src, at-origin) {
			return nil
		}
		c.restart()
		return z.swallows(rec)
	}
	text, known := c.before(used)
	at, ok := findSound(bytes.NewReader(text), 0, int64(known), toEnd, !toEnd)
	if !ok {
		return nil
	}
	c.goBack(text[at:], known-int(at))
	return z.swallows(rec)
}

// swallows returns the fault of a record. The next one begins here.
func (z *Reader) swallows(rec *RecordRead) *Fault {
	what := fmt.Sprintf("Content-Length %d: another record begins in its block, at ", rec.ContentLength)
	if z.content.src.Plain() {
		return z.fault(ErrSyntax, rec.Offset, fmt.Sprint(what, z.content.place()))
	}
	return z.fault(ErrSyntax, rec.Offset, fmt.Sprint(what, z.content.inner, " of what its member unpacks to"))
}

// findSound finds a sound record that begins in a part of a file: see areSound.
func findSound(file io.ReaderAt, begin, length int64, all, isPart bool) (at int64, ok bool) {
	end := begin + length
	lines := bufio.NewReaderSize(io.NewSectionReader(file, begin, length+searchBuffer), searchBuffer)
	unsound := begin - 1 // records that begin up to here lead to one that is not sound
	for at, isStart := begin, true; at < end; {
		line, err := lines.ReadSlice('\n')
		if isStart && at > unsound && beginsRecord(line) {
			last, sound := areSound(file, at, all, isPart)
			if sound {
				return at, true
			}
			unsound = last
		}
		if err != nil && err != bufio.ErrBufferFull { //nolint:errorlint // ReadSlice returns it unwrapped
			return 0, false
		}
		at += int64(len(line))
		isStart = err == nil
	}
	return 0, false
}

const (
	searchBuffer = 64 << 10 // of a search in a block, in bytes
	headerBuffer = 512      // of a header that it meets
	searchHeader = 16 << 10 // the longest header that is found in a packed member
)

// areSound reports whether a record begins at a place, and another one or the end of the file follows it. With all,
// each record up to the end of the file must be so. With isPart, file is a part: what follows can be behind it. last is
// where the last one begins that it looked at.
func areSound(file io.ReaderAt, at int64, all, isPart bool) (last int64, ok bool) {
	var behind [recordEnd + len(versionStart)]byte
	for {
		last = at
		length, ok := soundHeader(io.NewSectionReader(file, at, searchBuffer))
		if at += length; !ok || at < 0 {
			return last, false
		}
		n, err := file.ReadAt(behind[:], at)
		if isPart && n < len(behind) {
			return last, true
		}
		next, isEnded := bytes.CutPrefix(behind[:n], []byte("\r\n\r\n"))
		switch isLast := len(next) == 0 && err == io.EOF; {
		case !isEnded, !isLast && !beginsRecord(next):
			return last, false
		case isLast, !all:
			return last, true
		}
		at += recordEnd
	}
}

// soundHeader returns the length of a record without its end, if it has a header with type and length.
func soundHeader(from io.Reader) (length int64, ok bool) {
	lines := bufio.NewReaderSize(from, headerBuffer)
	hasType, content := false, int64(-1)
	for {
		text, err := lines.ReadString('\n')
		if err != nil || length > 0 && beginsRecord([]byte(text)) { // so no line is read for many
			return 0, false
		}
		length += int64(len(text))
		line := strings.TrimRight(text, "\r\n")
		name, value, _ := strings.Cut(line, ":")
		switch {
		case line == "":
			return length + content, hasType && content >= 0
		case strings.EqualFold(name, "WARC-Type"):
			hasType = true
		case strings.EqualFold(name, "Content-Length"):
			n, err := strconv.ParseUint(strings.TrimSpace(value), 10, 62)
			if err != nil {
				return 0, false
			}
			content = int64(n)
		}
	}
}
