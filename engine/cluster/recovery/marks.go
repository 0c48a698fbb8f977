package recovery

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/zeebo/xxh3"

	"orbweaver/internal/vfs"
)

// MarksDir is where the files are, relative to the crawl directory: AGENT.cdxj has the index lines of the captures here
// that AGENT's captures supersede.
const MarksDir = "superseded"

// MarkFiles adds lines to the files of marks. What was in a file stays. Finish makes all of it durable and replaces
// each file in one step.
type MarkFiles struct {
	fs    vfs.FS
	crawl string // the crawl directory
	files map[string]*draft
}

// draft is the next version of a file.
type draft struct {
	file  vfs.File
	out   *bufio.Writer
	lines map[uint64]struct{} // checksums of the lines in it
}

// The ends of the names of the files and of their drafts.
const (
	suffix      = ".cdxj"
	draftSuffix = ".tmp"
)

// NewMarks returns the files of a crawl directory.
func NewMarks(fsys vfs.FS, crawl string) *MarkFiles {
	return &MarkFiles{fs: fsys, crawl: crawl, files: make(map[string]*draft)}
}

func (m *MarkFiles) name(by string) string {
	return m.crawl + "/" + MarksDir + "/" + by + suffix
}

// Add adds a line to the file of an agent, and reports whether it was not there yet. It borrows line.
func (m *MarkFiles) Add(by string, line []byte) (fresh bool, err error) {
	f := m.files[by]
	if f == nil {
		if f, err = m.open(by); err != nil {
			return false, fmt.Errorf("marks: %w", err)
		}
	}
	return f.add(line)
}

func (f *draft) add(line []byte) (fresh bool, err error) {
	sum := xxh3.Hash(line)
	if _, there := f.lines[sum]; there {
		return false, nil
	}
	f.lines[sum] = struct{}{}
	if _, err := f.out.Write(line); err != nil {
		return false, fmt.Errorf("marks: %w", err)
	}
	return true, nil
}

// open begins the draft of a file, with the lines that the file has.
func (m *MarkFiles) open(by string) (*draft, error) {
	if err := m.fs.MkdirAll(m.crawl + "/" + MarksDir); err != nil {
		return nil, err
	}
	name := m.name(by)
	file, err := m.fs.Create(name + draftSuffix)
	if err != nil {
		return nil, err
	}
	f := &draft{file: file, out: bufio.NewWriterSize(file, 64<<10), lines: make(map[uint64]struct{})}
	m.files[by] = f
	old, err := m.fs.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return nil, err
	}
	in := bufio.NewReaderSize(old, 256<<10)
	for err == nil {
		var line []byte
		if line, err = in.ReadSlice('\n'); err == nil { // a line without its end is dropped
			_, err = f.add(line)
		}
	}
	if err == io.EOF { //nolint:errorlint // ReadSlice returns it unwrapped
		err = nil
	}
	return f, errors.Join(err, old.Close())
}

// Finish makes all drafts durable and replaces the files by them.
func (m *MarkFiles) Finish() error {
	if len(m.files) == 0 {
		return nil
	}
	for by, f := range m.files {
		name := m.name(by)
		if err := errors.Join(f.out.Flush(), f.file.Sync()); err != nil {
			return fmt.Errorf("marks: %w", err)
		}
		delete(m.files, by)
		if err := errors.Join(f.file.Close(), m.fs.Rename(name+draftSuffix, name)); err != nil {
			return fmt.Errorf("marks: %w", err)
		}
	}
	if err := errors.Join(m.fs.SyncDir(m.crawl+"/"+MarksDir), m.fs.SyncDir(m.crawl)); err != nil {
		return fmt.Errorf("marks: %w", err)
	}
	return nil
}

// Abandon removes the drafts that were not finished.
func (m *MarkFiles) Abandon() error {
	var errs []error
	for by, f := range m.files {
		errs = append(errs, f.file.Close(), vfs.RemoveIfExists(m.fs, m.name(by)+draftSuffix))
	}
	clear(m.files)
	return errors.Join(errs...)
}
