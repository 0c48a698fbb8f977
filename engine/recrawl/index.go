package recrawl

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
	"orbweaver/warc"
)

// WriteIndex indexes the captures of earlier passes: from the CDXJ index of each archive file, or from the file if it
// has no readable index.
func (p *Pass) WriteIndex() (index catalogue.Cut, err error) {
	sorter, err := extsort.New(p.FS, extsort.Options{File: p.Dir + "/" + layout.FrontierDir + "/" + indexPrefix + "sort"})
	if err != nil {
		return index, err
	}
	defer func() { err = errors.Join(err, sorter.Close()) }()
	b := indexBuilder{pass: p, archiveDir: p.Dir + "/" + layout.ArchiveDir, sorter: sorter}
	if err := b.addArchive(); err != nil {
		return index, fmt.Errorf("recrawl: index of earlier captures: %w", err)
	}
	return catalogue.Write(p.FS, p.Dir+"/"+IndexFile(p.Number), sorter)
}

// indexBuilder collects the places of all captures with status 200.
type indexBuilder struct {
	pass       *Pass
	archiveDir string
	sorter     *extsort.Sorter
}

func (b *indexBuilder) addArchive() error {
	files, err := warc.Files(b.pass.FS, b.archiveDir)
	if err != nil {
		return err
	}
	for _, info := range files {
		if !(warc.Cut{Serial: info.Serial}).Before(b.pass.ArchiveEnd) {
			break
		}
		indexed := false
		if !info.Open {
			if indexed, err = b.addIndex(info); err != nil {
				return err
			}
		}
		if !indexed {
			if err := b.addFile(info); err != nil {
				return err
			}
		}
	}
	return nil
}

// addIndex reads the CDXJ index of an archive file. It reports false if the index is missing or damaged; entries that
// were read before the damage are true, and the catalogue accepts duplicates.
func (b *indexBuilder) addIndex(info warc.FileInfo) (ok bool, err error) {
	f, err := b.pass.FS.Open(b.archiveDir + "/" + info.Index())
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
		if err == io.EOF && len(line) == 0 { //nolint:errorlint // bufio returns it unwrapped
			return true, nil
		}
		if err != nil && err != io.EOF && !errors.Is(err, bufio.ErrBufferFull) { //nolint:errorlint // as above
			return false, err
		}
		entry, broken := warc.ParseIndexLine(line)
		if err != nil || broken != nil {
			b.pass.Warn("a CDXJ index of the archive is damaged; its WARC file is read instead", "index", info.Index())
			return false, nil
		}
		at := catalogue.Place{Serial: info.Serial, Offset: entry.Offset, Revisit: entry.Revisit}
		if err := b.add(entry.URL, entry.Status, at); err != nil {
			return false, err
		}
	}
}

// addFile reads the records of an archive file. Damaged records are skipped; their pages are requested
// unconditionally.
func (b *indexBuilder) addFile(info warc.FileInfo) (err error) {
	f, err := b.pass.FS.Open(b.archiveDir + "/" + info.Name)
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
		if err == io.EOF { //nolint:errorlint // Next returns it unwrapped
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
			continue // no head, or damage, which the next call of Next returns
		}
		at := catalogue.Place{Serial: info.Serial, Offset: rec.Offset, Revisit: rec.Type == warc.Revisit}
		if err := b.add(rec.TargetURI, head.Status, at); err != nil {
			return err
		}
	}
}

func (b *indexBuilder) add(url []byte, status int, at catalogue.Place) error {
	if status != statusOK || !(warc.Cut{Serial: at.Serial, Length: at.Offset}).Before(b.pass.ArchiveEnd) {
		return nil
	}
	if e, ok := catalogue.Entry(urlx.Fingerprint(b.pass.HashSeed, url), at); ok {
		return b.sorter.Add(e)
	}
	return nil
}
