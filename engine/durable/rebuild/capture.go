package rebuild

import (
	"orbweaver/engine/records/capture"
	"orbweaver/engine/state/site"
	"orbweaver/warc"
)

// storedCapture is a response or revisit of the archive. It borrows the record.
type storedCapture struct {
	capture.Capture
	rec        *warc.RecordRead
	url        []byte
	repeatable bool // a crawl tries such a URL again, unless this was its last try
}

// captureOf looks at a record, and reads the rest of its block.
func (r *rebuilder) captureOf(rec *warc.RecordRead) (c storedCapture, err error) {
	if c.Capture, err = capture.Read(rec); err == nil {
		err = rec.Skip()
	}
	c.rec, c.url = rec, rec.TargetURI
	c.repeatable = c.Again(&r.settings.Politeness)
	return c, err
}

// countStored counts a page against the limit of its site.
func (r *rebuilder) countStored(c *storedCapture) {
	if r.settings.MaxPerHost > 0 {
		r.Workbench.Site(r.siteOf(c.url)).Update(site.CountStored)
	}
}
