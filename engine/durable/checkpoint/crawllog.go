package checkpoint

import (
	"orbweaver/engine/store/crawllog"
	"orbweaver/engine/store/manifest"
)

// CrawlLog is the log of the crawl. A checkpoint notes where it ends, so that a resume knows which lines count. A log
// that cannot be written ends no checkpoint.
type CrawlLog interface {
	// Mark notes the lines that were added until now.
	Mark() int64
	// PositionOf returns where these lines end in the files.
	PositionOf(mark int64) crawllog.Position
	// SyncFile makes the lines durable.
	SyncFile() error
}

// logState saves where the log ends.
type logState struct {
	None
	log  CrawlLog
	mark int64
}

func (p *logState) MarkState(*manifest.Manifest) error {
	p.mark = p.log.Mark()
	return nil
}

func (p *logState) Write(m *manifest.Manifest) error {
	var c crawllog.Checkpoint
	if m.Log != nil {
		c = *m.Log
	}
	c.End = p.log.PositionOf(p.mark)
	m.Log = &c
	return nil
}

func (p *logState) Sync(*manifest.Manifest) error {
	_ = p.log.SyncFile() // after a power cut the log may lack lines
	return nil
}
