package engine

import (
	"errors"
	"fmt"
	"time"

	"orbweaver/engine/checkpoint"
	"orbweaver/engine/clock"
	"orbweaver/engine/journal"
	"orbweaver/engine/layout"
	"orbweaver/engine/lifecycle"
	"orbweaver/engine/limits"
	"orbweaver/engine/manifest"
	"orbweaver/engine/outcome"
	"orbweaver/engine/recrawl"
	"orbweaver/engine/site"
	"orbweaver/engine/visit"
	"orbweaver/workbench"
)

// A crawl that is finished can be begun again, in the same directory: a new pass. One that could fetch no seed is begun
// again by the next run. Everything is new then but what the archive holds:
//
//	archive, content-seen, seeds, rules of hosts    stay, so that what came before is not stored twice
//	sieve, queues, bench, cold hosts, counters      begin empty: every URL is found again, from the seeds
//	when a site may be asked                        is carried over, where it lies ahead
//
// The turn-over is one manifest that replaces that of the finished crawl, written when the catalogue of what the
// archive holds is durable (engine/recrawl). Before it the directory holds the finished crawl, behind it a crawl that goes
// on, and has done nothing yet: until its first cut each start opens empty rooms again.

// ErrDiskSpent says that no pass can begin, since the crawl has the size at which a crawl ends.
var ErrDiskSpent = errors.New("engine: archive, frontier and logs have reached max-disk: a new pass would end before it began, so raise it")

// turnOver begins a finished crawl again, if that is wanted, and says so if it cannot. A crawl that could fetch no seed
// begins again without being told to. It gives the manifest that holds from now on.
func (e *Engine) turnOver(m *manifest.Manifest) (*manifest.Manifest, error) {
	failed := m != nil && m.State == lifecycle.Failed
	switch {
	case m == nil, !failed && !e.cfg.Refresh:
		return m, nil
	case !failed && m.State != lifecycle.Finished:
		e.seams.Log.Info("the crawl is not finished: it goes on, and can be refreshed when it is", "pass", m.Pass+1)
		return m, nil
	}
	if most := e.cfg.Limits.MaxDisk; most > 0 {
		size, err := journal.ArchiveBytes(e.seams.FS, e.cfg.Dir+"/"+layout.ArchiveDir)
		if err != nil {
			return nil, err
		}
		other, err := limits.DiskUse(e.seams.FS, e.cfg.Dir)
		if err != nil {
			return nil, fmt.Errorf("engine: the size of the frontier: %w", err)
		}
		if size+other >= most {
			return nil, fmt.Errorf("%w: the archive has %d bytes, frontier and logs have %d", ErrDiskSpent, size, other)
		}
	}
	began := time.Now()
	p := &e.cfg.Politeness
	next := &manifest.Manifest{
		Generation: m.Generation, CrawlID: m.CrawlID, HashSeed: m.HashSeed, Created: m.Created, Written: m.Written, Boot: m.Boot, Up: m.Up,
		State: lifecycle.Running, Clean: true, Resumed: -1, Filtered: m.Filtered,
		Pass: m.Pass + 1, From: *m.Archive, Afresh: true, NotBefore: began.Add(max(p.HostDelay, p.IPDelay)),
		Seen: m.Seen, Bench: m.Bench, Archive: m.Archive,
	}
	list, err := passOf(&e.seams, e.cfg.Dir, next).WriteIndex()
	if err != nil {
		return nil, err
	}
	next.Earlier = &list
	if err := manifest.Write(e.seams.FS, e.frontierDir(), next); err != nil {
		return nil, err
	}
	if failed {
		e.seams.Log.Info("the crawl begins again from its seeds: the last run could fetch none of them", "pass", next.Pass+1)
		return next, nil
	}
	e.seams.Log.Info("the crawl begins again: pages that it has are asked for on the condition that they have changed",
		"pass", next.Pass+1, "captures", list.Entries, "took", time.Since(began).Round(time.Millisecond).String())
	return next, nil
}

// passOf describes the pass of a manifest.
func passOf(seams *Seams, dir string, m *manifest.Manifest) *recrawl.Pass {
	return &recrawl.Pass{
		FS: seams.FS, Dir: dir, Number: m.Pass, HashSeed: m.HashSeed, ArchiveEnd: m.From, Warn: seams.Log.Warn,
	}
}

// carryDues takes over from the finished crawl which sites are not to be asked for some time yet. The bench is new, and
// its sites have no address; one that another waits for at the same address is not known, so the first request of all
// waits for the general delays. A site that could not be reached got no request, so it is owed no more than these.
func (e *Engine) carryDues(m *manifest.Manifest) error {
	old, err := checkpoint.LoadWorkbench(e.seams.FS, e.frontierDir(), m.Bench, workbench.Options{}, site.NewRulesPool(e.cfg.RulesMemory()))
	if err != nil {
		return err
	}
	clocks := clock.NewResumed(m.Clocks(), e.seams.Boot)
	old.Anchor(clocks.Now, clocks.CheckpointClock())
	var key []byte
	old.Each(func(vs *visit.State, _ workbench.State) bool {
		reached := true
		old.ReadSite(vs, func(s *site.State) {
			reached = s.HasAnswered || s.FailureStreak().LastOutcome.Class() != outcome.ClassHost
		})
		if due := old.Due(vs); reached && due.After(clocks.Now) {
			key = old.AppendKey(key[:0], vs)
			site, _ := e.bench.GetOrAdd(key)
			e.bench.Postpone(site, due, time.Time{})
		}
		return true
	})
	return nil
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
