package fsck

import (
	"encoding/hex"
	"errors"
	"io/fs"

	"orbweaver/engine/state/layout"
	"orbweaver/engine/store/receipts"
	"orbweaver/internal/plural"
	"orbweaver/warc"
	"orbweaver/warc/cdxj"
	"orbweaver/warc/fixity"
)

// removedFile checks what is left here of a file that was sent and removed: its index, and its line in the manifest.
func (c *archiveCheck) removedFile(t *tally, info warc.FileInfo, r *receipts.Receipt) error {
	if t.removed.count++; t.removed.count == 1 {
		t.removed.place = r.Place()
	}
	t.removed.bytes += r.Length
	name := layout.ArchiveDir + "/" + info.Name
	if line, ok := c.listedFile(info.Name); ok &&
		(line.Bytes != r.Length || hex.EncodeToString(line.SHA256[:]) != r.SHA256) {
		c.fault(areaArchive, name, "sent and removed; its receipt and the manifest say different lengths or digests")
	}
	index := layout.ArchiveDir + "/" + info.Index()
	f, err := c.fsys.Open(c.path(index))
	if errors.Is(err, fs.ErrNotExist) {
		c.fault(areaIndex, index, "missing, and its archive file was sent and removed; the bucket has both")
		return nil
	}
	if err != nil {
		return err
	}
	damaged := false
	err = cdxj.ScanLines(f, func(_ []byte, line *cdxj.Line, damage error) error {
		damaged = damaged || damage != nil || line.Offset+line.Length > r.Length
		return nil //nolint:nilerr // it is noted as a fault
	})
	if damaged || errors.Is(err, cdxj.ErrLine) {
		c.fault(areaIndex, index, "damaged, and its archive file was sent and removed; the bucket has both")
		err = nil
	}
	c.checked(areaIndex, 1, "files")
	return errors.Join(err, f.Close())
}

// listedFile finds the line of a file in the manifest of the archive.
func (c *archiveCheck) listedFile(name string) (line fixity.File, ok bool) {
	if c.listed == nil {
		c.listed = map[string]fixity.File{}
		f, err := c.fsys.Open(c.path(layout.ArchiveDir + "/" + fixity.ManifestName))
		if err != nil {
			return line, false // not every crawl has one
		}
		list, err := fixity.Read(f)
		if err = errors.Join(err, f.Close()); err != nil {
			c.fail(areaArchive, layout.ArchiveDir+"/"+fixity.ManifestName, err)
		}
		for _, one := range list.Files {
			c.listed[one.Name] = one
		}
	}
	line, ok = c.listed[name]
	return line, ok
}

// noteRemoved says how many files were not read.
func (c *archiveCheck) noteRemoved(t *tally) {
	if n := t.removed.count; n > 0 {
		c.hasRemoved = true
		c.note(areaArchive, layout.ArchiveDir, "%s (%d bytes) %s sent and removed, and their records are not checked; the "+
			"first is %s. 'orbweaver fsck --remote' asks the bucket, 'orbweaver upload --fetch-back' gets them back",
			plural.Count(n, "file"), t.removed.bytes, plural.Verb(n, "was", "were"), t.removed.place)
	}
}
