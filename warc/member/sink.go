package member

import (
	"fmt"
	"io"

	"orbweaver/internal/invariants"
)

// Scratch keeps bytes of a Packer outside of its memory, for example in a file. It belongs to one Packer.
type Scratch interface {
	io.Writer
	io.ReaderAt
	// Reset removes all bytes.
	Reset()
}

const (
	// scratchFrom is how many bytes a member takes in memory before the rest of it goes to the Scratch.
	scratchFrom = 1 << 20
	// headKept is how many bytes of its start stay in memory. The header and the prefix are in them.
	headKept = 4 << 10
	// pieceBytes is how much of a source is read at once.
	pieceBytes = 256 << 10
)

// sink collects the output of a compressor: in memory, and the middle of a large first member in a Scratch.
type sink struct {
	b       []byte
	scratch Scratch
	movable bool  // there is a scratch
	at      int   // the bytes in scratch come after b[:at]
	moved   int64 // bytes in scratch
}

func (s *sink) Write(p []byte) (int, error) {
	s.b = append(s.b, p...)
	return len(p), nil
}

// size is the length of the output.
func (s *sink) size() int64 { return int64(len(s.b)) + s.moved }

// place returns the index in b of a position in the output. The position must not be in the Scratch.
func (s *sink) place(position int64) int {
	if position > int64(s.at) {
		position -= s.moved
	}
	return int(position)
}

// moveOut moves what is in memory behind the start of the output to the Scratch.
func (s *sink) moveOut() error {
	if !s.movable {
		return nil
	}
	if s.moved == 0 {
		s.at = min(headKept, len(s.b))
	}
	n, err := s.scratch.Write(s.b[s.at:])
	s.moved += int64(n)
	if err != nil {
		return fmt.Errorf("warc: scratch: %w", err)
	}
	s.b = s.b[:s.at]
	return nil
}

// reset removes all output.
func (s *sink) reset() {
	if invariants.Mangle(s.b); cap(s.b) > bufferKeep {
		s.b = nil
	}
	if s.moved > 0 {
		s.scratch.Reset()
	}
	s.b, s.at, s.moved = s.b[:0], 0, 0
}

// output returns the parts.
func (s *sink) output() Output {
	return Output{Head: s.b[:s.at], Middle: s.scratch, MiddleSize: s.moved, Tail: s.b[s.at:]}
}

// Output is the output of a Packer in three parts, which are valid until its next call. Usually all of it is Tail.
type Output struct {
	Head       []byte
	Middle     io.ReaderAt // used if MiddleSize is not 0
	MiddleSize int64
	Tail       []byte
}

// Size returns its length in bytes.
func (o *Output) Size() int64 { return int64(len(o.Head)) + o.MiddleSize + int64(len(o.Tail)) }

// WriteAt writes the output to a file at an offset, in one call unless there is a Middle.
func (o *Output) WriteAt(f io.WriterAt, offset int64) error {
	write := func(b []byte) error {
		n, err := f.WriteAt(b, offset)
		if err == nil && n < len(b) {
			err = io.ErrShortWrite
		}
		offset += int64(n)
		return err //nolint:wrapcheck // the caller names the file
	}
	if o.MiddleSize == 0 {
		return write(o.Tail)
	}
	if err := write(o.Head); err != nil {
		return err
	}
	if err := eachPiece(o.Middle, o.MiddleSize, write); err != nil {
		return err
	}
	return write(o.Tail)
}

// eachPiece calls f for all of the first size bytes of r, in order. f borrows the piece.
func eachPiece(r io.ReaderAt, size int64, f func(piece []byte) error) error {
	buf := make([]byte, min(size, pieceBytes))
	for at := int64(0); at < size; {
		piece := buf[:min(size-at, int64(len(buf)))]
		n, err := r.ReadAt(piece, at)
		if n < len(piece) {
			return fmt.Errorf("warc: source: %w", noEOF(err))
		}
		if err := f(piece); err != nil {
			return err
		}
		at += int64(n)
	}
	return nil
}
