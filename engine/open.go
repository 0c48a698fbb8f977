package engine

import (
	"context"
	"time"

	"orbweaver/engine/cluster/agent"
	"orbweaver/engine/durable/rebuild"
	"orbweaver/engine/durable/restore"
	"orbweaver/engine/durable/storage"
	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/net/bodyfile"
	"orbweaver/engine/operate/changes"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/store/manifest"
	"orbweaver/engine/store/recrawl"
	"orbweaver/internal/vfs"
)

// opener opens a crawl from a manifest.
type opener struct {
	*Engine

	m     *manifest.Manifest
	fresh bool // there was no manifest

	moreSeeds bool // some must be offered
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
		if err := rebuild.MayBegin(o.seams.FS, o.cfg.Dir); err != nil {
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
	if err = o.openRules(); err != nil {
		return err
	}
	if o.m, err = o.nextPass(m); err != nil {
		return err
	}
	return o.openAll()
}

// lock makes the crawl directory, if it is not there, and locks it.
func (o *opener) lock() error {
	lock, err := layout.Lock(o.seams.FS, o.cfg.Dir)
	if err != nil {
		return err
	}
	o.closers.Add(lock.Close)
	o.closers.Add(o.disk.Close)
	o.closers.Add(o.cfg.Fetch.Sessions.Close)
	// A run that was killed may have left it.
	return vfs.RemoveIfExists(o.seams.FS, o.cfg.Dir+"/"+layout.SessionsFile)
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
	if o.fresh {
		if err := o.keepSeeds(); err != nil {
			return err
		}
	}
	if err := o.openPolicy(); err != nil {
		return err
	}
	if err := o.disk.OpenPrevious(o.passOf(m), m); err != nil {
		return err
	}
	if err := o.openStorage(); err != nil {
		return err
	}
	if !o.fresh { // a directory that was refused is as it was
		if err := o.keepSeeds(); err != nil {
			return err
		}
	}
	if err := o.loadScope(); err != nil {
		return err
	}
	o.wire()
	if err := o.cluster.Resume(m, !o.fresh); err != nil {
		return err
	}
	if err := o.loops.sites.CountKnown(); err != nil {
		return err
	}
	if err := o.restore(); err != nil {
		return err
	}
	began := time.Now()
	err := o.begin()
	o.opening.Checkpoint = time.Since(began)
	return err
}

// keepSeeds writes the seeds that are given now behind those of earlier runs.
func (o *opener) keepSeeds() error {
	kept, err := admission.KeepSeeds(o.seams.FS, o.frontierDir(), o.cfg.Seeds,
		admission.Offered{Bytes: o.m.Seeds, IsClean: o.m.Clean}, o.seams.Log)
	if err != nil {
		return err
	}
	if o.fresh && kept.Offer == 0 {
		return admission.ErrNoSeeds
	}
	o.m.Seeds, o.moreSeeds = kept.Bytes, kept.Offer > 0
	o.queues.seeded.Store(o.m.Seeded && !o.moreSeeds)
	return nil
}

func (o *opener) loadScope() error {
	return admission.LoadScope(o.seams.FS, o.frontierDir(), o.policy.seeds)
}

// openPolicy compiles what decides at the five points.
func (o *opener) openPolicy() (err error) {
	if o.policy.filters, err = filter.Compile(&o.cfg.Filters, o.policy.seeds, o.cfg.Archive.Via); err != nil {
		return err
	}
	if o.policy.changes, err = changes.OpenLog(o.seams.FS, o.cfg.Dir); err != nil {
		return err
	}
	o.m.Filtered = o.m.Filtered || o.policy.changes.IsChanged("store")
	o.cfg.Workers.Fetchers = o.policy.changes.LargestOf("fetchers", o.cfg.Workers.Fetchers) // for an undo, too
	return nil
}

func (o *opener) openRules() (err error) {
	o.policy.hostRules, err = settings.OpenHostRules(o.seams.FS, o.frontierDir(), o.cfg.Filters.HostRules, o.seams.Log)
	return err
}

// openStorage opens everything on disk, and the store of the cluster.
func (o *opener) openStorage() (err error) {
	began, place := time.Now(), o.place()
	if err := o.disk.Open(place, o.cfg.storage(), o.m, o.fresh); err != nil {
		return err
	}
	shared := agent.Storage{
		SegmentBytes: o.cfg.Ready.SegmentBytes, IndexMemory: max(o.cfg.Seen.MemoryBytes/4, seenMemoryLeast),
		IndexBuffer: o.cfg.Seen.BufferBytes,
	}
	o.cluster, err = agent.Open(o.seams.Peering, o.seams.FS, o.frontierDir(), o.m, o.isEmpty(), shared)
	if err != nil {
		return err
	}
	o.closers.Add(o.cluster.Close)
	loading := time.Now()
	o.opening.Components = loading.Sub(began)
	if o.isEmpty() {
		o.disk.NewWorkbench(o.cfg.Workbench)
		return nil
	}
	err = o.disk.LoadWorkbench(place, o.cfg.Workbench, o.m, o.policy.rules, o.seams.Boot)
	o.opening.Bench = time.Since(loading)
	return err
}

// place is where the crawl is stored.
func (o *opener) place() storage.Place {
	return storage.Place{FS: o.seams.FS, Dir: o.cfg.Dir, Log: o.seams.Log}
}

// isEmpty says that the frontier begins empty: in a new crawl or a new pass.
func (o *opener) isEmpty() bool { return o.fresh || o.m.Afresh }

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
		FS: o.seams.FS, Dir: o.cfg.Dir, Boot: o.seams.Boot, Log: o.seams.Log, CrawlLog: o.disk.Log,
		Journal: o.disk.Journal, Frontier: l.frontier, Sites: l.sites, Dead: l.deadSites, Flusher: l.flusher,
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
	last := o.loops.checkpoints.Last()
	last.NotBefore, last.UncleanResume = m.NotBefore, m.UncleanResume
	o.opening.Replay = done.Replay
	o.opening.Entries, o.opening.Links = done.Entries, done.Links
	if o.policy.hostRules.ExcludesAny() { // also by rules of the journal
		l.distributor.Purge()
	}
	return err
}

