package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"orbweaver/engine/admission"
	"orbweaver/engine/checkpoint"
	"orbweaver/engine/clock"
	"orbweaver/engine/cluster/agent"
	"orbweaver/engine/crawllog"
	"orbweaver/engine/dedup"
	"orbweaver/engine/filter"
	"orbweaver/engine/journal"
	"orbweaver/engine/layout"
	"orbweaver/engine/lifecycle"
	"orbweaver/engine/manifest"
	"orbweaver/engine/outage"
	"orbweaver/engine/rebuild"
	"orbweaver/engine/recrawl"
	"orbweaver/engine/restore"
	"orbweaver/engine/settings"
	"orbweaver/engine/site"
	"orbweaver/engine/skipped"
	"orbweaver/internal/vfs"
	"orbweaver/sieve"
	"orbweaver/virtualize"
	"orbweaver/virtualize/diskq"
	"orbweaver/warc"
	"orbweaver/workbench"
	"orbweaver/workbench/cold"
)

// opener opens a crawl from a manifest.
type opener struct {
	*Engine

	m     *manifest.Manifest
	fresh bool // there was no manifest
}

// open opens the crawl of the directory, or begins one.
func (o *opener) open() error {
	if err := o.lock(); err != nil {
		return err
	}
	m, err := manifest.Read(o.seams.FS, o.frontierDir())
	if err != nil {
		return err
	}
	if m == nil {
		if err := o.mayBegin(); err != nil {
			return err
		}
	}
	boot := ""
	if o.seams.Boot != nil {
		boot, _ = o.seams.Boot()
	}
	if err := layout.WriteOwner(o.seams.FS, o.frontierDir(), boot); err != nil {
		o.seams.Log.Warn("frontier/owner could not be written; the crawl directory is locked all the same",
			"error", err)
	}
	if o.m, err = o.nextPass(m); err != nil {
		return err
	}
	return o.openAll()
}

// mayBegin says why no crawl can begin in a directory without a manifest: it was not always without one.
func (o *opener) mayBegin() error {
	if rebuild.IsUnfinished(o.seams.FS, o.frontierDir()) {
		return rebuild.ErrUnfinished
	}
	files, err := warc.Files(o.seams.FS, o.cfg.Dir+"/"+layout.ArchiveDir)
	if err != nil {
		return fmt.Errorf("engine: archive: %w", err)
	}
	if len(files) > 0 {
		return fmt.Errorf("%w: %s", rebuild.ErrFrontierLost, o.cfg.Dir)
	}
	return nil
}

// lock makes the crawl directory, if it is not there, and locks it.
func (o *opener) lock() error {
	for _, dir := range []string{o.cfg.Dir, o.frontierDir(), o.cfg.Dir + "/warc", o.cfg.Dir + "/" + layout.LogsDir} {
		if err := o.seams.FS.MkdirAll(dir); err != nil {
			return fmt.Errorf("engine: crawl directory: %w", err)
		}
	}
	lock, err := o.seams.FS.Lock(o.frontierDir() + "/lock")
	if err != nil {
		if errors.Is(err, vfs.ErrLocked) {
			owner := layout.ReadOwner(o.seams.FS, o.frontierDir())
			return fmt.Errorf("%w (%s): %s; stop it, or give another --dir", layout.ErrInUse, owner, o.cfg.Dir)
		}
		return fmt.Errorf("engine: crawl directory: %w", err)
	}
	o.closers.add(lock.Close)
	return nil
}

// openAll opens the components as they were at the checkpoint, or empty, and brings in what the journal says.
func (o *opener) openAll() error {
	if o.fresh = o.m == nil; o.fresh {
		var err error
		if o.m, err = manifest.New(); err != nil {
			return err
		}
	}
	m := o.m
	m.Resumed++
	m.Filtered = m.Filtered || o.cfg.Filters.Store != filter.All
	added, err := admission.KeepSeeds(o.seams.FS, o.frontierDir(), o.cfg.Seeds, o.seams.Log)
	if err != nil {
		return err
	}
	if o.fresh && added == 0 {
		return admission.ErrNoSeeds
	}
	o.queues.seeded.Store(m.Seeded && added == 0)
	if err := o.openPolicy(); err != nil {
		return err
	}
	if o.disk.previous, m.Earlier, err = o.passOf(m).Open(m.Earlier); err != nil {
		return err
	}
	o.closers.add(o.disk.previous.Close)
	if err := o.openDisk(); err != nil {
		return err
	}
	o.wire()
	if err := o.cluster.Resume(m, !o.fresh); err != nil {
		return err
	}
	if err := o.loops.sites.CountInQuotas(); err != nil {
		return err
	}
	if err := o.restore(); err != nil {
		return err
	}
	began := time.Now()
	err = o.begin(added > 0)
	o.opening.Checkpoint = time.Since(began)
	return err
}

