package language

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/zeebo/xxh3"

	"orbweaver/derive/fasttext"
	"orbweaver/internal/vfs"
)

// Address is where models of fastText can be had.
const Address = "https://fasttext.cc/docs/en/language-identification.html"

// Model is a model in a file.
type Model struct {
	labels   []label
	model    *fasttext.Model
	file     vfs.File
	mapping  vfs.Mapping
	identity string
}

// Open reads a model. The caller must close it.
func Open(fsys vfs.FS, name string) (*Model, error) {
	f, err := fsys.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no model of languages at %s; fastText's lid.176.ftz is at %s", name, Address)
	}
	if err != nil {
		return nil, fmt.Errorf("language: %w", err)
	}
	m := &Model{file: f, mapping: noMapping{}}
	if err := m.read(); err != nil {
		return nil, errors.Join(fmt.Errorf("language: %s: %w", name, err), m.Close())
	}
	return m, nil
}

func (m *Model) read() error {
	size, err := m.file.Size()
	if err != nil {
		return err
	}
	// The file is read from start to end once: a mapping alone would fetch it from the disk in single pages.
	hash := xxh3.New()
	if _, err := io.Copy(hash, io.NewSectionReader(m.file, 0, size)); err != nil {
		return err
	}
	m.identity = hex.EncodeToString(hash.Sum(nil))
	mapping, err := m.file.Map(size)
	if err != nil {
		return err
	}
	m.mapping = mapping
	if m.model, err = fasttext.Open(m.mapping.Bytes()); err != nil {
		return err
	}
	for _, text := range m.model.Labels() {
		m.labels = append(m.labels, newLabel(text))
	}
	return nil
}

// noMapping is the mapping of a file that is not mapped yet.
type noMapping struct{}

func (noMapping) Bytes() []byte { return nil }
func (noMapping) Sync() error   { return nil }
func (noMapping) Close() error  { return nil }

// Identity is a checksum of the file: other models have other ones.
func (m *Model) Identity() string { return m.identity }

// Close ends the use of the file. No detector of the model may be used after it.
func (m *Model) Close() error {
	return errors.Join(m.mapping.Close(), m.file.Close())
}