// begin makes the crawl ready to run: its first manifest is durable before anything is fetched.
func (o *opener) begin() error {
	if err := o.openArchive(); err != nil {
		return err
	}
	m := o.m
	o.policy.limits.Begin(o.disk.ArchiveBytes(), o.seams.FS, o.cfg.Dir, o.seams.Log)
	// An agent that has left knows all URLs that it gave away, so it could not take them back.
	left := m.Reason == lifecycle.ReasonLeft
	o.finished = m.State == lifecycle.Finished &&
		(left || !o.moreSeeds && !o.isInboxPending() && o.disk.Skipped.RequeueCount == 0 && o.isStillOver())
	if o.finished {
		if left {
			o.seams.Log.Warn("this agent has left the crawl permanently: to come back it needs a new directory",
				"dir", o.cfg.Dir)
		}
		o.run.SetState(lifecycle.Finished, m.Reason)
		o.disk.Journal.Journal = nil
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
	a.RobotsIgnored = o.policy.hostRules.RobotsIgnored()
	w, earlier, err := a.Open(o.seams.FS, o.cfg.Dir, o.cfg.warcInfo(o.m.CrawlID), o.m.Archive)
	if err != nil {
		return err
	}
	o.closers.Add(w.Abandon)
	o.disk.Journal.SetWriter(w)
	o.disk.EarlierBytes = earlier
	most := bodyfile.Most{Bytes: o.cfg.Fetch.Long.FilesMax, Files: bodyfile.FilesFor(o.cfg.Workers.Fetchers)}
	o.cfg.Fetch.Long.Files, err = a.OpenBodies(o.seams.FS, o.cfg.Dir, most, o.disk.Journal.Disk.Wait, o.seams.Log.Warn)
	return err
}

// nextPass begins a finished crawl again, if that is wanted.
func (o *opener) nextPass(m *manifest.Manifest) (*manifest.Manifest, error) {
	b := recrawl.Beginning{
		FS: o.seams.FS, Dir: o.cfg.Dir, Log: o.seams.Log,
		Refresh: o.cfg.Refresh, MaxDisk: o.cfg.Limits.MaxDisk, Delay: o.policy.hostRules.LongestDelay(&o.cfg.Politeness),
	}
	return b.Next(m)
}

func (o *opener) passOf(m *manifest.Manifest) *recrawl.Pass {
	return recrawl.PassOf(o.seams.FS, o.seams.Uploads.Objects(), o.cfg.Dir, m, o.seams.Log)
}

// isStillOver says whether a finished crawl stays finished under the limits of this run.
func (o *opener) isStillOver() bool {
	wall := time.Duration(o.m.WallSeconds * float64(time.Second))
	return !lifecycle.IsLimit(o.m.Reason) ||
		o.policy.limits.Reached(o.m.Counters.Documents(), o.disk.ArchiveBytes(), wall) != ""
}
