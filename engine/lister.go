package engine

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"orbweaver/engine/catalogue"
	"orbweaver/engine/layout"
	"orbweaver/engine/urlx"
	"orbweaver/internal/extsort"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// listArchive makes the catalogue of a pass of the crawl in dir, from the indexes of the archive: where one is missing
// or cannot be read, from the file.
func listArchive(fsys vfs.FS, dir string, m *manifest, say func(msg string, args ...any)) (cut catalogue.Cut, err error) {
	s, err := extsort.New(fsys, extsort.Options{File: dir + "/" + layout.FrontierDir + "/" + catalogueStem + "sort"})
	if err != nil {
		return cut, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	l := lister{fs: fsys, dir: dir + "/" + layout.ArchiveDir, seed: m.HashSeed, end: m.From, out: s, say: say}
	if err := l.all(); err != nil {
		return cut, fmt.Errorf("engine: list of the archive: %w", err)
	}
	return catalogue.Write(fsys, dir+"/"+CatalogueFile(m.Pass), s)
}

// lister reads where the good answers of the archive lie.
type lister struct {
	fs   vfs.FS
	dir  string // of the archive
	seed uint64
	end  warc.Cut
	out  *extsort.Sorter
	say  func(msg string, args ...any)
}

func (l *lister) all() error {
	files, err := warc.Files(l.fs, l.dir)
	if err != nil {
		return err
	}
	for _, info := range files {
		if !(warc.Cut{Serial: info.Serial}).Before(l.end) {
			break
		}
		known := false
		if !info.Open {
			if known, err = l.index(info); err != nil {
				return err
			}
		}
		if !known {
			if err := l.file(info); err != nil {
				return err
			}
		}
	}
	return nil
}

// index reads the CDXJ of a file. False means that it is not there, or is none; what it gave so far is as true as what
// the file gives, and the catalogue does not mind to be told twice.
func (l *lister) index(info warc.FileInfo) (known bool, err error) {
	f, err := l.fs.Open(l.dir + "/" + info.Index())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	in := bufio.NewReaderSize(f, 256<<10)
	for {
		line, err := in.ReadSlice('\n')
		if err == io.EOF && len(line) == 0 { //nolint:errorlint // bufio's own word
			return true, nil
		}
		if err != nil && err != io.EOF && !errors.Is(err, bufio.ErrBufferFull) { //nolint:errorlint // as above
			return false, err
		}
		entry, broken := warc.ParseIndexLine(line)
		if err != nil || broken != nil {
			l.say("an index of the archive is damaged: its file is read instead", "index", info.Index())
			return false, nil
		}
		if err := l.add(entry.URL, entry.Status, catalogue.Place{Serial: info.Serial, Offset: entry.Offset, Revisit: entry.Revisit}); err != nil {
			return false, err
		}
	}
}

// file reads the records themselves. What is damaged is passed over: its pages are fetched whole.
func (l *lister) file(info warc.FileInfo) (err error) {
	f, err := l.fs.Open(l.dir + "/" + info.Name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	size, err := f.Size()
	if err != nil {
		return err
	}
	z := warc.NewReader(io.NewSectionReader(f, 0, size), warc.ReaderOptions{Name: info.Name})
	defer z.Close()
	for {
		rec, err := z.Next()
		if err == io.EOF { //nolint:errorlint // Next's own word
			return nil
		}
		var damage *warc.Fault
		if errors.As(err, &damage) {
			continue
		}
		if err != nil {
			return err
		}
		if rec.Type != warc.Response && rec.Type != warc.Revisit || !rec.IsHTTP() {
			continue
		}
		head, _, err := rec.HTTP(false)
		if err != nil {
			continue // a record without a head, or damage: the next call of Next tells
		}
		at := catalogue.Place{Serial: info.Serial, Offset: rec.Offset, Revisit: rec.Type == warc.Revisit}
		if err := l.add(rec.TargetURI, head.Status, at); err != nil {
			return err
		}
	}
}

// statusGood is the one that a 304 is about.
const statusGood = 200

func (l *lister) add(url []byte, status int, at catalogue.Place) error {
	if status != statusGood || !(warc.Cut{Serial: at.Serial, Length: at.Offset}).Before(l.end) {
		return nil
	}
	if e, ok := catalogue.Entry(urlx.Fingerprint(l.seed, url), at); ok {
		return l.out.Add(e)
	}
	return nil
}
