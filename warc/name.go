package warc

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"time"

	"orbweaver/internal/vfs"
	"orbweaver/warc/filename"
)

// FileInfo is one file of an archive directory.
type FileInfo = filename.Info

// ParseName parses a name of this program, with or without .open.
func ParseName(name string) (FileInfo, bool) { return filename.Parse(name) }

// IndexName returns the name of the CDXJ index of any WARC file.
func IndexName(name string) string { return filename.Index(name) }

// CutName returns the name of any WARC file without its suffixes: see filename.Cut.
func CutName(name string) (stem string, isOpen, ok bool) { return filename.Cut(name) }

// indexSuffix and openSuffix are those of package filename.
const (
	indexSuffix = filename.IndexSuffix
	openSuffix  = filename.OpenSuffix
)

// formatName returns the name of a file when it is complete.
func formatName(o *Options, serial uint32, now time.Time) string {
	return filename.Format(o.Prefix, o.Host, o.Compression, serial, now)
}

// Files lists the archive files of a directory by serial, then by name. A missing directory has none.
func Files(fsys vfs.FS, dir string) ([]FileInfo, error) {
	names, err := fsys.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("warc: listing %s: %w", dir, err)
	}
	var files []FileInfo
	for _, name := range names {
		if f, ok := ParseName(name); ok {
			files = append(files, f)
		}
	}
	slices.SortStableFunc(files, func(a, b FileInfo) int { return int(int64(a.Serial) - int64(b.Serial)) })
	return files, nil
}

// FindFile looks up the file with a serial. The error wraps fs.ErrNotExist if there is none.
func FindFile(fsys vfs.FS, dir string, serial uint32) (FileInfo, error) {
	files, err := Files(fsys, dir)
	if err != nil {
		return FileInfo{}, err
	}
	for _, f := range files {
		if f.Serial == serial {
			return f, nil
		}
	}
	return FileInfo{}, fmt.Errorf("warc: %s: no file with serial %05d: %w", dir, serial, fs.ErrNotExist)
}

// join makes the path of a file in the directory.
func join(dir, name string) string { return path.Join(dir, name) }
