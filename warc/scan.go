package warc

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"orbweaver/internal/vfs"
	"orbweaver/warc/block"
	"orbweaver/warc/cdxj"
)

// ScanRecords calls onRecord with each record of z in order, up to the end of the file. onRecord borrows the record,
// and may read its block, or a part of it. Memory is that of the Reader, and of a block that onRecord reads.
//
// Each fault is passed to onDamage, whether z or onRecord found it: then the scan continues at the next position where
// a record can start. Any other error of z, onRecord or onDamage ends the scan and is returned.
func ScanRecords(z *Reader, onRecord func(*RecordRead) error, onDamage func(*Fault) error) error {
	for {
		rec, err := z.Next()
		if err == io.EOF { //nolint:errorlint // Next returns it unwrapped
			return nil
		}
		if err == nil {
			err = onRecord(rec)
		}
		if err == nil {
			continue
		}
		var damage *Fault
		if errors.As(err, &damage) {
			err = onDamage(damage)
		}
		if err != nil {
			return err
		}
	}
}

// StopAtDamage is an onDamage of ScanRecords: the first fault ends the scan.
func StopAtDamage(f *Fault) error { return f }

// ReadFile calls f with a Reader of at most the first n bytes of an archive file in dir. The default of o.Name is
// the name of the file. An error of f is returned as it is. A file that cannot be opened is a *Fault.
func ReadFile(fsys vfs.FS, dir string, info FileInfo, n int64, o ReaderOptions, f func(*Reader) error) (err error) {
	file, err := fsys.Open(join(dir, info.Name))
	if err != nil {
		return Unopened(info.Name, err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	size, err := file.Size()
	if err != nil {
		return fmt.Errorf("warc: %w", err)
	}
	o.Name = cmp.Or(o.Name, info.Name)
	z := NewReader(io.NewSectionReader(file, 0, min(size, n)), o)
	defer z.Close()
	return f(z)
}

// requestStart is how much of a request is read for the key of its answer, in bytes.
const requestStart = block.HeadMax + cdxj.RequestMost

// ScanEntries reads all records of a file, and calls add with the index entry and place of each capture, in order.
// Captures that answer another request than GET say so. see is called for each record, read to its end, with its
// entry, nil for none; ok says that the entry is added. Faults are passed to onDamage, as ScanRecords does.
func ScanEntries(
	z *Reader, see func(rec *RecordRead, c *cdxj.Entry) (ok bool, err error),
	add func(c *cdxj.Entry, offset, length int64), onDamage func(*Fault) error,
) error {
	x := cdxj.Exchanges{Add: add}
	err := ScanRecords(z, func(rec *RecordRead) error {
		names := cdxj.Names{ID: rec.Get("WARC-Record-ID"), To: rec.Get("WARC-Concurrent-To")}
		if rec.Type == Request && rec.ReadStart(requestStart) == nil {
			x.Request(names, rec.TargetURI, rec.Block)
		}
		entry, indexed, err := rec.IndexEntry()
		if err == nil {
			err = skipBlock(rec)
		}
		if err != nil {
			return err
		}
		c := &entry
		if !indexed {
			c = nil
		}
		ok, err := see(rec, c)
		switch {
		case ok:
			x.Capture(names, c, rec.Offset, rec.Length)
		case rec.Type != Request:
			x.Other()
		}
		return err
	}, onDamage)
	x.Flush()
	return err
}
