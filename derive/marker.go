package derive

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"orbweaver/internal/vfs"
)

// markerDir has a file for each input and product whose outputs are complete.
const markerDir = ".done"

// marker says which outputs are complete, and from what they were made.
type marker struct {
	Input    string `json:"input"`
	Size     int64  `json:"size"`
	Crawl    string `json:"crawl"`
	Settings string `json:"settings"`
	Outputs  []made `json:"outputs"`
	Records  int64  `json:"records"`
	Faults   int64  `json:"faults"`
}

// made is a complete output.
type made struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

func markerName(dir, product string, s *Source) string {
	return path.Join(dir, markerDir, product, s.File+".json")
}

// readMarker returns the marker of a product for an input, if the outputs that it names are there, and were made from
// this input with these settings.
func readMarker(fsys vfs.FS, dir string, p Product, s *Source) (m marker, valid bool, err error) {
	text, err := vfs.ReadFile(fsys, markerName(dir, p.Name(), s))
	if errors.Is(err, fs.ErrNotExist) {
		return m, false, nil
	}
	if err != nil {
		return m, false, fmt.Errorf("derive: %w", err)
	}
	if json.Unmarshal(text, &m) != nil || m.Size != s.Size || m.Crawl != s.Crawl || m.Settings != p.Settings() {
		return m, false, nil //nolint:nilerr // a marker that cannot be read is no marker
	}
	for _, out := range m.Outputs {
		if size, err := fsys.Size(path.Join(dir, out.Name)); err != nil || size != out.Bytes {
			return m, false, nil //nolint:nilerr // a missing output is made again
		}
	}
	return m, true, nil
}

// discard removes a marker before its outputs are made again, and outputs that it names: the next ones may have other
// names.
func discard(fsys vfs.FS, dir string, p Product, s *Source, m *marker) error {
	for _, out := range m.Outputs {
		if path.IsAbs(out.Name) || path.Clean("/"+out.Name) != "/"+out.Name {
			continue // not written by this package
		}
		if err := vfs.RemoveIfExists(fsys, path.Join(dir, out.Name)); err != nil {
			return fmt.Errorf("derive: %w", err)
		}
	}
	if err := vfs.RemoveIfExists(fsys, markerName(dir, p.Name(), s)); err != nil {
		return fmt.Errorf("derive: %w", err)
	}
	return nil
}

func writeMarker(fsys vfs.FS, dir string, p Product, s *Source, m *marker) error {
	name := markerName(dir, p.Name(), s)
	if err := fsys.MkdirAll(path.Dir(name)); err != nil {
		return fmt.Errorf("derive: %w", err)
	}
	text, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("derive: %w", err)
	}
	return vfs.WriteAtomic(fsys, name, func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
}
