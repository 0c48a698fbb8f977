package warc

import (
	"orbweaver/warc/block"
	"orbweaver/warc/cdxj"
)

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
