package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"orbweaver/engine/durable/checkpoint"
	"orbweaver/engine/durable/rebuild"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/engine/store/manifest"
	"orbweaver/warc"
	"orbweaver/warc/repair"
)

// Rebuild makes the frontier of the crawl in cfg.Dir again, from its WARC files alone: sieve, ready queue, digests,
// counters, indexes, and a manifest of a stopped crawl. Damaged records are taken out of the archive, and what was
// fetched with them is fetched again. The old frontier is moved aside. cfg.Seeds are added to those that are left of
// the old frontier. The directory is locked meanwhile. Rebuild may be killed and called again.
func Rebuild(ctx context.Context, cfg Config, seams Seams, o rebuild.Options) (_ *rebuild.Result, err error) {
	cfg = cfg.WithDefaults()
	cfg.Fetch = cfg.Fetch.WithDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if err := rebuild.CheckArchive(seams.FS, cfg.Dir); err != nil {
		return nil, err
	}
	seams.Peering = nil
	if o.Agent.ID != "" {
		seams.Peering = rebuild.Unconnected{Agent: o.Agent}
	}
	cfg.Workers.KeepAlive = -1 // nothing is fetched
	e := newEngine(cfg, seams)
	opening := rebuilder{opener{Engine: e, fresh: true}}
	if err := opening.lock(); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	out := &rebuild.Result{Dir: cfg.Dir, Mended: []repair.Result{}, Damage: []rebuild.Damage{}}
	if err := opening.rebuild(ctx, o, out); err != nil {
		return out, fmt.Errorf("engine: rebuild: %w", err)
	}
	return out, nil
}

// rebuilder opens an empty crawl, has it filled from the archive, and saves it.
type rebuilder struct{ opener }

func (o *rebuilder) rebuild(ctx context.Context, ro rebuild.Options, out *rebuild.Result) (err error) {
	began, cfg := time.Now(), &o.cfg
	if out.Aside, err = rebuild.Begin(o.seams.FS, cfg.Dir); err != nil {
		return err
	}
	parts := rebuild.Parts{FS: o.seams.FS, Dir: cfg.Dir, Log: o.seams.Log}
	if err := rebuild.KeepSeeds(&parts, cfg.Seeds, cfg.Filters.Scope, out); err != nil {
		return err
	}
	m, err := o.openEmpty(out.Seeds == 0)
	if err != nil {
		return err
	}
	parts.Journal, parts.Frontier, parts.Workbench = o.disk.Journal, o.loops.frontier, o.disk.Workbench
	parts.Sieve, parts.Ready, parts.Manifest, parts.Fetched = o.disk.Sieve, o.disk.Ready, m, o.cluster
	parts.WARCInfo = func() []warc.Field { return cfg.warcInfo(m.CrawlID) }
	settings := rebuild.Settings{
		Politeness: cfg.Politeness, TotalTimeout: cfg.Fetch.TotalTimeout, MaxPerHost: cfg.Limits.MaxPerHost,
		MaxDepth: cfg.Admission.MaxDepth, MaxTime: cfg.Limits.MaxTime.Length,
		Prefix: cfg.Archive.Prefix, Host: cfg.Archive.Host,
		Via: cfg.Archive.Via, Links: cfg.linkOptions(o.policy.filters),
		Parse: cfg.Filters.Parse, Follow: cfg.Filters.Follow, Store: cfg.Filters.Store,
	}
	crawlDelay, err := rebuild.ReadArchive(ctx, parts, settings, ro, began, out)
	if err != nil {
		return err
	}
	p := &cfg.Politeness
	m.NotBefore = began.Add(max(o.policy.hostRules.LongestDelay(p), min(crawlDelay, p.CrawlDelayMax)))
	out.NotBefore = m.NotBefore
	if err := o.saveRebuilt(ctx, m); err != nil {
		return err
	}
	rebuild.Conclude(&parts, &settings, ro.Agent.ID, out)
	return rebuild.End(o.seams.FS, o.frontierDir())
}

// openEmpty opens the components of a frontier that a rebuild fills. seeded says that there are no seeds.
func (o *rebuilder) openEmpty(seeded bool) (*manifest.Manifest, error) {
	m, err := manifest.New()
	if err != nil {
		return nil, err
	}
	o.m = m
	if m.Store, err = rebuild.NewStore(); err != nil {
		return nil, err
	}
	m.Resumed, m.State, m.Reason = 0, lifecycle.Stopped, lifecycle.ReasonRebuilt
	m.Filtered = o.cfg.Filters.Store != filter.All
	if err := errors.Join(o.openRules(), o.openPolicy(), o.loadScope()); err != nil {
		return nil, err
	}
	if err := o.openStorage(); err != nil {
		return nil, err
	}
	o.wire()
	if o.cluster.IsShared() {
		if err := o.cluster.BeginRebuilt(); err != nil {
			return nil, err
		}
	}
	o.queues.seeded.Store(seeded)
	return m, nil
}

// saveRebuilt makes the new frontier durable, as an orderly stop does.
func (o *rebuilder) saveRebuilt(ctx context.Context, m *manifest.Manifest) error {
	end, err := rebuild.ArchiveEnd(o.seams.FS, o.cfg.Dir)
	if err != nil {
		return err
	}
	m.Archive = end
	if err := o.openArchive(); err != nil {
		return err
	}
	l := o.loops.checkpoints.Last()
	l.CrawlID, l.Created, l.NotBefore = m.CrawlID, m.Created, m.NotBefore
	o.clock.Restart(m.Usage()) // the time of the rebuild is not the crawl's
	if err := o.loops.checkpoints.Take(ctx, lifecycle.Stopped, lifecycle.ReasonRebuilt, true); err != nil {
		return err
	}
	if err := checkpoint.SaveCache(o.seams.FS, o.frontierDir(), l.Generation, o.loops.frontier.Cache); err != nil {
		return err
	}
	o.run.SetState(lifecycle.Stopped, lifecycle.ReasonRebuilt)
	o.queues.pool.Close()
	return errors.Join(o.disk.Journal.Writer.Close(), report.Write(o.seams.FS, o.cfg.Dir, o.Report()))
}
