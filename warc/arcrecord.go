package warc

import (
	"bytes"
	"io"

	"orbweaver/warc/header"
)

// readARC makes a record of a header line of an ARC file; ok is false for any other line.
func readARC(rec *RecordRead, line []byte) (ok bool) {
	h, ok := header.ParseARC(line)
	if !ok {
		return false
	}
	rec.Version, rec.IsARC = "1.0", true
	for _, f := range h.Fields() {
		rec.Fields = append(rec.Fields, Field{Name: f[0], Value: f[1]})
	}
	return true
}

// endARC moves behind the empty lines between two records of an ARC file.
func (c *content) endARC() error {
	for range recordEnd {
		if c.r == c.w {
			if err := c.fill(c.src.Plain()); err == io.EOF { //nolint:errorlint // fill's own word
				return nil
			} else if err != nil {
				return err
			}
		}
		if bytes.IndexByte([]byte("\r\n"), c.buf[c.r]) < 0 {
			return nil
		}
		c.use(1)
	}
	return nil
}
