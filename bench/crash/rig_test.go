package crash

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/frontier/order"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/engine/workers/archive"
	"orbweaver/engine/workers/parsers"
	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/arrivals"
	"orbweaver/internal/simweb/origin"
	"orbweaver/internal/vfs"
)

const (
	fetchers  = 3
	inFlight  = fetchers + 4 + 1 // Pages: one in the hands of each fetcher, four on their way, one at the parser
	stopAfter = 2500 * time.Millisecond
	endless   = 48 * time.Hour // of virtual time: no crawl of these worlds takes so long
)

// world is a web of every fault, small enough to be crawled in a tenth of a second.
func world(seed uint64) (*origin.Web, error) {
	c := simweb.Faulty()
	c.Seed, c.Hosts, c.IPs, c.PagesPerHostMean, c.PagesPerHostMax, c.PageBytesMean = seed, 16, 12, 12, 60, 1200
	c.LinksMean = 12
	if crowded(seed) { // many hosts, each met again and again since a page links to one other of its host
		c.Hosts, c.IPs, c.PagesPerHostMean, c.PagesPerHostMax = 120, 40, 3, 12
		c.PageFanout, c.HostFanout, c.LinksMean = 1, 4, 4
	}
	if hasBodies(seed) { // a few pages of the world, beside those of longBodies
		c.Hosts, c.IPs, c.PagesPerHostMean, c.PagesPerHostMax = 2, 2, 3, 4
	}
	if behindProxy(seed) {
		c.Faults.NoHost = 0 // a proxy finds every name
	}
	c.Timing.HugeBytes = 60 << 10
	c.Timing.Stall = 30 * time.Second
	c.Timing.CrawlDelay = 3 * time.Second
	c.Timing.RetryAfter = 2 * time.Second
	w, err := origin.New(c)
	if err == nil && hasBodies(seed) {
		w.Invite(longBodies{})
	}
	return w, err
}

// behindProxy says that a world's crawler asks a proxy, and no name server.
func behindProxy(seed uint64) bool { return seed%2 == 0 }

// crowded says that a world has more hosts than its crawler's workbench has room for, so that idle ones go to disk.
func crowded(seed uint64) bool { return seed%4 == 2 && !hasBodies(seed) }

// visitOf is the order of visits of a world's crawler.
func visitOf(seed uint64) order.Visit {
	return []order.Visit{
		{}, {Mode: order.ModeRanked}, {Mode: order.ModePerHost, Depth: 1}, {Mode: order.ModeFocused},
		{Mode: order.ModeBottomUp},
	}[seed/2%5]
}

// config makes everything small, so that a small crawl does all that a large one does.
func config(rig *testbed.Rig) engine.Config {
	c := rig.Config()
	c.Workers.Fetchers, c.Workers.Parsers, c.Workers.Resolvers = fetchers, 1, 2
	c.Politeness.HostDelay, c.Politeness.IPDelay = 400*time.Millisecond, 100*time.Millisecond
	c.Politeness.RetryDelays = []time.Duration{time.Second}
	c.Politeness.BackoffMin, c.Politeness.BackoffMax = time.Second, 4*time.Second
	c.Politeness.HostBackoff = []time.Duration{time.Second, 2 * time.Second}
	// The times have no common divisor, so that checkpoints meet group commits at every stage.
	c.Intervals.Checkpoint, c.Intervals.Sync, c.Intervals.Report = 3*time.Second, 370*time.Millisecond, 2*time.Second
	if rig.World.Config().Seed%3 == 0 { // one fetcher that is always busy: URLs wait everywhere
		c.Workers.Fetchers, c.Politeness.HostDelay, c.Politeness.IPDelay = 1, 30*time.Millisecond, 5*time.Millisecond
		c.Intervals.Checkpoint, c.Intervals.Sync = time.Second, 170*time.Millisecond
	}
	if !behindProxy(rig.World.Config().Seed) {
		c.Workers.KeepAlive = 5 * time.Second
		c.Archive.Metadata, c.Archive.Via = parsers.MetadataAll, true
		c.Archive.Outlinks, c.Archive.DNS = true, archive.DNSAll
	}
	if c.Order.Visit = visitOf(rig.World.Config().Seed); c.Order.Visit.Mode == order.ModeFocused {
		c.Filters.Score = "depth"
	}
	if crowded(rig.World.Config().Seed) {
		c.Workbench.MemoryMax = 16 << 10
	}
	c.Sieve.BucketBytes, c.Admission.CacheMemory, c.Seen.MemoryBytes = 1<<16, 1<<16, 1<<14
	c.Archive.SizeMax = 1 << 16
	c.Limits.StallWait, c.Limits.GiveUp = 40*time.Second, 24*time.Hour // see run
	c.Fetch.BodyMax = 50 << 10
	if hasBodies(rig.World.Config().Seed) {
		c.Fetch.BodyMax, c.Fetch.Long.MemoryMax = bodyMax, 1
	}
	c.Ready.SegmentBytes = 1 << 10
	c.Queues.SegmentBytes, c.Queues.BufferBytes = 1<<13, 1<<12
	c.Cold.SegmentBytes, c.Cold.BufferBytes = 1<<12, 1<<10
	c.Seen.BufferBytes, c.Sieve.RunsMax, c.Workers.SiteItems, c.Archive.JournalReserve = 256, 2, 4, 512
	return c
}

