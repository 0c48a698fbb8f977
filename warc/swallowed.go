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

// swallowed returns the fault of a record in a plain file whose Content-Length is too large, and moves to the record
// that begins in its block. It does nothing unless a sound record begins there. toEnd says that the block ends behind
// the file. Then all records from there up to the end must be sound: a block that was cut short can hold such text.
func (z *Reader) swallowed(rec *RecordRead, blockStart int64, toEnd bool) *Fault {
	src := &z.content.src
	end := z.content.place()
	file, origin, ok := member.Search(src, end-blockStart)
	if !ok || rec.IsARC || z.o.Unbounded { // our own files have no such records
		return nil
	}
	block := io.NewSectionReader(file, blockStart+origin, end-blockStart+searchBuffer)
	lines := bufio.NewReaderSize(block, searchBuffer)
	unsound := blockStart - 1 // records that begin up to here lead to one that is not sound
	for at, isStart := blockStart, true; at < end; {
		line, err := lines.ReadSlice('\n')
		if isStart && at > unsound && beginsRecord(line) {
			last, sound := areSound(file, at+origin, toEnd)
			if sound && member.MoveTo(src, at) {
				z.content.restart()
				return z.fault(ErrSyntax, rec.Offset, fmt.Sprintf("Content-Length %d: another record begins in its block, at %d",
					rec.ContentLength, at))
			}
			unsound = last - origin
		}
		if err != nil && err != bufio.ErrBufferFull { //nolint:errorlint // ReadSlice returns it unwrapped
			return nil
		}
		at += int64(len(line))
		isStart = err == nil
	}
	return nil
}

const (
	searchBuffer = 64 << 10 // of a search in a block, in bytes
	headerBuffer = 512      // of a header that it meets
)

// areSound reports whether a record begins at a place of a plain file, and another one or the end of the file follows
// it. With all, each record up to the end of the file must be so. last is where the last one begins that it looked at.
func areSound(file io.ReaderAt, at int64, all bool) (last int64, ok bool) {
	var behind [recordEnd + len(versionStart)]byte
	for {
		last = at
		length, ok := soundHeader(io.NewSectionReader(file, at, searchBuffer))
		if at += length; !ok || at < 0 {
			return last, false
		}
		n, err := file.ReadAt(behind[:], at)
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
