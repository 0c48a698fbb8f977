package warctool

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"orbweaver/internal/vfs"
	"orbweaver/warc/fixity"
)

// manifestCheck compares files with a manifest while they are read for another reason. The zero value compares nothing.
type manifestCheck struct {
	listed map[string]fixity.File // by base name
	seen   map[string]bool
	result ManifestResult
}

// ManifestResult counts the files of a comparison.
type ManifestResult struct {
	Matched  int `json:"matched"`
	Differ   int `json:"differ"`
	Missing  int `json:"missing"`  // in the manifest, and not among the files
	Unlisted int `json:"unlisted"` // among the files, and not in the manifest; open files do not count

	Elsewhere int `json:"elsewhere"` // in the manifest; the files were sent and removed, and are not read
}

// newManifestCheck reads a manifest.
func newManifestCheck(fsys vfs.FS, manifest string) (*manifestCheck, error) {
	f, err := fsys.Open(manifest)
	if err != nil {
		return nil, fmt.Errorf("warc: %w", err)
	}
	list, err := fixity.Read(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", manifest, err)
	}
	c := &manifestCheck{listed: make(map[string]fixity.File, len(list.Files)), seen: map[string]bool{}}
	for _, file := range list.Files {
		base := path.Base(file.Name)
		if _, twice := c.listed[base]; twice {
			return nil, fmt.Errorf("%s: two files have the name %s", manifest, base)
		}
		c.listed[base] = file
	}
	return c, nil
}

// reader returns a reader of a file, and what to call when the file was read as far as its content goes.
func (c *manifestCheck) reader(name string, r io.Reader) (io.Reader, func(complain func(error)) error) {
	base := path.Base(name)
	want, listed := c.listed[base]
	switch {
	case c.listed == nil:
		return r, func(func(error)) error { return nil }
	case !listed && strings.HasSuffix(base, ".open"):
		return r, func(func(error)) error { return nil }
	case !listed:
		return r, func(complain func(error)) error {
			c.result.Unlisted++
			complain(fmt.Errorf("%s: not in the manifest", base))
			return nil
		}
	}
	c.seen[base] = true
	sum := sha256.New()
	count := &part{Writer: io.Discard, sum: sum}
	tee := io.TeeReader(r, count)
	return tee, func(complain func(error)) error {
		if _, err := io.Copy(io.Discard, tee); err != nil { // what follows the last record
			return fmt.Errorf("warc: %w", err)
		}
		got := [32]byte(sum.Sum(nil))
		switch {
		case want.Bytes >= 0 && count.bytes != want.Bytes:
			complain(fmt.Errorf("%s: %d bytes, and the manifest says %d", base, count.bytes, want.Bytes))
		case got != want.SHA256:
			complain(fmt.Errorf("%s: its SHA-256 is %x, and the manifest says %x", base, got, want.SHA256))
		default:
			c.result.Matched++
			return nil
		}
		c.result.Differ++
		return nil
	}
}

// isElsewhere notes a file that cannot be opened because it was sent and removed.
func (c *manifestCheck) isElsewhere(name string, err error) bool {
	if !errors.Is(err, vfs.ErrElsewhere) {
		return false
	}
	if base := path.Base(name); c.listed != nil {
		c.seen[base] = true
	}
	c.result.Elsewhere++
	return true
}

// finish reports the files that were not read.
func (c *manifestCheck) finish(complain func(error)) {
	var missing []string
	for name := range c.listed {
		if !c.seen[name] {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	for _, name := range missing {
		complain(fmt.Errorf("%s: in the manifest, and not among the files: %w", name, fs.ErrNotExist))
	}
	c.result.Missing = len(missing)
}

func (r *ManifestResult) faults() int { return r.Differ + r.Missing + r.Unlisted }
