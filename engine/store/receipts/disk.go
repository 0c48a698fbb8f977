package receipts

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"sync"

	"orbweaver/engine/state/layout"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/fixity"
)

// Removed returns the receipts of the WARC files of a crawl that are in an object store and not here, by name.
func Removed(fsys vfs.FS, crawl string) ([]Receipt, error) {
	names, err := fsys.List(path.Join(crawl, layout.ArchiveDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("upload receipts: %w", err)
	}
	d := Over(fsys)
	return d.removed(crawl, names)
}

// RemovedBytes returns their length in bytes.
func RemovedBytes(fsys vfs.FS, crawl string) (total int64, err error) {
	removed, err := Removed(fsys, crawl)
	for i := range removed {
		total += removed[i].Length
	}
	return total, err
}

// CheckAllHere returns an error if WARC files of a crawl are in an object store and not here. purpose says what needs
// them.
func CheckAllHere(fsys vfs.FS, crawl, purpose string) error {
	removed, err := Removed(fsys, crawl)
	if err != nil || len(removed) == 0 {
		return err
	}
	return fmt.Errorf("%s needs all WARC files, and %d are not here; the first: %w", purpose, len(removed),
		&ElsewhereError{Receipt: removed[0], Crawl: crawl})
}

// ElsewhereError says that a WARC file was sent to an object store and removed here. It wraps vfs.ErrElsewhere.
type ElsewhereError struct {
	Receipt

	Crawl string // directory of the crawl
}

// Error says where the file is, and how to get it back.
func (e *ElsewhereError) Error() string {
	return fmt.Sprintf("%s is not here, but in %s (sent %s, %d bytes): 'orbweaver upload --fetch-back %s' gets it back",
		path.Join(e.Crawl, layout.ArchiveDir, e.File), e.Place(), e.Sent.UTC().Format("2006-01-02"), e.Length, e.Crawl)
}

// Unwrap returns vfs.ErrElsewhere.
func (e *ElsewhereError) Unwrap() error { return vfs.ErrElsewhere }

// Disk is a disk on which the removed WARC files of crawls are listed, and have their lengths. They can be opened only
// as far as objects are read: see ReadRecords and ReadFiles.
type Disk struct {
	vfs.FS

	records, files Objects

	mu    sync.Mutex
	known map[string]Receipt // of removed files, by the path of the receipt; guarded by mu
}

// Over returns the Disk above fsys.
func Over(fsys vfs.FS) *Disk {
	return &Disk{FS: fsys, records: NoObjects{}, files: NoObjects{}, known: map[string]Receipt{}}
}

// ReadRecords lets OpenRange read parts of removed files, such as a record, from their objects. It returns d.
func (d *Disk) ReadRecords(from Objects) *Disk {
	d.records = from
	return d
}

// ReadFiles lets Open read removed files from their objects: each in order, from its beginning. It returns d.
func (d *Disk) ReadFiles(from Objects) *Disk {
	d.files = from
	return d
}

// Object says in which object a removed file is; "" if the file was not removed.
func (d *Disk) Object(name string) string {
	if _, err := d.FS.Size(name); err != nil {
		if away, ok := d.elsewhere(name, err); ok {
			return away.Place()
		}
	}
	return ""
}

// Away are files that were removed here.
type Away struct {
	Files int
	Bytes int64
	First *ElsewhereError
}

// FindAway returns which of some files were removed here.
func (d *Disk) FindAway(names []string) (all Away) {
	for _, name := range names {
		_, err := d.FS.Size(name)
		away, ok := d.elsewhere(name, err)
		if !ok {
			continue
		}
		if all.Files++; all.Files == 1 {
			all.First = away
		}
		all.Bytes += away.Length
	}
	return all
}

// List also names the removed files, if it is the archive of a crawl.
func (d *Disk) List(dir string) ([]string, error) {
	names, err := d.FS.List(dir)
	if err != nil {
		return nil, err //nolint:wrapcheck // the disk's own
	}
	crawl, ok := crawlOf(dir)
	if !ok || crawl == ".." && !slices.Contains(names, fixity.ManifestName) {
		return names, nil
	}
	removed, err := d.removed(crawl, names)
	if err != nil || len(removed) == 0 {
		return names, err
	}
	for i := range removed {
		names = append(names, removed[i].File)
	}
	slices.Sort(names)
	return names, nil
}

// Size is the length in the receipt for a removed file.
func (d *Disk) Size(name string) (int64, error) {
	size, err := d.FS.Size(name)
	if away, ok := d.elsewhere(name, err); ok {
		return away.Length, nil
	}
	return size, err //nolint:wrapcheck // the disk's own
}

// Open opens a removed file as ReadFiles says. Otherwise it returns an *ElsewhereError.
func (d *Disk) Open(name string) (vfs.File, error) {
	f, err := d.FS.Open(name)
	if away, ok := d.elsewhere(name, err); ok {
		return openWhole(d.files, away, name)
	}
	return f, err //nolint:wrapcheck // the disk's own
}

// OpenRange implements vfs.RangeFS: it opens a part of a removed file as ReadRecords says. Otherwise it returns an
// *ElsewhereError.
func (d *Disk) OpenRange(name string, offset, length int64) (vfs.File, error) {
	f, err := vfs.OpenRange(d.FS, name, offset, length)
	if away, ok := d.elsewhere(name, err); ok {
		return openPart(d.records, away, name, offset, length)
	}
	return f, err //nolint:wrapcheck // the disk's own
}

// elsewhere finds the receipt of a file that is not here.
func (d *Disk) elsewhere(name string, err error) (*ElsewhereError, bool) {
	file := path.Base(name)
	crawl, inArchive := crawlOf(path.Dir(name))
	if _, isOpen, ok := warc.CutName(file); !ok || isOpen || !inArchive || !errors.Is(err, fs.ErrNotExist) {
		return nil, false
	}
	l := List{FS: d.FS, Dir: path.Join(crawl, Dir(Store))}
	one, ok, err := l.Read(file)
	if err != nil || !ok || !one.isProof() {
		return nil, false //nolint:nilerr // a receipt that cannot be read proves nothing: the file is missing
	}
	return &ElsewhereError{Receipt: one, Crawl: crawl}, true
}

// removed returns the receipts of files that are not among the sorted names of an archive directory.
func (d *Disk) removed(crawl string, here []string) (all []Receipt, err error) {
	l := List{FS: d.FS, Dir: path.Join(crawl, Dir(Store))}
	files, err := l.names()
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		_, isHere := slices.BinarySearch(here, file)
		_, _, isWARC := warc.CutName(file)
		if isHere || !isWARC {
			continue
		}
		one, ok, err := d.read(&l, file)
		if err != nil {
			return nil, err
		}
		if _, reopened := slices.BinarySearch(here, file+".open"); ok && one.isProof() && !reopened {
			all = append(all, one)
		}
	}
	return all, nil
}

// read reads the receipt of a removed file, once: the archive is listed for each query of its index.
func (d *Disk) read(l *List, file string) (one Receipt, ok bool, err error) {
	name := l.path(file)
	d.mu.Lock()
	one, ok = d.known[name]
	d.mu.Unlock()
	if ok {
		return one, true, nil
	}
	if one, ok, err = l.Read(file); ok {
		d.mu.Lock()
		d.known[name] = one
		d.mu.Unlock()
	}
	return one, ok, err
}

// crawlOf returns the directory of the crawl whose archive is in dir; ok is false if dir is none by its name. The
// directory of a process may be an archive.
func crawlOf(dir string) (crawl string, ok bool) {
	switch dir = path.Clean(dir); {
	case path.Base(dir) == layout.ArchiveDir:
		return path.Dir(dir), true
	case dir == ".":
		return "..", true
	default:
		return "", false
	}
}
