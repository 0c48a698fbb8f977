package derive

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"orbweaver/engine/state/layout"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// ErrNoFiles is returned if there is no WARC file.
var ErrNoFiles = errors.New("derive: no WARC files")

// ErrSameName is returned if two inputs would have the same outputs.
var ErrSameName = errors.New("derive: two files with the same name")

// find returns the WARC files of names: crawl directories, other directories, or files. Files that a crawl is writing
// are counted and left out: a later Run reads them whole.
func find(fsys vfs.FS, names []string, crawl string) (files []Source, unfinished int, err error) {
	seen := map[string]string{}
	add := func(dir, base, ofCrawl string) error {
		stem, _, ok := warc.CutName(base)
		if !ok { // a file of another name
			stem = base
		}
		stem = strings.ReplaceAll(stem, "/", "-") // of a file in a WACZ in the directory
		s := Source{Path: path.Join(dir, base), Stem: stem, File: base, Crawl: crawl}
		if s.Crawl == "" {
			s.Crawl = plainName(ofCrawl)
		}
		switch other, known := seen[base]; {
		case known && other == s.Path:
			return nil
		case known:
			return fmt.Errorf("%w: %s and %s: give them other directories with --out", ErrSameName, other, s.Path)
		}
		seen[base] = s.Path
		s.Size, _ = fsys.Size(s.Path) // opening it says what is wrong
		files = append(files, s)
		return nil
	}
	for _, name := range names {
		name = path.Clean(name)
		found := 0
		for _, dir := range []string{path.Join(name, layout.ArchiveDir), path.Join(name, "archive"), name} {
			bases, err := fsys.List(dir)
			if err != nil || found > 0 {
				continue
			}
			for _, base := range bases {
				_, isOpen, ok := warc.CutName(base)
				if !ok {
					continue
				}
				found++
				if isOpen {
					unfinished++
					continue
				}
				if err := add(dir, base, path.Base(name)); err != nil {
					return nil, 0, err
				}
			}
		}
		if found > 0 {
			continue
		}
		if _, isOpen, ok := warc.CutName(path.Base(name)); isOpen || !ok && !isArchive(fsys, name) {
			return nil, 0, fmt.Errorf("%w in %s: give a crawl directory, or files such as NAME.warc.gz", ErrNoFiles, name)
		}
		dir := path.Dir(name)
		ofCrawl := path.Base(dir)
		if ofCrawl == layout.ArchiveDir {
			ofCrawl = path.Base(path.Dir(dir))
		}
		if err := add(dir, path.Base(name), ofCrawl); err != nil {
			return nil, 0, err
		}
	}
	return files, unfinished, nil
}

// isArchive reports whether a file of another name begins with a record.
func isArchive(fsys vfs.FS, name string) bool {
	file, err := fsys.Open(name)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }() // opened for reading
	z := warc.NewReader(file, warc.ReaderOptions{})
	defer z.Close()
	_, err = z.Next()
	return err == nil
}

// plainName makes a name of a crawl that can be part of a path.
func plainName(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '-', r == '_':
			return r
		default:
			return '_'
		}
	}, name)
	if strings.Trim(name, ".") == "" {
		return "crawl"
	}
	return name
}
