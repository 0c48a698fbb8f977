package recrawl

import (
	"errors"
	"fmt"
	"io/fs"
	"math"

	"orbweaver/engine/records/capture"
	"orbweaver/engine/state/layout"
	"orbweaver/internal/extsort"
	"orbweaver/internal/urlx"
	"orbweaver/warc"
	"orbweaver/warc/cdxj"
)

// WriteIndex indexes the captures of earlier passes: from the CDXJ index of each archive file, or from the file if it
// has no readable index.
func (p *Pass) WriteIndex() (index capture.IndexCheckpoint, err error) {
	sorter, err := extsort.New(p.FS, extsort.Options{File: p.Dir + "/" + layout.FrontierDir + "/" + indexPrefix + "sort"})
	if err != nil {
		return index, err
	}
	defer func() { err = errors.Join(err, sorter.Close()) }()
	b := indexBuilder{pass: p, archiveDir: p.Dir + "/" + layout.ArchiveDir, sorter: sorter}
	if err := b.addArchive(); err != nil {
		return index, fmt.Errorf("recrawl: index of earlier captures: %w", err)
	}
	return capture.WriteIndex(p.FS, p.Dir+"/"+IndexFile(p.Number), sorter)
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
		if !(warc.Checkpoint{Serial: info.Serial}).Before(b.pass.ArchiveEnd) {
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
	err = cdxj.ScanLines(f, func(_ []byte, entry *cdxj.Line, damage error) error {
		if damage != nil {
			return damage
		}
		at := capture.Place{Serial: info.Serial, Offset: entry.Offset, Revisit: entry.Revisit}
		return b.add(entry.URL, entry.Status, at)
	})
	if errors.Is(err, cdxj.ErrLine) {
		b.pass.Warn("a CDXJ index of the archive is damaged; its WARC file is read instead", "index", info.Index())
		return false, nil
	}
	return err == nil, err
}

// addFile reads the records of an archive file. Damaged records are skipped; their pages are requested
// unconditionally.
func (b *indexBuilder) addFile(info warc.FileInfo) error {
	onRecord := func(rec *warc.RecordRead) error {
		if rec.Type != warc.Response && rec.Type != warc.Revisit || !rec.IsHTTP() || rec.IsWall() {
			return nil
		}
		head, _, err := rec.HTTP(false)
		if err != nil {
			return nil //nolint:nilerr // no head, or damage, which the reader returns next
		}
		at := capture.Place{Serial: info.Serial, Offset: rec.Offset, Revisit: rec.Type == warc.Revisit}
		return b.add(rec.TargetURI, head.Status, at)
	}
	own := warc.ReaderOptions{Unbounded: true}
	return warc.ReadFile(b.pass.FS, b.archiveDir, info, math.MaxInt64, own, func(z *warc.Reader) error {
		return warc.ScanRecords(z, onRecord, func(*warc.Fault) error { return nil })
	})
}

func (b *indexBuilder) add(url []byte, status int, at capture.Place) error {
	if status != statusOK || !(warc.Checkpoint{Serial: at.Serial, Length: at.Offset}).Before(b.pass.ArchiveEnd) {
		return nil
	}
	if e, ok := capture.IndexEntry(urlx.Fingerprint(b.pass.HashSeed, url), at); ok {
		return b.sorter.Add(e)
	}
	return nil
}