// openPolicy compiles what decides at the five points.
func (o *opener) openPolicy() (err error) {
	if err = admission.LoadScope(o.seams.FS, o.frontierDir(), o.policy.seeds); err != nil {
		return err
	}
	if o.policy.filters, err = filter.Compile(&o.cfg.Filters, o.policy.seeds, o.cfg.Archive.Via); err != nil {
		return err
	}
	o.policy.hostRules, err = settings.OpenHostRules(o.seams.FS, o.frontierDir(), o.cfg.Filters.HostRules, o.seams.Log)
	return err
}

// openDisk opens everything on disk.
func (o *opener) openDisk() (err error) {
	began := time.Now()
	defer func() { o.opening.Components = time.Since(began) - o.opening.Bench }()
	if err := o.openQueues(); err != nil {
		return err
	}
	fsys, dir, m, d := o.seams.FS, o.frontierDir(), o.m, &o.disk
	inSeen, oSeen := &m.Seen, o.cfg.Seen
	if o.fresh {
		inSeen = nil
	}
	oSeen.Dir = dir + "/seen"
	d.journal = journal.NewStore()
	if d.journal.Seen, err = dedup.Open(fsys, oSeen, inSeen); err != nil {
		return err
	}
	o.closers.add(d.journal.Seen.Close)
	o.closers.add(d.journal.Close)
	shared := agent.Storage{
		SegmentBytes: o.cfg.Ready.SegmentBytes, IndexMemory: max(o.cfg.Seen.MemoryBytes/4, seenMemoryLeast),
		IndexBuffer: o.cfg.Seen.BufferBytes,
	}
	if o.cluster, err = agent.Open(o.seams.Peering, fsys, dir, m, o.isEmpty(), shared); err != nil {
		return err
	}
	o.closers.add(o.cluster.Close)
	if d.log, err = crawllog.Open(fsys, o.cfg.Dir+"/"+layout.LogsDir, o.seams.Log.Warn); err != nil {
		return err
	}
	o.closers.add(d.log.Close)
	return o.openWorkbench()
}

// isEmpty says that the frontier begins empty: in a new crawl or a new pass.
func (o *opener) isEmpty() bool { return o.fresh || o.m.Afresh }

// openQueues opens the sieve and all that queues URLs or sites.
func (o *opener) openQueues() (err error) {
	fsys, dir, m, cfg, d := o.seams.FS, o.frontierDir(), o.m, &o.cfg, &o.disk
	inSieve, inReady, inQueues, inCold, inSkipped := &m.Sieve, &m.Ready, &m.Virt, &m.Cold, m.Skipped
	if o.isEmpty() {
		inSieve, inReady, inQueues, inCold, inSkipped = nil, nil, nil, nil, nil
	}
	oSieve, oReady, oQueues, oCold := cfg.Sieve, cfg.Ready, cfg.Queues, cfg.Cold
	oSieve.Dir, oReady.Dir, oQueues.Dir = dir+"/sieve", dir+"/ready", dir+"/queues"
	oCold.Dir, oCold.Seed = dir+"/cold", m.HashSeed
	if d.sieve, err = sieve.Open(fsys, oSieve, inSieve); err != nil {
		return err
	}
	o.closers.add(d.sieve.Close)
	if d.ready, err = diskq.Open(fsys, oReady, inReady); err != nil {
		return err
	}
	o.closers.add(d.ready.Close)
	if d.skipped, err = skipped.Open(fsys, dir, inSkipped, cfg.Traps.SkipSettings()); err != nil {
		return err
	}
	o.closers.add(d.skipped.Queue.Close)
	if d.siteQueues, err = virtualize.Open(fsys, oQueues, inQueues); err != nil {
		return err
	}
	o.closers.add(d.siteQueues.Close)
	if d.cold, err = cold.Open(fsys, oCold, inCold); err != nil {
		return err
	}
	o.closers.add(d.cold.Close)
	return nil
}

// openWorkbench loads the workbench.
func (o *opener) openWorkbench() (err error) {
	if o.isEmpty() {
		o.disk.workbench = workbench.New[site.State](o.cfg.Workbench)
		return nil
	}
	clocks := clock.NewResumed(o.m.Clocks(), o.seams.Boot)
	if j := clocks.Jump(); j < -clock.LeastStep {
		o.seams.Log.Warn("the clock of this machine went back since the last run: delays are kept all the same",
			"by", (-j).String())
	}
	began := time.Now()
	b, err := checkpoint.LoadWorkbench(o.seams.FS, o.frontierDir(), o.m.Bench, o.cfg.Workbench, o.policy.rules)
	o.opening.Bench = time.Since(began)
	if err != nil {
		return err
	}
	b.Anchor(clocks.Now, clocks.CheckpointClock())
	o.disk.workbench = b
	return nil
}

