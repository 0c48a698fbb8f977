package extsort

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sort"
)

// Source is sorted lines.
type Source interface {
	// Line is the present line, nil behind the last. It is valid until Next.
	Line() []byte
	// Next goes to the next line.
	Next() error
}

// Merge is several sources as one.
type Merge struct {
	heap []head
}

// head is a source with its present line.
type head struct {
	line []byte
	Source
}

// NewMerge merges sources.
func NewMerge(sources ...Source) *Merge {
	m := &Merge{heap: make([]head, 0, len(sources))}
	for _, s := range sources {
		if line := s.Line(); line != nil {
			m.heap = append(m.heap, head{line, s})
		}
	}
	for i := len(m.heap)/2 - 1; i >= 0; i-- {
		m.down(i)
	}
	return m
}

// down moves a head behind those that are less.
func (m *Merge) down(i int) {
	h := m.heap
	for {
		least := 2*i + 1
		if least >= len(h) {
			return
		}
		if r := least + 1; r < len(h) && bytes.Compare(h[r].line, h[least].line) < 0 {
			least = r
		}
		if bytes.Compare(h[least].line, h[i].line) >= 0 {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}

// Line is the present line, nil behind the last. It is valid until Next.
func (m *Merge) Line() []byte {
	if len(m.heap) == 0 {
		return nil
	}
	return m.heap[0].line
}

// Next goes to the next line.
func (m *Merge) Next() error {
	if len(m.heap) == 0 {
		return nil
	}
	first := &m.heap[0]
	if err := first.Next(); err != nil {
		return err
	}
	if first.line = first.Line(); first.line == nil {
		last := len(m.heap) - 1
		m.heap[0] = m.heap[last]
		m.heap = m.heap[:last]
	}
	m.down(0)
	return nil
}

// Memory for reading one run in a merge, in bytes.
const (
	readMin  = 4 << 10
	readMost = 1 << 20
)

// Open returns the lines from <= line < to. A nil to is the end. memory is that for reading all runs, in bytes.
func (v *View) Open(from, to []byte, memory int) (*Merge, error) {
	sources := make([]Source, 0, len(v.runs)+1)
	first := sort.Search(len(v.held.places), func(i int) bool {
		return bytes.Compare(v.held.line(v.held.places[i]), from) >= 0
	})
	sources = append(sources, &heldSource{held{v.held.text, v.held.places[first:]}, to})
	for _, r := range v.runs {
		s := &runSource{to: to}
		begin := r.begin
		// The first line of the range is behind the last fence that is less than from.
		isBehind := func(i int) bool { return bytes.Compare(r.fences[i].line, from) >= 0 }
		if i := sort.Search(len(r.fences), isBehind); i > 0 {
			begin = r.fences[i-1].at
		}
		size := min(max(memory/len(v.runs), readMin), readMost)
		s.in = bufio.NewReaderSize(io.NewSectionReader(v.file, begin, r.end-begin), size)
		err := s.Next()
		for err == nil && s.line != nil && bytes.Compare(s.line, from) < 0 {
			err = s.Next()
		}
		if err != nil {
			return nil, err
		}
		sources = append(sources, s)
	}
	return NewMerge(sources...), nil
}

// heldSource is lines in memory.
type heldSource struct {
	held

	to []byte
}

// Line implements Source.
func (s *heldSource) Line() []byte {
	if len(s.places) == 0 {
		return nil
	}
	line := s.line(s.places[0])
	if s.to != nil && bytes.Compare(line, s.to) >= 0 {
		return nil
	}
	return line
}

// Next implements Source.
func (s *heldSource) Next() error {
	s.places = s.places[1:]
	return nil
}

// runSource is lines of a run.
type runSource struct {
	in   *bufio.Reader
	to   []byte
	buf  []byte
	line []byte
}

// Line implements Source.
func (s *runSource) Line() []byte { return s.line }

// Next implements Source.
func (s *runSource) Next() error {
	s.line = nil
	n, err := binary.ReadUvarint(s.in)
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err == nil {
		if uint64(cap(s.buf)) < n {
			s.buf = make([]byte, n)
		}
		s.buf = s.buf[:n]
		_, err = io.ReadFull(s.in, s.buf)
	}
	if err != nil {
		return fmt.Errorf("extsort: %w", err)
	}
	if s.to == nil || bytes.Compare(s.buf, s.to) < 0 {
		s.line = s.buf
	}
	return nil
}
