package fixity

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"slices"

	"orbweaver/internal/vfs"
)

// The files of a manifest, in the directory of the archive.
const (
	ManifestName = "manifest.jsonl"      // a line of JSON for each closed file
	SumsName     = "manifest-sha256.txt" // the same for sha256sum and BagIt: digest and name
)

// Manifest is the list of the closed files of an archive, on disk. It is a Listener. A line is there only while its
// file has the bytes that the line says. It is written after the file is closed, and removed before the file is opened
// again. A Manifest is safe for concurrent use.
type Manifest struct {
	fsys  vfs.FS
	dir   string
	turn  chan struct{} // a lock with capacity one: held while it is full. It guards the following fields
	first uint32        // serial
	files map[string]File
}

// Open reads the manifest in dir. If there is none, one is begun. first is then the serial of the first file that
// it lists, 0 for a new archive.
func Open(fsys vfs.FS, dir string, first uint32) (*Manifest, error) {
	m := &Manifest{fsys: fsys, dir: dir, turn: make(chan struct{}, 1), first: first, files: map[string]File{}}
	text, err := vfs.ReadFile(fsys, path.Join(dir, ManifestName))
	if errors.Is(err, fs.ErrNotExist) {
		if err := fsys.MkdirAll(dir); err != nil {
			return nil, fmt.Errorf("warc: manifest: %w", err)
		}
		return m, m.write()
	}
	if err != nil {
		return nil, fmt.Errorf("warc: manifest: %w", err)
	}
	l, err := Read(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("warc: %s: %w; 'orbweaver manifest' makes a new one if it is removed",
			path.Join(dir, ManifestName), err)
	}
	m.first = l.FirstSerial
	for _, f := range l.Files {
		m.files[f.Name] = f
	}
	return m, m.writeSums() // a kill may have come between the two files
}

// OpenIfThere opens the manifest in dir. If there is none, none is begun, and the result is the manifest of an archive
// whose files are all older.
func OpenIfThere(fsys vfs.FS, dir string) (*Manifest, error) {
	switch _, err := fsys.Size(path.Join(dir, ManifestName)); {
	case errors.Is(err, fs.ErrNotExist):
		return &Manifest{fsys: fsys, dir: dir, turn: make(chan struct{}, 1), first: math.MaxUint32}, nil
	case err != nil:
		return nil, fmt.Errorf("warc: manifest: %w", err)
	}
	return Open(fsys, dir, 0)
}

// Remove removes the manifest in dir, if there is one.
func Remove(fsys vfs.FS, dir string) error {
	if _, err := fsys.Size(path.Join(dir, ManifestName)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	// manifest.jsonl is the last: until then another start removes the rest.
	for _, name := range []string{SignatureName, SumsName, ManifestName} {
		if err := vfs.RemoveIfExists(fsys, path.Join(dir, name)); err != nil {
			return fmt.Errorf("warc: manifest: %w", err)
		}
	}
	if err := fsys.SyncDir(dir); err != nil {
		return fmt.Errorf("warc: manifest: %w", err)
	}
	return nil
}

// Lists reports whether a closed file has its line. Files with lower serials than the first of the manifest need none.
func (m *Manifest) Lists(name string, serial uint32) bool {
	m.turn <- struct{}{}
	defer func() { <-m.turn }()
	_, ok := m.files[name]
	return ok || serial < m.first
}

// FileClosed adds a file.
func (m *Manifest) FileClosed(f File) error {
	m.turn <- struct{}{}
	defer func() { <-m.turn }()
	m.files[f.Name] = f
	return m.write()
}

// FileReopened removes a file.
func (m *Manifest) FileReopened(name string) error {
	m.turn <- struct{}{}
	defer func() { <-m.turn }()
	if _, ok := m.files[name]; !ok {
		return nil
	}
	delete(m.files, name)
	return m.write()
}

// ListAll makes it a manifest of all files, whatever their serials.
func (m *Manifest) ListAll() error {
	m.turn <- struct{}{}
	defer func() { <-m.turn }()
	if m.first == 0 {
		return nil
	}
	m.first = 0
	return m.write()
}

// Files are all files, by name.
func (m *Manifest) Files() []File {
	m.turn <- struct{}{}
	defer func() { <-m.turn }()
	return m.sorted()
}

func (m *Manifest) sorted() []File {
	files := make([]File, 0, len(m.files))
	for _, f := range m.files {
		files = append(files, f)
	}
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	return files
}

// write replaces both files. The one for sha256sum follows: until then it lacks a line, or has one that is still true.
func (m *Manifest) write() error {
	if err := vfs.RemoveIfExists(m.fsys, path.Join(m.dir, SignatureName)); err != nil {
		return fmt.Errorf("warc: manifest: %w", err)
	}
	err := vfs.WriteAtomic(m.fsys, path.Join(m.dir, ManifestName), func(w io.Writer) error {
		return WriteLines(w, List{FirstSerial: m.first, Files: m.sorted()})
	})
	if err != nil {
		return fmt.Errorf("warc: manifest: %w", err)
	}
	return m.writeSums()
}

// writeSums replaces the file for sha256sum if it is not what the lines say.
func (m *Manifest) writeSums() error {
	var want bytes.Buffer
	if err := WriteSums(&want, m.sorted()); err != nil {
		return err
	}
	name := path.Join(m.dir, SumsName)
	if have, err := vfs.ReadFile(m.fsys, name); err == nil && bytes.Equal(have, want.Bytes()) {
		return nil
	}
	err := vfs.WriteAtomic(m.fsys, name, func(w io.Writer) error { _, err := w.Write(want.Bytes()); return err })
	if err != nil {
		return fmt.Errorf("warc: manifest: %w", err)
	}
	return nil
}

// WriteSums writes the lines that sha256sum -c reads.
func WriteSums(w io.Writer, files []File) error {
	b := bufio.NewWriter(w)
	for _, f := range files {
		fmt.Fprintf(b, "%x  %s\n", f.SHA256, f.Name)
	}
	return b.Flush() //nolint:wrapcheck // of the writer
}
