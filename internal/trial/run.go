package trial

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"orbweaver/engine"
	"orbweaver/engine/net/fetch"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/limits"
	"orbweaver/internal/cputime"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// Run crawls the web, verifies the archive, and has the web judge the crawl if it can.
func Run(ctx context.Context, o Options) (*Result, error) {
	w, err := o.Web.Open(ctx, &o)
	if err != nil {
		return nil, err
	}
	r := &Result{Name: "crawl", Level: o.Records.Level}
	if err := crawl(ctx, &o, w, r); err != nil {
		return nil, errors.Join(err, w.Close(nil))
	}
	if err := w.Close(r); err != nil {
		return nil, err
	}
	if !o.SkipVerify {
		if r.Archive, err = verify(o.Dir + "/warc"); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// crawl runs the engine against the web and measures it.
func crawl(ctx context.Context, o *Options, w OpenWeb, r *Result) error {
	cfg := engine.Fast(o.HostDelay, o.IPDelay)
	cfg.Dir, cfg.Archive.Version = o.Dir, o.Version
	cfg.Limits.MaxPages, cfg.Limits.MaxTime, cfg.Limits.GiveUp = o.MaxPages, limits.For(o.MaxTime), o.GiveUp
	cfg.Workers.Fetchers, cfg.Workers.KeepAlive = o.Fetchers, cmp.Or(o.KeepAlive, -1)
	cfg.Order.Visit, cfg.Filters.Score = o.Visit, o.Score
	cfg.Workbench.MemoryMax, cfg.Sieve.BucketBytes = o.Memory.Workbench, o.Memory.Sieve
	cfg.Admission.CacheMemory = o.Memory.Cache
	cfg.Archive.Level, cfg.Archive.Metadata = o.Records.Level, o.Records.Metadata
	cfg.Archive.Via, cfg.Archive.Outlinks = o.Records.Via, o.Records.Outlinks
	cfg.Fetch = fetch.Options{UserAgent: "orbweaver/" + o.Version + " (+https://example.org/in-vitro)"}.WithDefaults()
	seams := engine.Seams{FS: engine.Disk(o.Dir), Usage: o.Usage, Log: o.Log}
	if err := w.Configure(&cfg, &seams); err != nil {
		return err
	}
	began, cpu := time.Now(), cputime.Process()
	e, err := engine.Open(cfg, seams)
	if err != nil {
		return err
	}
	r.Opening = Opening{time.Since(began).Seconds(), (cputime.Process() - cpu).Seconds(), e.Opening()}
	onEnd := func() {}
	if o.OnStart != nil {
		onEnd = o.OnStart(e)
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	collector, report := NewCollector(), e.Report()
	before := Pages(&report)
	measure := func() *Result {
		report := e.Report()
		r.measure(&report, collector.Read(), before)
		return r
	}
	var watcher sync.WaitGroup
	watcher.Go(func() { w.Watch(ctx, e, end, measure) })
	err = e.Run(ctx)
	end()
	watcher.Wait()
	measure()
	onEnd()
	return errors.Join(err, e.Close())
}

// Pages is the number of pages that were fetched.
func Pages(r *report.Report) int64 { return r.PagesStored + r.RevisitsStored + r.PagesNotStored }

// verify reads the whole archive: framing, fields, digests, references.
func verify(dir string) (*warc.Report, error) {
	files, err := warc.Files(vfs.Disk(), dir)
	if err != nil {
		return nil, err
	}
	v := warc.NewVerifier(warc.VerifyOptions{})
	for _, info := range files {
		if err := VerifyFile(v, filepath.Join(dir, info.Name)); err != nil {
			return nil, err
		}
	}
	r := v.Finish()
	return &r, nil
}

// VerifyFile reads one WARC file.
func VerifyFile(v *warc.Verifier, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(v.File(name, io.Reader(f)), f.Close())
}
