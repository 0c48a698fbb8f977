package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"orbweaver/engine/checkpoint"
	"orbweaver/engine/filter"
	"orbweaver/engine/layout"
	"orbweaver/engine/lifecycle"
	"orbweaver/engine/manifest"
	"orbweaver/engine/rebuild"
	"orbweaver/warc"
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
	if files, err := warc.Files(seams.FS, cfg.Dir+"/"+layout.ArchiveDir); err != nil {
		return nil, fmt.Errorf("engine: rebuild: %w", err)
	} else if len(files) == 0 {
		return nil, fmt.Errorf("%w: %s/%s is empty", rebuild.ErrNoArchive, cfg.Dir, layout.ArchiveDir)
	}
	seams.Peering = nil
	if o.Agent.ID != "" {
		seams.Peering = rebuild.Unconnected{Agent: o.Agent}
	}
	e := newEngine(cfg, seams)
	if err := e.enter(); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.closeRooms()) }()
	out := &rebuild.Result{Dir: cfg.Dir, Mended: []warc.Mended{}, Damage: []rebuild.Damage{}}
	if err := e.rebuild(ctx, o, out); err != nil {
		return out, fmt.Errorf("engine: rebuild: %w", err)
	}
	return out, nil
}

func (e *Engine) rebuild(ctx context.Context, o rebuild.Options, out *rebuild.Result) (err error) {
	began, cfg := time.Now(), &e.cfg
	if out.Aside, err = rebuild.Begin(e.seams.FS, cfg.Dir); err != nil {
		return err
	}
	parts := rebuild.Parts{FS: e.seams.FS, Dir: cfg.Dir, Log: e.seams.Log}
	if err := rebuild.KeepSeeds(&parts, cfg.Seeds, cfg.Filters.Scope, out); err != nil {
		return err
	}
	m, err := e.openEmpty(out.Seeds == 0)
	if err != nil {
		return err
	}
	parts.Journal, parts.Frontier, parts.Workbench, parts.Sieve, parts.Ready = e.ledger, e.frontier, e.bench, e.sieve, e.ready
	parts.Manifest, parts.WARCInfo, parts.Fetched = m, func() []warc.Field { return e.warcInfo(m) }, e.cluster
	settings := rebuild.Settings{
		Politeness: cfg.Politeness, TotalTimeout: cfg.Fetch.TotalTimeout, MaxPerHost: cfg.Limits.MaxPerHost,
		MaxDepth: cfg.Admission.MaxDepth, MaxTime: cfg.Limits.MaxTime, Prefix: cfg.Archive.Prefix, Host: cfg.Archive.Host,
		Via: cfg.Archive.Via, Links: cfg.linkOptions(e.filters),
		Parse: cfg.Filters.Parse, Follow: cfg.Filters.Follow, Store: cfg.Filters.Store,
	}
	crawlDelay, err := rebuild.ReadArchive(ctx, parts, settings, o, began, out)
	if err != nil {
		return err
	}
	p := &cfg.Politeness
	m.NotBefore = began.Add(max(p.HostDelay, p.IPDelay, min(crawlDelay, p.CrawlDelayMax)))
	out.NotBefore = m.NotBefore
	if err := e.saveRebuilt(ctx, m); err != nil {
		return err
	}
	rebuild.Conclude(&parts, &settings, o.Agent.ID, out)
	return rebuild.End(e.seams.FS, e.frontierDir())
}

// openEmpty opens the components of a frontier that a rebuild fills. seeded says that there are no seeds.
func (e *Engine) openEmpty(seeded bool) (*manifest.Manifest, error) {
	m, err := manifest.New()
	if err != nil {
		return nil, err
	}
	if m.Store, err = rebuild.NewStore(); err != nil {
		return nil, err
	}
	m.Resumed, m.State, m.Reason = 0, lifecycle.Stopped, lifecycle.ReasonRebuilt
	m.Filtered = e.cfg.Filters.Store != filter.All
	if err := e.openPolicy(); err != nil {
		return nil, err
	}
	if err := e.openRooms(m, true); err != nil {
		return nil, err
	}
	e.assemble(m)
	if e.cluster.IsShared() {
		if err := e.cluster.BeginRebuilt(); err != nil {
			return nil, err
		}
	}
	e.seeded.Store(seeded)
	return m, nil
}

// saveRebuilt makes the new frontier durable, as an orderly stop does.
func (e *Engine) saveRebuilt(ctx context.Context, m *manifest.Manifest) error {
	files, err := warc.Files(e.seams.FS, e.cfg.Dir+"/"+layout.ArchiveDir)
	if err != nil {
		return err
	}
	last := files[len(files)-1]
	size, err := e.seams.FS.Size(e.cfg.Dir + "/" + layout.ArchiveDir + "/" + last.Name)
	if err != nil {
		return err
	}
	m.Archive = &warc.Cut{Serial: last.Serial, Length: size}
	if err := e.openArchive(m); err != nil {
		return err
	}
	l := e.points.Last()
	l.CrawlID, l.Created, l.NotBefore = m.CrawlID, m.Created, m.NotBefore
	e.clock.Restart(m.Usage()) // the time of the rebuild is not the crawl's
	if err := e.points.Take(ctx, lifecycle.Stopped, lifecycle.ReasonRebuilt, true); err != nil {
		return err
	}
	if err := checkpoint.SaveCache(e.seams.FS, e.frontierDir(), l.Generation, e.frontier.Cache); err != nil {
		return err
	}
	e.run.SetState(lifecycle.Stopped, lifecycle.ReasonRebuilt)
	e.pool.Close()
	return errors.Join(e.ledger.Writer.Close(), e.writeReport(e.Report()))
}
