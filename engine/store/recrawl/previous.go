package recrawl

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/records/capture"
	"orbweaver/engine/state/attempt"
	"orbweaver/engine/state/layout"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// PreviousCrawl answers questions about the captures of earlier passes. All methods except Close are safe for
// concurrent use.
type PreviousCrawl interface {
	// FillCondition fills c for a request of url. It reports false if the request must be unconditional; c is then
	// undefined.
	FillCondition(c *Condition, url []byte) bool
	// ReadPage reads a previous capture as a Page whose links are resolved against url. It returns nil if the capture
	// cannot be read.
	ReadPage(previous *attempt.PreviousCapture, url []byte) *fetch.Page
	// HasCaptures reports whether there was an earlier pass.
	HasCaptures() bool
	Close() error
}

// FirstPass is the PreviousCrawl of a crawl without earlier passes.
type FirstPass struct{}

// FillCondition reports false: there is no capture.
func (FirstPass) FillCondition(*Condition, []byte) bool { return false }

// ReadPage returns nil: there is no capture.
func (FirstPass) ReadPage(*attempt.PreviousCapture, []byte) *fetch.Page { return nil }

// HasCaptures reports false.
func (FirstPass) HasCaptures() bool { return false }

// Close does nothing.
func (FirstPass) Close() error { return nil }

// Pass describes a pass that follows earlier ones.
type Pass struct {
	FS         vfs.FS
	Dir        string          // the crawl directory
	Number     int             // of the pass; the first pass is 0
	HashSeed   uint64          // seed of URL fingerprints
	ArchiveEnd warc.Checkpoint // end of the archive when the pass began
	Warn       func(msg string, args ...any)
}

// indexPrefix begins the names of all files of this package in the frontier directory.
const indexPrefix = "catalogue-"

// IndexFile names the index of the captures from before a pass, relative to the crawl directory.
func IndexFile(pass int) string {
	return fmt.Sprintf("%s/%s%08d", layout.FrontierDir, indexPrefix, pass)
}

// Open opens the index that the manifest names; a nil index means a first pass. A missing or damaged index is built
// again. Open returns the index that the next manifest must name.
func (p *Pass) Open(index *capture.IndexCheckpoint) (PreviousCrawl, *capture.IndexCheckpoint, error) {
	if index == nil {
		return FirstPass{}, nil, nil
	}
	name := p.Dir + "/" + IndexFile(p.Number)
	opened, err := capture.OpenIndex(p.FS, name, *index)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, capture.ErrIndexCorrupt) {
		p.Warn("the index of earlier captures is missing or damaged, and is built again", "error", err)
		var rebuilt capture.IndexCheckpoint
		if rebuilt, err = p.WriteIndex(); err != nil {
			return nil, nil, err
		}
		index = &rebuilt
		opened, err = capture.OpenIndex(p.FS, name, rebuilt)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("recrawl: %w", err)
	}
	return newCaptures(p, opened), index, nil
}

// RemoveOtherIndexes deletes the indexes of other passes, and what a killed process left of building one.
func (p *Pass) RemoveOtherIndexes(index *capture.IndexCheckpoint) error {
	names, err := p.FS.List(p.Dir + "/" + layout.FrontierDir)
	if err != nil {
		return fmt.Errorf("recrawl: %w", err)
	}
	for _, name := range names {
		isIndex := strings.HasPrefix(name, indexPrefix)
		name = layout.FrontierDir + "/" + name
		if !isIndex || index != nil && name == IndexFile(p.Number) {
			continue
		}
		if err := vfs.RemoveIfExists(p.FS, p.Dir+"/"+name); err != nil {
			return fmt.Errorf("recrawl: %w", err)
		}
	}
	return nil
}
