package waczfs

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"orbweaver/internal/vfs"
)

// list is what lies in a WACZ file, in those that are in it, or in those that a list of several names.
type list struct {
	size  int64    // of the file
	names []string // of WARC files: NAME, or FILE.wacz/NAME
	files map[string]entry

	packages []container
	lines    indexLines
}

// entry is a WARC file in a WACZ.
type entry struct {
	home         string // file on the disk in which it lies
	offset, size int64
	packed       bool // it is compressed once more
}

const (
	// archiveDir is the directory of the WARC files in a WACZ.
	archiveDir = "archive/"
	// multiProfile is what a list of several WACZ files says of itself. Browsertrix writes such lists.
	multiProfile = "multi-wacz-package"
	// listMost is how long such a list may be, in bytes.
	listMost = 16 << 20
	// zipMagic is how a ZIP file begins.
	zipMagic = "PK\x03\x04"
)

// IsFile reports whether a file begins as a WACZ, or as a list of several. Devices are not read: their bytes would
// be lost.
func IsFile(fsys vfs.FS, name string) bool {
	if strings.HasPrefix(name, "/dev/") {
		return false
	}
	file, err := fsys.Open(name)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }() // opened for reading
	start := make([]byte, 512)
	n, _ := io.ReadFull(file, start)
	text := bytes.TrimSpace(start[:n])
	return bytes.HasPrefix(text, []byte(zipMagic)) ||
		bytes.HasPrefix(text, []byte("{")) && bytes.Contains(text, []byte(multiProfile))
}

// read adds what lies in a file, with a prefix before its names.
func (l *list) read(fsys vfs.FS, name, prefix string) (err error) {
	file, err := fsys.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	size, err := file.Size()
	if err != nil {
		return err
	}
	start := make([]byte, len(zipMagic))
	if n, _ := file.ReadAt(start, 0); n == len(start) && string(start) != zipMagic && prefix == "" {
		return l.readParts(fsys, name, io.NewSectionReader(file, 0, min(size, listMost)))
	}
	return l.readZIP(name, io.NewSectionReader(file, 0, size), 0, prefix)
}

// readParts adds what a list of several WACZ files names. They lie beside it or below it.
func (l *list) readParts(fsys vfs.FS, name string, text io.Reader) error {
	var said struct {
		Profile   string `json:"profile"`
		Resources []struct {
			Path string `json:"path"`
		} `json:"resources"`
	}
	err := json.NewDecoder(text).Decode(&said)
	if err != nil || said.Profile != multiProfile {
		return zip.ErrFormat //nolint:nilerr // it is no list either
	}
	for _, part := range said.Resources {
		if !fs.ValidPath(part.Path) {
			return fmt.Errorf("%.200q is no path beside it", part.Path)
		}
		if err := l.read(fsys, path.Join(path.Dir(name), part.Path), path.Base(part.Path)+"/"); err != nil {
			return fmt.Errorf("%s: %w", part.Path, err)
		}
	}
	return nil
}

// nestedMost is how deep WACZ files may lie in each other.
const nestedMost = 4

// readZIP adds what lies in a WACZ at an offset of a file, and in those that lie in it.
func (l *list) readZIP(home string, from *io.SectionReader, base int64, prefix string) error {
	z, err := zip.NewReader(from, from.Size())
	if err != nil {
		return err
	}
	l.packages = append(l.packages, container{home, base, from.Size(), prefix})
	left := from.Size() // for WACZ files, which do not share bytes
	for _, e := range z.File {
		inside, isArchive := strings.CutPrefix(e.Name, archiveDir)
		isArchive = isArchive && inside != "" && path.Base(inside) == inside
		if !isArchive && !Is(e.Name) {
			continue
		}
		at := entry{home: home, size: int64(e.CompressedSize64), packed: e.Method != zip.Store}
		if at.offset, err = e.DataOffset(); err != nil {
			return err
		}
		if at.size < 0 || at.size > from.Size()-at.offset {
			return fmt.Errorf("%.200q ends behind the end of the WACZ", e.Name)
		}
		if name := prefix + path.Base(e.Name); Is(e.Name) && !at.packed {
			if left -= at.size; left < 0 || strings.Count(name, "/") >= nestedMost {
				return fmt.Errorf("%.200q lies in others too deep, or over them", e.Name)
			}
			part := io.NewSectionReader(from, at.offset, at.size)
			if err := l.readZIP(home, part, base+at.offset, name+"/"); err != nil {
				return fmt.Errorf("%.200q: %w", e.Name, err)
			}
			continue
		}
		at.offset += base
		name := prefix + path.Base(e.Name)
		if _, twice := l.files[name]; twice {
			return fmt.Errorf("%.200q is there twice", e.Name)
		}
		l.files[name] = at
		l.names = append(l.names, name)
	}
	return nil
}