// restore brings the crawl from the manifest's checkpoint to where the journal ends.
func (o *opener) restore() error {
	if o.fresh { // remove what a kill before the first manifest may have left
		return layout.RemoveOlder(o.seams.FS, o.frontierDir(), 1<<63, func(uint64) bool { return false })
	}
	generation, err := layout.Youngest(o.seams.FS, o.frontierDir())
	if err != nil {
		return err
	}
	o.loops.checkpoints.SkipGenerations(generation)
	l := &o.loops
	c := &restore.Crawl{
		FS: o.seams.FS, Dir: o.cfg.Dir, Boot: o.seams.Boot, Log: o.seams.Log,
		Journal: o.disk.journal, Frontier: l.frontier, Sites: l.sites, Dead: l.deadSites, Flusher: l.flusher,
		Finished: o.queues.finished, Limits: o.policy.limits, Cluster: o.cluster,
		Options: restore.Options{
			Links: o.cfg.linkOptions(o.policy.filters), HasVia: o.cfg.Archive.Via, Politeness: o.cfg.Politeness,
			StallWait: o.cfg.Limits.StallWait, RulesMemory: o.cfg.RulesMemory(), Readers: o.cfg.Workers.Parsers,
		},
	}
	m := o.m
	if m.Afresh {
		last := o.loops.checkpoints.Last()
		m.Afresh, last.Afresh, last.Bench = false, false, nil
		return c.BeginPass(m)
	}
	done, err := c.Restore(m)
	o.unclean, o.opening.Replay = done.Unclean, done.Replay
	o.opening.Entries, o.opening.Links = done.Entries, done.Links
	return err
}

// begin makes the crawl ready to run: its first manifest is durable before anything is fetched.
func (o *opener) begin(moreSeeds bool) error {
	m := o.m
	if err := o.openArchive(); err != nil {
		return err
	}
	o.policy.limits.Begin(o.disk.archiveBytes(), o.seams.FS, o.cfg.Dir, o.seams.Log)
	// An agent that has left knows all URLs that it gave away, so it could not take them back.
	left := m.Reason == lifecycle.ReasonLeft
	o.over = m.State == lifecycle.Finished && (left || !moreSeeds && o.disk.skipped.Again == 0 && o.isStillOver())
	if o.over {
		if left {
			o.seams.Log.Warn("this agent has left the crawl permanently: to come back it needs a new directory",
				"dir", o.cfg.Dir)
		}
		o.run.SetState(lifecycle.Finished, m.Reason)
		o.disk.journal.Journal = nil
		return nil
	}
	o.loops.checkpoints.SkipGenerations(m.Generation)
	ctx := context.Background() //nolint:forbidigo // Open is not cancelled
	if err := o.loops.checkpoints.Take(ctx, lifecycle.Running, "", false); err != nil {
		return err
	}
	last := o.loops.checkpoints.Last()
	return o.passOf(last).RemoveOtherIndexes(last.Earlier)
}

// openArchive opens the archive for writing, behind what the journal names.
func (o *opener) openArchive() error {
	a := &o.cfg.Archive
	w, earlier, err := a.Open(o.seams.FS, o.cfg.Dir, a.Info(o.m.CrawlID, &o.cfg.Fetch), o.m.Archive)
	if err != nil {
		return err
	}
	o.closers.add(w.Abandon)
	o.disk.journal.Writer, o.disk.earlierBytes = w, earlier
	return nil
}

// nextPass begins a finished crawl again, if that is wanted.
func (o *opener) nextPass(m *manifest.Manifest) (*manifest.Manifest, error) {
	p := &o.cfg.Politeness
	b := recrawl.Beginning{
		FS: o.seams.FS, Dir: o.cfg.Dir, Log: o.seams.Log,
		Refresh: o.cfg.Refresh, MaxDisk: o.cfg.Limits.MaxDisk, Delay: max(p.HostDelay, p.IPDelay),
	}
	return b.Next(m)
}

func (o *opener) passOf(m *manifest.Manifest) *recrawl.Pass {
	return recrawl.PassOf(o.seams.FS, o.cfg.Dir, m, o.seams.Log)
}

// isStillOver says whether a finished crawl stays finished under the limits of this run.
func (o *opener) isStillOver() bool {
	switch m := o.m; m.Reason {
	case lifecycle.ReasonMaxPages, lifecycle.ReasonMaxDisk, lifecycle.ReasonMaxTime:
		wall := time.Duration(m.WallSeconds * float64(time.Second))
		return o.policy.limits.Reached(m.Counters.Stored(), o.disk.archiveBytes(), wall) != ""
	default:
		return true
	}
}

// archiveBytes is the size of the archive: what earlier runs left, and what this one has written.
func (s *storage) archiveBytes() int64 { return s.earlierBytes + s.journal.Writer.Stats().Bytes }

// writeMost is what the crawl might write at once: a merge of the sieve's whole store, beside what everything else
// needs.
func (s *storage) writeMost() int64 { return outage.DiskNeed + s.sieve.Stats().StoreBytes }
