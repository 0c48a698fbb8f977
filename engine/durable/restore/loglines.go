package restore

import (
	"github.com/zeebo/xxh3"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/store/crawllog"
	"orbweaver/engine/store/journal"
	"orbweaver/engine/store/manifest"
	"orbweaver/internal/outcome"
)

// After a kill the crawl log and the counters disagree. Lines behind the checkpoint may be of URLs that count as not
// done, since only attempts with a journal entry count. And the last lines may not have been written yet. So lines
// without a journal entry are removed, and lines that are missing are made again from the archive.

// linesWaitingMost is at least the number of lines that waited to be written at a kill: 4 MiB of them that wait, and as
// much that was being written. A short line has 130 bytes.
const linesWaitingMost = 65_000

// lastLines are the last URLs that the journal names as finished, with the lines that the crawl log should have. A line
// is nil if the archive has no record.
type lastLines struct {
	ring []finishedLine
	next int
}

type finishedLine struct {
	fp   xxh3.Uint128
	line []byte
}

func (l *lastLines) add(fp xxh3.Uint128, line []byte) {
	if len(l.ring) < linesWaitingMost {
		l.ring = append(l.ring, finishedLine{fp, line})
		return
	}
	l.ring[l.next] = finishedLine{fp, line}
	l.next = (l.next + 1) % linesWaitingMost
}

// repairLog makes the final lines behind the checkpoint those of the journal. What goes wrong is logged: it concerns
// the log alone.
func (c *Crawl) repairLog(m *manifest.Manifest, last lastLines) {
	if m.Log == nil {
		return
	}
	if !m.Log.IsKnown() {
		c.Log.Warn("the crawl log is not repaired after the kill, since its disk was slow or full at the last checkpoint: " +
			"URLs of the last moments may have two final lines or none")
		return
	}
	kept := make(map[xxh3.Uint128]struct{}) // at most as many as there are finished URLs
	removed, err := c.CrawlLog.Repair(m.Log.End, func(l *crawllog.Line) bool {
		if !l.IsFinal() {
			return !l.IsRequeued()
		}
		fp, o := c.Finished.OutcomeOf(c.Frontier.HashSeed, l.URL)
		if o == outcome.None || o.String() != string(l.Outcome) {
			return false
		}
		_, twice := kept[fp]
		kept[fp] = struct{}{}
		return !twice
	})
	if err != nil {
		c.Log.Warn("the crawl log could not be repaired after a kill; URLs may have two final lines or none", "error", err)
		return
	}
	for fp := range kept { // an earlier resume may have noted it as lost
		c.Finished.RemoveUnlogged(fp)
	}
	added := 0
	for i := range last.ring {
		f := &last.ring[(last.next+i)%len(last.ring)]
		if _, ok := kept[f.fp]; ok {
			continue
		}
		if added++; f.line == nil {
			c.Finished.AddUnlogged(f.fp)
			continue
		}
		if !c.CrawlLog.HasRoom() {
			c.CrawlLog.Flush()
		}
		c.CrawlLog.AddLines(f.line)
	}
	c.CrawlLog.Flush()
	if removed > 0 || added > 0 {
		c.Log.Info("the crawl log was repaired after a kill", "removed", removed, "added", added)
	}
}

// addLine makes the line of a page whose record was read. isWhole says that the record has the payload, too.
func (r *record) addLine(e *journal.Entry, p *fetch.Page, isWhole bool) {
	if e.Kind == journal.KindPage {
		r.line = crawllog.AppendRestored(nil, p, &crawllog.Restored{
			URL: r.url, Date: r.date, Outcome: e.Outcome, IsWhole: isWhole,
			Hops: queued.Hops{Depth: e.Depth, Embeds: e.Embeds, Redirects: e.Hops, Speculative: e.Speculative, Mined: e.Mined},
		})
	}
}
