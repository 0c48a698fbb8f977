package engine

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/zeebo/xxh3"

	"orbweaver/internal/vfs"
)

// markFiles are files of marks that lines are added to. What was in a file stays. All of it becomes durable with
// finish, each file in one step.
type markFiles struct {
	fs    vfs.FS
	crawl string // the crawl directory
	files map[string]*markFile
}

// markFile is one of them, as it will be.
type markFile struct {
	file  vfs.File
	out   *bufio.Writer
	lines map[uint64]struct{} // that are there
}

// The ends of the names of files of marks, and of those that are being written.
const (
	markSuffix = ".cdxj"
	markDraft  = ".tmp"
)

func (m *markFiles) name(by string) string {
	return m.crawl + "/" + SupersededDir + "/" + by + markSuffix
}

// add adds a line to the marks by an agent, and says whether it was not there. It borrows line.
func (m *markFiles) add(by string, line []byte) (fresh bool, err error) {
	f := m.files[by]
	if f == nil {
		if f, err = m.open(by); err != nil {
			return false, fmt.Errorf("engine: marks: %w", err)
		}
	}
	return f.add(line)
}

func (f *markFile) add(line []byte) (fresh bool, err error) {
	sum := xxh3.Hash(line)
	if _, there := f.lines[sum]; there {
		return false, nil
	}
	f.lines[sum] = struct{}{}
	if _, err := f.out.Write(line); err != nil {
		return false, fmt.Errorf("engine: marks: %w", err)
	}
	return true, nil
}

// open begins a file anew, with what was in it.
func (m *markFiles) open(by string) (*markFile, error) {
	if err := m.fs.MkdirAll(m.crawl + "/" + SupersededDir); err != nil {
		return nil, err
	}
	name := m.name(by)
	draft, err := m.fs.Create(name + markDraft)
	if err != nil {
		return nil, err
	}
	f := &markFile{file: draft, out: bufio.NewWriterSize(draft, 64<<10), lines: make(map[uint64]struct{})}
	if m.files == nil {
		m.files = make(map[string]*markFile)
	}
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
		if line, err = in.ReadSlice('\n'); err == nil { // half a line at the end is none
			_, err = f.add(line)
		}
	}
	if err == io.EOF { //nolint:errorlint // bufio's own word
		err = nil
	}
	return f, errors.Join(err, old.Close())
}

// finish makes all files durable and puts them in the place of the old ones.
func (m *markFiles) finish() error {
	if len(m.files) == 0 {
		return nil
	}
	for by, f := range m.files {
		name := m.name(by)
		if err := errors.Join(f.out.Flush(), f.file.Sync()); err != nil {
			return fmt.Errorf("engine: marks: %w", err)
		}
		delete(m.files, by)
		if err := errors.Join(f.file.Close(), m.fs.Rename(name+markDraft, name)); err != nil {
			return fmt.Errorf("engine: marks: %w", err)
		}
	}
	if err := errors.Join(m.fs.SyncDir(m.crawl+"/"+SupersededDir), m.fs.SyncDir(m.crawl)); err != nil {
		return fmt.Errorf("engine: marks: %w", err)
	}
	return nil
}

// abandon removes what was begun and not finished.
func (m *markFiles) abandon() error {
	var errs []error
	for by, f := range m.files {
		errs = append(errs, f.file.Close(), vfs.RemoveIfExists(m.fs, m.name(by)+markDraft))
	}
	m.files = nil
	return errors.Join(errs...)
}
