package warctool

import (
	"io"
	"path"
	"strings"

	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// Index writes the sorted CDXJ index of each file to Out. If beside is true, it writes it to a file next to the WARC
// instead (X.cdxj for X.warc.gz), completely or not at all.
func (t *Tool) Index(beside bool, files ...string) error {
	for _, name := range files {
		write := func(w io.Writer) error {
			f, err := t.open(name)
			if err != nil {
				return err
			}
			defer func() { _ = f.Close() }() // opened for reading
			base := path.Base(name)
			z := warc.NewReader(f, warc.ReaderOptions{Name: base})
			defer z.Close()
			return warc.WriteIndex(w, z, strings.TrimSuffix(base, ".open"))
		}
		if !beside {
			if err := write(t.Out); err != nil {
				return err
			}
			continue
		}
		if err := vfs.WriteAtomic(t.FS, warc.IndexName(name), write); err != nil {
			return err
		}
	}
	return nil
}
