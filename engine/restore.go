package engine

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"orbweaver/engine/checkpoint"
	"orbweaver/engine/filter"
	"orbweaver/engine/journal"
	"orbweaver/engine/layout"
	"orbweaver/engine/manifest"
	"orbweaver/engine/outcome"
	"orbweaver/engine/queued"
	"orbweaver/engine/site"
	"orbweaver/engine/urlx"
	"orbweaver/engine/visit"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/workbench"
)

// restore brings the crawl from the manifest's cut to where the journal says it was: URLs in flight go back to their
// sites, what the journal names as done is not fetched again, and its links, read back from the archive, pass the
// front door. It sets m.Archive to the end of what was journaled: records behind it belong to attempts that count as
// never made.
func (e *Engine) restore(m *manifest.Manifest, fresh bool) error {
	if fresh {
		return e.clearFresh()
	}
	generation, err := layout.Youngest(e.seams.FS, e.frontierDir())
	if err != nil {
		return err
	}
	e.points.SkipGenerations(generation)
	if m.Afresh {
		last := e.points.Last()
		m.Afresh, last.Afresh, last.Bench = false, false, nil
		if err := e.carryDues(m); err != nil {
			return err
		}
		e.wakeSites()
		return nil
	}
	e.wakeSites()
	b, err := vfs.ReadFile(e.seams.FS, manifest.InFlightPath(e.frontierDir(), m.Generation))
	if err != nil {
		return fmt.Errorf("engine: resume: %w", err)
	}
	var lost error
	back := func(key, item []byte) { lost = errors.Join(lost, e.putBack(key, item)) }
	err = checkpoint.ReadInFlight(b, back, e.finished)
	if err != nil {
		return fmt.Errorf("%s: %w", manifest.InFlightPath(e.frontierDir(), m.Generation), err)
	}
	if lost != nil {
		return lost
	}
	if m.Clean {
		e.frontier.Cache, err = checkpoint.LoadCache(e.seams.FS, e.frontierDir(), m.Generation, e.frontier.Cache)
		return err
	}
	e.unclean, e.hosts.Resumed = true, time.Now()
	began := e.hosts.Resumed
	if err := e.replay(m); err != nil {
		return err
	}
	e.opening.Replay = time.Since(began)
	e.keepDelays(time.Now())
	return nil
}

// keepDelays makes every site with a delay of its own, from its robots.txt or from a rule, wait that long from now: it
// may have been asked for something just before the kill. So it is with those that come from the store: see sites.Table.
// All others wait for the feeder, which waits for the general delays.
func (e *Engine) keepDelays(now time.Time) {
	p := &e.cfg.Politeness
	ruled := e.live.Hosts.Delays()
	slow := map[*visit.State]time.Duration{}
	var key []byte
	e.bench.Each(func(vs *visit.State, _ workbench.State) bool {
		var own filter.HostSettings
		if ruled {
			key = e.bench.AppendKey(key[:0], vs)
			own = e.live.Hosts.Terms(key)
		}
		e.bench.ReadSite(vs, func(s *site.State) { // at all of them: none must count as changed
			if d := p.SiteDelay(own.Delay(), s.CrawlDelay()); d > p.HostDelay {
				slow[vs] = d
			}
		})
		return true
	})
	for vs, delay := range slow {
		e.bench.Postpone(vs, now.Add(delay), time.Time{})
	}
}

// clearFresh removes what a kill before the first manifest may have left.
func (e *Engine) clearFresh() error {
	return layout.RemoveOlder(e.seams.FS, e.frontierDir(), 1<<63, func(uint64) bool { return false })
}

// wakeSites sends every site on that waited for something which the cut does not hold: an address, a robots.txt on its
// way from elsewhere (asked for again from the start), the distributor to drop what a dead site has on disk.
func (e *Engine) wakeSites() {
	e.bench.Each(func(vs *visit.State, state workbench.State) bool {
		switch state {
		case workbench.Unresolved:
			e.unresolved.Put(vs)
		case workbench.Parked:
			e.bench.Unpark(vs, nil)
		case workbench.Dead:
			if e.bench.OnDisk(vs) > 0 {
				e.under.EmptyQueue(vs)
			}
		case workbench.Deferred, workbench.Idle, workbench.Waiting, workbench.Leased:
		}
		return true
	})
}

// putBack gives a URL that was in flight back to its site.
func (e *Engine) putBack(key, item []byte) error {
	if len(key) == 0 { // the distributor held it, whole
		it := queued.MustDecode(item)
		site, path := urlx.Split(it.Rest)
		it.Rest = path
		key, item = site, queued.Append(nil, &it)
	}
	return e.hosts.UseOrAdd(key, func(vs *visit.State) {
		if !e.bench.PushFront(vs, item) {
			e.under.Drop(key, item, outcome.SiteGone)
		}
	})
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
		Queues: e.virt, Seen: e.ledger.Seen, Cold: e.cold, Attempts: e.aloft, Held: func() []byte { return e.dist.Held },
		Finished: e.finished, Cluster: e.cluster, Novelty: e.traps.State, Workbench: e.bench,
	}
	return checkpoint.New(c, checkpoint.Options{
		Journal: e.ledger, Flush: e.flush.Turn, Seeded: e.seeded.Load, Period: e.cfg.Intervals.Checkpoint,
		JournalStep: e.cfg.Archive.JournalReserve, RunTime: e.clock, Boot: e.seams.Boot,
		Drain: func() error {
			_, err := e.returner.Drain(1 << 30)
			return err
		},
	}, m)

}
