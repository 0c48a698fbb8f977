package extsort

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"path"

	"orbweaver/internal/vfs"
)

// Entry is an element, ordered by Hi, then Lo, then Tag.
type Entry struct{ Hi, Lo, Tag uint64 }

// Compare is the order.
func Compare(a, b Entry) int {
	return cmp.Or(cmp.Compare(a.Hi, b.Hi), cmp.Compare(a.Lo, b.Lo), cmp.Compare(a.Tag, b.Tag))
}

// entryBytes is the length of an Entry as a line.
const entryBytes = 24

// Options configure a Sorter.
type Options struct {
	// File is the name of a file that only this Sorter uses. Its directory is created if missing.
	File string
	// MemoryBytes is the memory of the buffer, and later of the merge. Default 64 MiB, at least 64 KiB.
	MemoryBytes int
}

const (
	memoryDefault = 64 << 20
	memoryMin     = 64 << 10
)

// WithDefaults returns a copy with the zeros replaced.
func (o Options) WithDefaults() Options {
	if o.MemoryBytes == 0 {
		o.MemoryBytes = memoryDefault
	}
	return o
}

// Validate returns all faults of the options, joined.
func (o Options) Validate() error {
	var faults []error
	if o.File == "" {
		faults = append(faults, errors.New("extsort: no file"))
	}
	if o.MemoryBytes < memoryMin {
		faults = append(faults, fmt.Errorf("extsort: %d bytes of memory, at least %d are needed", o.MemoryBytes, memoryMin))
	}
	return errors.Join(faults...)
}

// Sorter sorts entries. See the package's page.
type Sorter struct {
	lines *Lines
	line  [entryBytes]byte
}

// New makes a Sorter. It touches no file yet.
func New(fsys vfs.FS, o Options) (*Sorter, error) {
	o = o.WithDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	create := func() (vfs.File, error) {
		if err := fsys.MkdirAll(path.Dir(o.File)); err != nil {
			return nil, err
		}
		return fsys.Create(o.File)
	}
	scratch := &Scratch{create: create, remove: func() error { return fsys.Remove(o.File) }}
	return &Sorter{lines: NewLines(scratch, o.MemoryBytes)}, nil
}

// Len is the number of entries.
func (s *Sorter) Len() int64 { return s.lines.Len() }

// Add takes one entry.
func (s *Sorter) Add(e Entry) error {
	binary.BigEndian.PutUint64(s.line[0:], e.Hi)
	binary.BigEndian.PutUint64(s.line[8:], e.Lo)
	binary.BigEndian.PutUint64(s.line[16:], e.Tag)
	return s.lines.Add(s.line[:])
}

// Sorted gives all entries in order, those that are equal as often as they were added. After an error it ends.
func (s *Sorter) Sorted() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for line, err := range s.lines.Sorted() {
			if err != nil {
				yield(Entry{}, err)
				return
			}
			e := Entry{
				Hi:  binary.BigEndian.Uint64(line[0:]),
				Lo:  binary.BigEndian.Uint64(line[8:]),
				Tag: binary.BigEndian.Uint64(line[16:]),
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Close removes the file.
func (s *Sorter) Close() error {
	s.lines.held = held{}
	return s.lines.scratch.Close()
}
