package extsort

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"orbweaver/internal/vfs"
)

// Scratch is the file of the runs of some Lines. It is made when the first run is written.
type Scratch struct {
	create func() (vfs.File, error)
	remove func() error // after the file was closed
	file   vfs.File     // nil until it is needed
	end    int64
}

// NewScratch is a file in the system's directory for temporary files. A process that is killed leaves none.
func NewScratch() *Scratch {
	return &Scratch{create: vfs.Temporary, remove: func() error { return nil }}
}

// Close removes the file.
func (s *Scratch) Close() error {
	if s.file == nil {
		return nil
	}
	err := errors.Join(s.file.Close(), s.remove())
	s.file = nil
	if err != nil {
		return fmt.Errorf("extsort: %w", err)
	}
	return nil
}

// Lines are lines to be sorted by their bytes. See the package's page.
type Lines struct {
	scratch *Scratch
	memory  int
	held    held
	sorted  int  // of held
	viewed  bool // a View has the memory of held
	runs    []run
	n       int64
}

// held are lines in memory.
type held struct {
	text   []byte
	places []place
}

// place is where a line is in the text. first is its first eight bytes, which mostly decide the order.
type place struct {
	first    uint64
	at, size uint32
}

// placeBytes is the memory of a place.
const placeBytes = 16

// memoryMost is the most memory of Lines, whose offsets have 32 bits.
const memoryMost = 2 << 30

// NewLines returns an empty list, which writes runs when it takes so many bytes of memory.
func NewLines(scratch *Scratch, memory int) *Lines {
	return &Lines{scratch: scratch, memory: min(memory, memoryMost)}
}

// Len is the number of lines.
func (l *Lines) Len() int64 { return l.n }

// Memory is how much the lines in memory take, in bytes.
func (l *Lines) Memory() int { return cap(l.held.text) + placeBytes*cap(l.held.places) }

// Add adds a line. It borrows the line.
func (l *Lines) Add(line []byte) error {
	h := &l.held
	if n := len(h.places); n > 0 && len(h.text)+len(line)+placeBytes*(n+1) > l.memory {
		if err := l.Spill(); err != nil {
			return err
		}
	}
	h.places = append(h.places, place{firstOf(line), uint32(len(h.text)), uint32(len(line))})
	h.text = append(h.text, line...)
	l.n++
	return nil
}

// firstOf returns the first eight bytes of a line as a number.
func firstOf(line []byte) uint64 {
	if len(line) >= 8 {
		return binary.BigEndian.Uint64(line)
	}
	var b [8]byte
	copy(b[:], line)
	return binary.BigEndian.Uint64(b[:])
}

func (h *held) line(p place) []byte { return h.text[p.at : p.at+p.size : p.at+p.size] }

// sort sorts the lines in memory. Views keep their order.
func (l *Lines) sort() {
	h := &l.held
	if l.sorted == len(h.places) {
		return
	}
	if l.viewed {
		h.places = slices.Clone(h.places)
	}
	slices.SortFunc(h.places, func(a, b place) int {
		if a.first != b.first {
			return cmp.Compare(a.first, b.first)
		}
		return bytes.Compare(h.line(a), h.line(b))
	})
	l.sorted = len(h.places)
}

// run is a sorted part of the file.
type run struct {
	begin, end int64
	fences     []fence
}

// fence is where a line begins in the file.
type fence struct {
	line []byte
	at   int64
}

// fenceBytes is how far fences are apart.
const fenceBytes = 64 << 10

// Spill writes the lines that are in memory as one run.
func (l *Lines) Spill() (err error) {
	if len(l.held.places) == 0 {
		return nil
	}
	s := l.scratch
	if s.file == nil {
		if s.file, err = s.create(); err != nil {
			return fmt.Errorf("extsort: %w", err)
		}
	}
	l.sort()
	r := run{begin: s.end, end: s.end}
	out := bufio.NewWriterSize(&offsetWriter{s.file, s.end}, 256<<10)
	var length []byte
	for _, p := range l.held.places {
		line := l.held.line(p)
		if n := len(r.fences); n == 0 || r.end-r.fences[n-1].at >= fenceBytes {
			r.fences = append(r.fences, fence{bytes.Clone(line), r.end})
		}
		length = binary.AppendUvarint(length[:0], uint64(len(line)))
		_, _ = out.Write(length) // bufio keeps the first error for Flush
		_, _ = out.Write(line)
		r.end += int64(len(length) + len(line))
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("extsort: %w", err)
	}
	s.end, l.runs, l.sorted = r.end, append(l.runs, r), 0
	if l.held = (held{l.held.text[:0], l.held.places[:0]}); l.viewed {
		l.held, l.viewed = held{}, false
	}
	return nil
}

// Flush is Spill, and gives the memory back.
func (l *Lines) Flush() error {
	err := l.Spill()
	if err == nil {
		l.held = held{}
	}
	return err
}

// offsetWriter writes from an offset on.
type offsetWriter struct {
	file vfs.File
	at   int64
}

func (w *offsetWriter) Write(p []byte) (int, error) {
	n, err := w.file.WriteAt(p, w.at)
	w.at += int64(n)
	return n, err
}

// View is the lines as they were at one moment. It is valid until the Scratch is closed.
type View struct {
	held held
	runs []run
	file vfs.File
}

// View returns the lines as they are now.
func (l *Lines) View() *View {
	l.sort()
	l.viewed = true
	h := held{slices.Clip(l.held.text), slices.Clip(l.held.places)}
	return &View{h, slices.Clip(l.runs), l.scratch.file}
}

// Sorted gives all lines in order, equal ones as often as they were added. It writes what is in memory if there are
// runs, so that the merge can take that memory. After an error it ends. A line is borrowed until the next one.
func (l *Lines) Sorted() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if len(l.runs) > 0 {
			if err := l.Flush(); err != nil {
				yield(nil, err)
				return
			}
		}
		m, err := l.View().Open(nil, nil, l.memory)
		for ; err == nil && m.Line() != nil; err = m.Next() {
			if !yield(m.Line(), nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// Write writes all lines in order, each with an end.
func (l *Lines) Write(w io.Writer) error {
	out := bufio.NewWriterSize(w, 64<<10)
	for line, err := range l.Sorted() {
		if err != nil {
			return err
		}
		_, _ = out.Write(line) // bufio keeps the first error for Flush
		_ = out.WriteByte('\n')
	}
	return out.Flush()
}
