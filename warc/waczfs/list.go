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
	"slices"
	"strings"

	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/member"
)

// list is what lies in a WACZ file, in those that are in it, or in those that a list of several names.
type list struct {
	size  int64    // of the file
	names []string // of WARC files: NAME, or FILE.wacz/NAME
	files map[string]entry

	packages []container
	lines    indexLines
	room     int64 // for directories of ZIP files that are not read yet, in bytes
	// filesMost is how many names there may be.
	filesMost int
}

func newList() *list {
	return &list{files: map[string]entry{}, room: directoryMost, filesMost: filesFree}
}

// entry is a WARC file in a WACZ, or what cannot be read of it.
type entry struct {
	home         string // file on the disk in which it lies
	offset, size int64
	fault        error // why it cannot be read; nil if it can
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
	l.filesMost += int(size / fileBytes)
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
	seen := map[string]bool{}
	for _, part := range said.Resources {
		if seen[part.Path] {
			continue
		}
		seen[part.Path] = true
		if !fs.ValidPath(part.Path) {
			l.lose(name, path.Base(part.Path), fmt.Errorf("%.200q is not a path beside it", part.Path))
			continue
		}
		at := path.Join(path.Dir(name), part.Path)
		if err := l.read(fsys, at, path.Base(part.Path)+"/"); err != nil {
			l.lose(name, path.Base(part.Path), err)
		}
	}
	return nil
}

// nestedMost is how deep WACZ files may lie in each other.
const nestedMost = 4

// readZIP adds what lies in a WACZ at an offset of a file, and in those that lie in it.
func (l *list) readZIP(home string, from *io.SectionReader, base int64, prefix string) error {
	z, err := openZIP(from, from.Size(), &l.room)
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
		if len(l.names) >= l.filesMost {
			l.lose(home, prefix+"more-files", errFiles)
			break
		}
		at := entry{home: home, size: int64(e.CompressedSize64)}
		at.offset, err = e.DataOffset()
		switch {
		case err != nil:
		case at.size < 0 || at.size > from.Size()-at.offset:
			err = errBehind
		case e.Method != zip.Store:
			err = errPacked
		}
		name := prefix + path.Base(e.Name)
		if Is(e.Name) && err == nil {
			if left -= at.size; left < 0 || strings.Count(name, "/") >= nestedMost {
				err = errDeep
			} else {
				err = l.readZIP(home, io.NewSectionReader(from, at.offset, at.size), base+at.offset, name+"/")
			}
			if err == nil {
				continue
			}
		}
		if err != nil {
			l.lose(home, name, err)
			continue
		}
		at.offset += base
		if _, twice := l.files[name]; twice {
			l.lose(home, name, errTwice)
			continue
		}
		l.files[name] = at
		l.names = append(l.names, name)
	}
	return nil
}

// A WACZ has at most filesFree files, and one more for each fileBytes of its length. Commands such as derive take
// milliseconds for a file of any length, since they write others for it.
const (
	filesFree = 256
	fileBytes = 16 << 10
)

// Why a file in a WACZ cannot be read.
var (
	errFiles = fmt.Errorf("%w: this and all further files of it: it has more than %d, and one for each %d KiB: "+
		"unpack it with unzip, and name the folder", member.ErrTooLarge, filesFree, fileBytes>>10)
	errBehind = errors.New("it ends behind the end of the WACZ")
	errPacked = errors.New("it is compressed once more, which the format forbids: unpack the WACZ with unzip")
	errDeep   = errors.New("it lies in others too deep, or over them")
	errTwice  = errors.New("it is there twice")
)

// lose adds a file that cannot be read, so that each command says why. One that is no WARC file gets the name of one.
func (l *list) lose(home, name string, err error) {
	if !errors.Is(err, member.ErrTooLarge) {
		err = fmt.Errorf("%w: %w", member.ErrNotWARC, err)
	}
	if home, name := path.Base(home), path.Base(name); home != name {
		err = fmt.Errorf("%w (%s in %s)", err, name, home)
	}
	if _, _, ok := warc.CutName(name); !ok {
		name += ".warc"
	}
	if _, known := l.files[name]; !known {
		l.names = append(l.names, name)
	}
	l.files[name] = entry{home: home, size: 1, fault: err}
}

// lost is the content of a file that cannot be read.
type lost struct{ error }

// ReadAt fails.
func (l lost) ReadAt([]byte, int64) (int, error) { return 0, l.error }

// directoryMost is how long the directories of a WACZ may be, and of those in it, in bytes. What is read of them takes
// up to twenty times as much memory.
const directoryMost = 4 << 20

var errDirectory = fmt.Errorf("%w: its ZIP directory has more than %d MiB: unpack it with unzip, and name the folder",
	member.ErrTooLarge, directoryMost>>20)

// OpenZIP opens a ZIP file, unless its directory is too long.
func OpenZIP(from io.ReaderAt, size int64) (*zip.Reader, error) {
	room := int64(directoryMost)
	return openZIP(from, size, &room)
}

// openZIP opens a ZIP file whose directory fits into room, and takes it from there.
func openZIP(from io.ReaderAt, size int64, room *int64) (*zip.Reader, error) {
	d := &directory{from, room}
	before := *room
	z, err := zip.NewReader(d, size)
	if d.room = nil; err != nil {
		*room = before
	}
	return z, err //nolint:wrapcheck // the caller knows the name
}

// directory counts what is read of a ZIP file while it is opened.
type directory struct {
	io.ReaderAt

	room *int64 // nil when it is open
}

// ReadAt reads, up to the end of the room.
func (d *directory) ReadAt(p []byte, off int64) (int, error) {
	n, err := d.ReaderAt.ReadAt(p, off)
	if d.room == nil {
		return n, err //nolint:wrapcheck // io.EOF as it is
	}
	if *d.room -= int64(n); *d.room < 0 {
		return 0, errDirectory
	}
	return n, err //nolint:wrapcheck // io.EOF as it is
}

// Homes returns the files that a WACZ consists of: itself, or a list of several and then the WACZ files that it names.
func Homes(fsys vfs.FS, name string) (files []string, err error) {
	l := newList()
	if err := l.read(fsys, name, ""); err != nil {
		return nil, fmt.Errorf("%s: no WACZ that can be read: %w", name, err)
	}
	files = []string{name}
	for _, p := range l.packages {
		if !slices.Contains(files, p.home) {
			files = append(files, p.home)
		}
	}
	return files, nil
}
