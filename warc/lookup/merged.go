package lookup

import (
	"bytes"
	"context"
	"errors"
	"iter"
)

// Merged are the lines of several archives.
type Merged []Lines

// Scan merges the lines.
func (m Merged) Scan(ctx context.Context, want Range, do func(line []byte) error) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	sources := make([]pulled, len(m))
	for i, lines := range m {
		source := &sources[i]
		next, stop := iter.Pull(source.each(ctx, lines, want))
		defer stop()
		source.next = next
		source.advance()
	}
	for {
		var first *pulled
		for i := range sources {
			s := &sources[i]
			if !s.ok {
				if s.err != nil {
					return s.err
				}
				continue
			}
			if first == nil || bytes.Compare(s.line, first.line) < 0 {
				first = s
			}
		}
		if first == nil {
			return nil
		}
		if err := do(first.line); err != nil {
			return err
		}
		first.advance()
	}
}

// pulled is one of the sources.
type pulled struct {
	next func() ([]byte, bool)
	line []byte
	ok   bool
	err  error // of the scan
}

func (p *pulled) advance() { p.line, p.ok = p.next() }

// each yields the lines of a range, and keeps the error.
func (p *pulled) each(ctx context.Context, lines Lines, want Range) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		err := lines.Scan(ctx, want, func(line []byte) error {
			if !yield(line) {
				return errEnough
			}
			return nil
		})
		if !errors.Is(err, errEnough) {
			p.err = err
		}
	}
}
