package capture

import (
	"bytes"
	"strings"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/politeness"
	"orbweaver/engine/net/robots"
	"orbweaver/internal/outcome"
	"orbweaver/internal/urlx"
	"orbweaver/warc"
	"orbweaver/warc/cdxj"
)

// Capture is what a response or revisit of the archive tells of the attempt that it was stored for. The outcome is not
// written in the archive; it follows from what is: status, framing, and why a body was cut. A redirect that was one too
// many looks like any other.
type Capture struct {
	Robots  bool // of a robots.txt; a page of that name looks the same
	Status  int  // of HTTP, 0 for none
	Outcome outcome.Outcome
	Page    *fetch.Page // nil if the block holds no response; of a revisit there is only the head
	revisit bool
}

// Read looks at a response or revisit. It reads the rest of the block if not all of it is in memory. Page borrows the
// record.
func Read(rec *warc.RecordRead) (Capture, error) {
	c := Capture{Outcome: outcome.OtherStatus, revisit: rec.Type == warc.Revisit}
	_, path := urlx.Split(rec.TargetURI)
	c.Robots = bytes.Equal(path, []byte(robots.FilePath))
	page, ok, err := pageOf(rec)
	if err != nil || !ok {
		return c, err
	}
	c.Page, c.Status, c.Outcome = page, page.Status, page.Outcome
	if outcome.IsPageStatus(c.Status) {
		c.Outcome = cutOutcome(c.Outcome, rec)
	}
	if rec.IsWall() {
		c.Outcome = outcome.Wall
	}
	return c, nil
}

// pageOf returns the Page of a record.
func pageOf(rec *warc.RecordRead) (*fetch.Page, bool, error) {
	if int64(len(rec.Block)) == rec.ContentLength {
		page, ok := fetch.Stored(rec.TargetURI, rec.Block)
		return page, ok, nil
	}
	return fetch.NewRestorer().Restore(rec.TargetURI, rec.Content(), rec.ContentLength)
}

// MayBeAnswer says, by its line in the index, whether a capture may be what IsAnswer says yes of: no robots.txt, and
// nothing that asks to slow down or is passing.
func MayBeAnswer(said *cdxj.Line) bool {
	if !bytes.HasPrefix(said.URL, []byte("http")) || said.Status == 0 || said.Status == 429 || said.Status/100 == 5 {
		return false
	}
	_, path := urlx.Split(said.URL)
	return string(path) != robots.FilePath
}

// IsAnswer reads the rest of a record. It says whether the record is what an agent that is asked whether it has the
// page calls one: no try that failed half-way, and no target of a redirected robots.txt.
func IsAnswer(rec *warc.RecordRead) (bool, error) {
	if rec.Type != warc.Response && rec.Type != warc.Revisit || isRobotsTarget(rec) {
		return false, rec.Skip()
	}
	c, err := Read(rec)
	if err == nil {
		err = rec.Skip()
	}
	return c.Outcome.Class() == outcome.ClassAnswer, err
}

// cutOutcome is the outcome of an answer with a good status, by what its record says of the body's end.
func cutOutcome(o outcome.Outcome, rec *warc.RecordRead) outcome.Outcome {
	if rec.Type == warc.Revisit {
		return outcome.OK // only whole payloads are compared
	}
	if o == outcome.Protocol {
		return o
	}
	switch rec.Get("WARC-Truncated") {
	case warc.TruncatedLength.String():
		return outcome.TruncatedLength
	case warc.TruncatedTime.String():
		return outcome.TruncatedTime
	case warc.TruncatedDisconnect.String():
		return outcome.TruncatedDisconnect
	case warc.TruncatedUnspecified.String():
		return outcome.NoMemory
	}
	return o
}

// ExchangeField is the header field of captures that says how long the exchange took, and more (see package gaps).
const ExchangeField = "Orbweaver-Exchange"

// ForRobots is the word in ExchangeField of a URL that was requested only because a robots.txt redirects there.
// Archives of earlier versions do not have it.
const ForRobots = "for=robots.txt"

// isRobotsTarget says whether a record is the target of a redirected robots.txt, whose URL can be that of a page, too.
func isRobotsTarget(rec *warc.RecordRead) bool {
	return strings.Contains(" "+rec.Get(ExchangeField)+" ", " "+ForRobots+" ")
}

// The header fields of captures about near-duplicates; docs/warc.md has their forms.
const (
	SimHashField = warc.SimHashField
	NearField    = "Orbweaver-Near-Duplicate"

	LinksSkipped = "links=skipped" // in NearField: of the links, only page requisites were followed
)

// The header fields of captures some of whose links a program of --hook has dropped, or has given scores. docs/warc.md
// has their form.
const (
	DroppedField = "Orbweaver-Dropped-Links"
	ScoresField  = "Orbweaver-Link-Scores"
)

// NearDuplicate says whether a capture is a near-duplicate of an earlier page, and whether its links were skipped.
func NearDuplicate(rec *warc.RecordRead) (isNear, skipped bool) {
	value := rec.Get(NearField)
	return value != "", strings.Contains(" "+value, " "+LinksSkipped+" ")
}

// HopPathField is the field of a metadata record with the hop path of the capture.
const HopPathField = "hopsFromSeed"

// HopPath returns the hop path from a metadata record, whose block is in memory; nil if there is none. The result
// belongs to the caller.
func HopPath(rec *warc.RecordRead) []byte {
	if rec.Type != warc.Metadata {
		return nil
	}
	for line := range bytes.Lines(rec.Block) {
		if path, ok := bytes.CutPrefix(line, []byte(HopPathField+": ")); ok {
			return bytes.Clone(bytes.TrimSpace(path))
		}
	}
	return nil
}

// Again says whether a crawl asks again for a URL with such an answer, unless it had all its tries.
func (c *Capture) Again(p *politeness.Policy) bool { return !c.revisit && p.Table[c.Outcome].Retry }
