package engine

import (
	"fmt"

	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// openArchive opens the archive for writing, behind what counts.
func (e *Engine) openArchive(m *manifest) error {
	info := e.warcInfo(m)
	w, err := warc.OpenWriter(e.seams.FS, warc.Options{
		Dir: e.cfg.Dir + "/warc", Prefix: e.cfg.Name, Host: e.cfg.WARC.Host, SizeMax: e.cfg.WARC.SizeMax,
		Compression: e.cfg.WARC.Compression, Level: e.cfg.WARC.Level, Dictionary: e.cfg.WARC.Dictionary, Info: info, FinishLater: true,
	}, m.Archive)
	if err != nil {
		return err
	}
	e.ledger.writer = w
	if e.storedBefore, err = archiveBytes(e.seams.FS, e.cfg.Dir+"/warc"); err != nil {
		return err
	}
	e.storedBefore -= w.Stats().Bytes
	return nil
}

// bytesStored is the size of the archive: what earlier runs left, and what this one has written.
func (e *Engine) bytesStored() int64 { return e.storedBefore + e.ledger.writer.Stats().Bytes }

// archiveBytes adds up the WARC files of a directory.
func archiveBytes(fsys vfs.FS, dir string) (total int64, err error) {
	files, err := warc.Files(fsys, dir)
	if err != nil {
		return 0, err
	}
	for _, f := range files {
		n, err := fsys.Size(dir + "/" + f.Name)
		if err != nil {
			return 0, fmt.Errorf("engine: archive: %w", err)
		}
		total += n
	}
	return total, nil
}
