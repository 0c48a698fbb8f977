package warc

import (
	"bufio"
	"bytes"
	"io"
	"slices"
)

// indexBlock is the size of a memory block for index lines. A file of a gigabyte has about forty megabytes of lines; a
// single growing slice would be copied many times, and be in memory twice meanwhile.
const indexBlock = 256 << 10

// indexLines holds the CDXJ lines of a file, without file name and unsorted, in memory with few pointers.
type indexLines struct {
	blocks [][]byte
	lines  []indexLine
}

// indexLine is the position of a line in a block.
type indexLine struct{ block, start, end uint32 }

func (l *indexLines) line(i int) []byte {
	at := &l.lines[i]
	return l.blocks[at.block][at.start:at.end]
}

// add appends a line. It borrows entry.
func (l *indexLines) add(entry []byte, offset, length int64) {
	last := len(l.blocks) - 1
	if need := len(entry) + placeMax; last < 0 || cap(l.blocks[last])-len(l.blocks[last]) < need {
		l.blocks = append(l.blocks, make([]byte, 0, max(need, indexBlock)))
		last++
	}
	start := len(l.blocks[last])
	l.blocks[last] = appendPlace(append(l.blocks[last], entry...), offset, length)
	l.lines = append(l.lines, indexLine{uint32(last), uint32(start), uint32(len(l.blocks[last]))})
}

// cut removes all but the first n lines.
func (l *indexLines) cut(n int) {
	if n >= len(l.lines) {
		return
	}
	at := l.lines[n]
	l.lines = l.lines[:n]
	clear(l.blocks[at.block+1:])
	l.blocks = l.blocks[:at.block+1]
	l.blocks[at.block] = l.blocks[at.block][:at.start]
}

// join returns the lines of l followed by those of more, without copying the text. Neither may be changed afterwards.
func (l *indexLines) join(more *indexLines) *indexLines {
	all := &indexLines{blocks: slices.Concat(l.blocks, more.blocks), lines: slices.Clone(l.lines)}
	for _, at := range more.lines {
		at.block += uint32(len(l.blocks))
		all.lines = append(all.lines, at)
	}
	return all
}

// memory returns the number of bytes in use.
func (l *indexLines) memory() (n int64) {
	for _, b := range l.blocks {
		n += int64(cap(b))
	}
	return n + int64(cap(l.lines))*12
}

// writeTo writes the lines sorted by their bytes, each with the file's name.
func (l *indexLines) writeTo(w io.Writer, name string) error {
	order := make([]int, len(l.lines))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return bytes.Compare(l.line(a), l.line(b)) })
	out := bufio.NewWriterSize(w, 64<<10)
	for _, i := range order {
		_, _ = out.Write(l.line(i)) // bufio keeps the first error for Flush
		_, _ = out.WriteString(`"filename":"`)
		_, _ = out.WriteString(name)
		_, _ = out.WriteString("\"}\n")
	}
	return out.Flush()
}