// result is what a crawl came to.
type result struct {
	report report.Report
	pages  map[string]bool // stored with status 200
	again  int             // pages fetched once more than needed
	faults []string
	counts map[string]int // calls by class, with a recorder
	images []*Image
}

func (r *result) fault(format string, args ...any) {
	r.faults = append(r.faults, fmt.Sprintf(format, args...))
}

// startFrom waits for the moment of an image, and returns its log and disk; empty ones without an image.
func startFrom(t *testing.T, w *origin.Web, from *Image) (*arrivals.Log, *vfs.Mem) {
	t.Helper()
	if from == nil {
		return w.NewLog(), vfs.NewMem(1)
	}
	<-time.After(time.Until(from.When))
	disk, err := from.disk(1)
	if err != nil {
		t.Fatal(err)
	}
	return from.log.At(from.log.Len(), from.When, 0), disk
}

// takeImages takes over what the recorder has counted and seen; rec may be nil.
func (r *result) takeImages(t *testing.T, rec *recorder) {
	t.Helper()
	if rec == nil {
		return
	}
	r.counts, r.images = rec.counts, rec.imagesWithLogs()
	if rec.err != nil {
		t.Fatal(rec.err)
	}
}

// crawl runs a crawl in virtual time to its end, from an image or from nothing, and judges it. One from nothing is
// stopped in order once, and gone on with. rec may be nil.
func crawl(t *testing.T, w *origin.Web, from *Image, rec *recorder) *result {
	t.Helper()
	r := &result{}
	synctest.Test(t, func(t *testing.T) {
		log, disk := startFrom(t, w, from)
		if from != nil {
			r.fsck(t, "the image", disk)
		}
		w := w.Again(log)
		rig := &testbed.Rig{World: w, Log: log, FS: disk, Seeds: w.Seeds(3), Proxy: behindProxy(w.Config().Seed)}
		if hasBodies(w.Config().Seed) {
			w.Invite(longBodies{})
			rig.Seeds = append(rig.Seeds, bodySeeds()...)
		}
		rig.Connect()
		cfg := config(rig)
		var fsys vfs.FS = disk
		if rec != nil {
			fsys = rec.watch(disk, log, cfg.Dir)
		}
		if err := r.run(t.Context(), rig, cfg, fsys, from == nil); err != nil {
			r.fault("the crawl ends with: %v", err)
		}
		if err := rig.Net.Close(); err != nil {
			r.fault("network: %v", err)
		}
		r.takeImages(t, rec)
		r.judge(t, rig, cfg, disk, from)
	})
	return r
}

func (r *result) run(ctx context.Context, rig *testbed.Rig, cfg engine.Config, fsys vfs.FS, stop bool) (err error) {
	ctx, cancel := context.WithTimeout(ctx, endless)
	defer cancel()
	if stop {
		short, cancel := context.WithTimeout(ctx, stopAfter)
		_, err = rig.Crawl(short, cfg, fsys)
		cancel()
	}
	for err == nil {
		r.report, err = rig.Crawl(ctx, cfg, fsys)
		if r.report.State != lifecycle.Stalled { // a site is down for longer than the short stall wait
			break
		}
	}
	return err
}
