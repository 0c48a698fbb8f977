package engine

import (
	"strings"
	"time"

	"orbweaver/engine/checkpoint"
	"orbweaver/engine/journal"
	"orbweaver/engine/layout"
	"orbweaver/engine/lifecycle"
	"orbweaver/engine/manifest"
	"orbweaver/engine/recrawl"
	"orbweaver/engine/restore"
	"orbweaver/warc"
)

// restore brings the crawl from the manifest's checkpoint to where the journal ends.
func (e *Engine) restore(m *manifest.Manifest, fresh bool) error {
	if fresh { // remove what a kill before the first manifest may have left
		return layout.RemoveOlder(e.seams.FS, e.frontierDir(), 1<<63, func(uint64) bool { return false })
	}
	generation, err := layout.Youngest(e.seams.FS, e.frontierDir())
	if err != nil {
		return err
	}
	e.points.SkipGenerations(generation)
	c := &restore.Crawl{
		FS: e.seams.FS, Dir: e.cfg.Dir, Boot: e.seams.Boot, Log: e.seams.Log, Journal: e.ledger, Frontier: e.frontier,
		Sites: e.hosts, Dead: e.under, Flusher: e.flush, Finished: e.finished, Limits: e.limits, Cluster: e.cluster,
		Options: restore.Options{
			Links: e.cfg.linkOptions(e.filters), HasVia: e.cfg.Archive.Via, Politeness: e.cfg.Politeness,
			StallWait: e.cfg.Limits.StallWait, RulesMemory: e.cfg.RulesMemory(), Readers: e.cfg.Workers.Parsers,
		},
	}
	if m.Afresh {
		last := e.points.Last()
		m.Afresh, last.Afresh, last.Bench = false, false, nil
		return c.BeginPass(m)
	}
	done, err := c.Restore(m)
	e.unclean, e.opening.Replay, e.opening.Entries, e.opening.Links = done.Unclean, done.Replay, done.Entries, done.Links
	return err
}

// warcInfo is the block of each file's warcinfo record.
func (e *Engine) warcInfo(m *manifest.Manifest) []warc.Field {
	c := &e.cfg
	fields := []warc.Field{
		{Name: "software", Value: "orbweaver/" + c.Archive.Version},
		{Name: "format", Value: "WARC File Format 1.1"},
		{Name: "conformsTo", Value: "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"},
		{Name: "hostname", Value: c.Archive.Host},
		{Name: "http-header-user-agent", Value: c.Fetch.UserAgent},
		{Name: "robots", Value: "obey (RFC 9309)"},
		{Name: "isPartOf", Value: m.CrawlID},
		{Name: "payload-digest", Value: "sha1 of the body without transfer coding, content coding kept"},
	}
	for _, f := range []warc.Field{
		{Name: "http-header-from", Value: c.Fetch.Contact},
		{Name: "operator", Value: c.Archive.Operator},
		{Name: "description", Value: c.Archive.Description},
	} {
		if strings.TrimSpace(f.Value) != "" {
			fields = append(fields, f)
		}
	}
	return fields
}

// openArchive opens the archive for writing, behind what counts.
func (e *Engine) openArchive(m *manifest.Manifest) error {
	info := e.warcInfo(m)
	w, err := warc.OpenWriter(e.seams.FS, warc.Options{
		Dir: e.cfg.Dir + "/warc", Prefix: e.cfg.Archive.Prefix, Host: e.cfg.Archive.Host, SizeMax: e.cfg.Archive.SizeMax,
		Compression: e.cfg.Archive.Compression, Level: e.cfg.Archive.Level, Dictionary: e.cfg.Archive.Dictionary,
		Info: info, FinishLater: true,
	}, m.Archive)
	if err != nil {
		return err
	}
	e.ledger.Writer = w
	if e.storedBefore, err = journal.ArchiveBytes(e.seams.FS, e.cfg.Dir+"/warc"); err != nil {
		return err
	}
	e.storedBefore -= w.Stats().Bytes
	return nil
}

// bytesStored is the size of the archive: what earlier runs left, and what this one has written.
func (e *Engine) bytesStored() int64 { return e.storedBefore + e.ledger.Writer.Stats().Bytes }

// limitReached says which limit the crawl has reached by now, "" for none.
func (e *Engine) limitReached() string {
	e.limits.Measure(e.seams.FS, e.cfg.Dir, e.seams.Log)
	c := e.ledger.Count.Load()
	return e.limits.Reached(c.Stored(), e.bytesStored(), e.clock.Wall())
}

// newCheckpointer makes the checkpointer of the components that are open.
func (e *Engine) newCheckpointer(m *manifest.Manifest) *checkpoint.Checkpointer {
	c := checkpoint.Components{
		FS: e.seams.FS, Dir: e.frontierDir(), Sieve: e.sieve, Ready: e.ready, Skipped: e.skipped, Traps: e.cfg.Traps.SkipSettings(),
		Queues: e.virt, Seen: e.ledger.Seen, Cold: e.cold, Attempts: e.aloft, Held: e.dist.Held,
		Finished: e.finished, Cluster: e.cluster, Novelty: e.traps.State, Workbench: e.bench,
	}
	return checkpoint.New(c, checkpoint.Options{
		Journal: e.ledger, Flush: e.flush.Turn(), Seeded: e.seeded.Load, Period: e.cfg.Intervals.Checkpoint,
		JournalStep: e.cfg.Archive.JournalReserve, RunTime: e.clock, Boot: e.seams.Boot,
		Drain: func() error {
			_, err := e.returner.Drain(1 << 30)
			return err
		},
	}, m)

}

// nextPass begins a finished crawl again, if that is wanted.
func (e *Engine) nextPass(m *manifest.Manifest) (*manifest.Manifest, error) {
	p := &e.cfg.Politeness
	b := recrawl.Beginning{
		FS: e.seams.FS, Dir: e.cfg.Dir, Log: e.seams.Log,
		Refresh: e.cfg.Refresh, MaxDisk: e.cfg.Limits.MaxDisk, Delay: max(p.HostDelay, p.IPDelay),
	}
	return b.Next(m)
}

func (e *Engine) passOf(m *manifest.Manifest) *recrawl.Pass {
	return recrawl.PassOf(e.seams.FS, e.cfg.Dir, m, e.seams.Log)
}

// stillOver says whether a finished crawl stays finished under today's limits.
func (e *Engine) stillOver(m *manifest.Manifest) bool {
	switch m.Reason {
	case lifecycle.ReasonMaxPages, lifecycle.ReasonMaxDisk, lifecycle.ReasonMaxTime:
		wall := time.Duration(m.WallSeconds * float64(time.Second))
		return e.limits.Reached(m.Counters.Stored(), e.bytesStored(), wall) != ""
	default:
		return true
	}
}
