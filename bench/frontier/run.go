package frontier

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/netip"
	"path/filepath"
	"runtime"
	"time"

	"orbweaver/bench/growth"
	"orbweaver/dnsres"
	"orbweaver/engine"
	"orbweaver/engine/fetch"
	"orbweaver/engine/politeness"
)

// Options of a run.
type Options struct {
	Dir       string // crawl directory: a new one, or one that a run has left, which is resumed
	URLs      int64  // the crawl ends when so many are known
	Hosts     int64
	IPs       int64
	HostDelay time.Duration
	IPDelay   time.Duration
	Fetchers  int
	Think     time.Duration // mean pause before an answer, exponential
	Sockets   time.Duration // at the end, fetch and store over real sockets for so long, and say what that cost; 0 for not at all
	Alone     bool          // every page draws a host of its own: most hosts a URL
	Rest      bool          // at the end, say what the program holds while all fetchers are idle
	Memory    Memory
	Archive   bool // write records, as a crawl does
	Seed      uint64
	Say       io.Writer // progress: a line at each size
	Log       *slog.Logger
	Enough    func(r *growth.Result) // called, if given, when so many URLs are known, while the crawl still runs
	Usage     func() (cpu time.Duration, rssPeak int64)
}

// Memory is what the rooms may use, in bytes; 0 is the engine's default.
type Memory struct{ Workbench, Cache, Sieve int64 }

const (
	look      = 100 * time.Millisecond // between two looks at how much is known
	settle    = 10 * time.Second       // until what was fetched without sockets is out of the way
	restLooks = 10                     // in a row that see nothing move
	seeds     = 1000
	version   = "bench"
)

// Run crawls the fabricated web until so many URLs are known.
func Run(ctx context.Context, o Options) (*growth.Result, error) {
	w := &web{hosts: uint64(o.Hosts), seed: o.Seed, alone: o.Alone}
	w.makeText()
	d := &dialer{web: w, think: o.Think}
	proxy := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), proxyPort)
	cfg := engine.Config{
		Dir: o.Dir, Seeds: seedRange{w}, MaxDepth: -1, Store: store(&o), Fetchers: o.Fetchers, ProxyMode: true, Version: version,
		WorkbenchMemory: o.Memory.Workbench, CacheMemory: o.Memory.Cache, SieveMemory: o.Memory.Sieve,
	}
	cfg.Politeness = politeness.Default()
	cfg.Politeness.HostDelay, cfg.Politeness.IPDelay = o.HostDelay, o.IPDelay
	cfg.Fetch = fetch.Options{
		UserAgent: "orbweaver/" + version + " (+https://example.org/in-vitro)",
		Proxy:     &fetch.Proxy{URL: "http://" + proxy.String(), Addr: proxy},
	}.WithDefaults()
	begin, beginCPU := time.Now(), growth.CPU()
	e, err := engine.Open(cfg, engine.Seams{
		FS: engine.Disk(o.Dir), Dialer: d, Resolver: dnsres.Hashed{N: uint32(o.IPs)}, Usage: o.Usage, Log: o.Log,
	})
	if err != nil {
		return nil, err
	}
	ctx, enough := context.WithCancel(ctx)
	watch := &watch{
		o: &o, e: e, web: d, enough: enough, done: make(chan struct{}), begin: begin, opened: time.Since(begin),
		openedCPU: growth.CPU() - beginCPU, opening: e.Opening(),
	}
	watch.meter = growth.NewMeter("pages fetched, by URLs known", "URLs", func() int64 { return size(o.Dir) })
	watch.collector = growth.NewCollector()
	go watch.run(ctx)
	err = e.Run(ctx)
	enough()
	<-watch.done
	report := e.Report()
	if err = errors.Join(err, e.Close()); err != nil {
		return nil, err
	}
	r := watch.result(&report)
	if asked, kept := d.pages.Load(), pages(&report)-watch.before; asked != kept {
		return r, fmt.Errorf("frontier: %d pages were asked for, and %d came back", asked, kept)
	}
	return r, nil
}

// store is the filter for records: large pages come over sockets only.
func store(o *Options) string {
	switch {
	case o.Archive:
		return "all"
	case o.Sockets > 0:
		return fmt.Sprintf("size > %d", wholeText)
	default:
		return "none"
	}
}

// pages is how many pages came back. All payloads differ.
func pages(r *engine.Report) int64 { return r.PagesNotStored + r.PagesStored }

// watch marks a point at each size and ends the crawl at the last.
type watch struct {
	o         *Options
	e         *engine.Engine
	enough    context.CancelFunc
	done      chan struct{}
	meter     *growth.Meter
	collector *growth.Collector
	web       *dialer
	begin     time.Time
	opened    time.Duration
	opening   engine.Opening
	openedCPU time.Duration
	pages     int64
	before    int64 // pages of earlier runs
}

func (w *watch) run(ctx context.Context) {
	defer close(w.done)
	defer w.enough()
	r := w.e.Report()
	w.pages = pages(&r)
	w.before = w.pages
	tick := time.NewTicker(look)
	defer tick.Stop()
	sizes := growth.Sizes(w.o.URLs)
	for len(sizes) > 0 {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		r := w.e.Report()
		w.meter.Done(pages(&r)-w.pages, 0)
		w.pages = pages(&r)
		if r.URLsAdmitted < sizes[0] || w.web.first.Load() == nil { // a resume may know enough before it has fetched anything
			continue
		}
		p := w.meter.Mark(r.URLsAdmitted)
		_, rss := w.o.Usage()
		fmt.Fprintf(w.o.Say, "%d URLs known on %d hosts, %d pages fetched, %.0f pages/s, %.1f CPU us a page, %.1f bytes of disk a URL, peak memory %d MiB; %s\n",
			r.URLsAdmitted, r.HostsKnown, w.pages, p.PerSecond, p.CPUPerItem/1e3, p.DiskPerItem, rss>>20, r.Waiting)
		for len(sizes) > 0 && r.URLsAdmitted >= sizes[0] {
			sizes = sizes[1:]
		}
	}
	if w.o.Sockets > 0 {
		w.overSockets(ctx)
	}
	if w.o.Rest {
		w.rest(ctx)
	}
	if w.o.Enough != nil {
		r := w.e.Report()
		w.o.Enough(w.result(&r))
	}
}

// overSockets lets connections be real for a while and says what pages cost then.
func (w *watch) overSockets(ctx context.Context) {
	l, err := openLine(ctx, w.web.web, func() { w.web.pages.Add(1) })
	if err != nil {
		w.o.Log.Error("no sockets", "error", err)
		return
	}
	w.web.line.Store(l)
	defer func() {
		w.web.line.Store(nil)
		if err := l.close(); err != nil {
			w.o.Log.Error("sockets", "error", err)
		}
	}()
	if !pass(ctx, settle) {
		return
	}
	before, begin, cpu := w.e.Report(), time.Now(), growth.CPU()
	if !pass(ctx, w.o.Sockets) {
		return
	}
	r := w.e.Report()
	cpu = growth.CPU() - cpu
	n := float64(max(pages(&r)-pages(&before), 1))
	robots := float64(r.RobotsFetched - before.RobotsFetched)
	run := w.meter.Run
	run.Add("over sockets: URLs known", float64(r.URLsAdmitted), "")
	run.Add("over sockets: hosts known", float64(r.HostsKnown), "")
	run.Add("over sockets: pages a second", n/time.Since(begin).Seconds(), "")
	run.Add("over sockets: CPU a page, both ends", float64(cpu.Microseconds())/n, "us")
	run.Add("over sockets: CPU an exchange, both ends", float64(cpu.Microseconds())/(n+robots), "us")
	run.Add("over sockets: robots.txt a page", robots/n, "")
	fmt.Fprintf(w.o.Say, "over sockets: %d URLs known on %d hosts, %.0f pages/s, %.1f CPU us a page, both ends of the socket included, %.2f robots.txt a page; %s\n",
		r.URLsAdmitted, r.HostsKnown, n/time.Since(begin).Seconds(), float64(cpu.Microseconds())/n, robots/n, r.Waiting)
}

// pass waits; false says that ctx has ended.
func pass(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// rest stops all exchanges and says what is held when every fetcher is idle. Collections give back what stacks used once.
func (w *watch) rest(ctx context.Context) {
	w.e.Pause()
	tick := time.NewTicker(look)
	defer tick.Stop()
	for still := 0; still < restLooks; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if r := w.e.Report(); r.URLsInFlight > 0 || r.ActiveFetches > 0 {
			still = 0
			continue
		}
		runtime.GC()
		still++
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	run := w.meter.Run
	run.Add("at rest: heap", float64(m.HeapAlloc)/(1<<20), "MiB")
	run.Add("at rest: of it buffers for pages", float64(w.e.Report().PageMemory)/(1<<20), "MiB")
	run.Add("at rest: stacks", float64(m.StackInuse)/(1<<20), "MiB")
	run.Add("at rest: goroutines", float64(runtime.NumGoroutine()), "")
}

func (w *watch) result(r *engine.Report) *growth.Result {
	run := w.meter.Run
	run.Add("from the start until the directory is open", w.opened.Seconds(), "s")
	run.Add("the same, CPU", w.openedCPU.Seconds(), "s")
	run.Add("  rooms opened", w.opening.Rooms.Seconds(), "s")
	run.Add("  workbench loaded", w.opening.Bench.Seconds(), "s")
	run.Add("  journal replayed", w.opening.Replay.Seconds(), "s")
	run.Add("  entries of it", float64(w.opening.Entries), "")
	run.Add("  each", w.opening.Replay.Seconds()*1e6/float64(max(w.opening.Entries, 1)), "us")
	run.Add("  first checkpoint", w.opening.Checkpoint.Seconds(), "s")
	if first := w.web.first.Load(); first != nil {
		run.Add("from the start to the first fetch", first.Sub(w.begin).Seconds(), "s")
	}
	run.Add("pages fetched", float64(pages(r)), "")
	run.Add("pages a second, all in all", float64(pages(r))/max(r.WallSeconds, 1e-9), "")
	run.Add("CPU a page, all in all", r.CPUSeconds*1e6/float64(max(pages(r), 1)), "us")
	run.Add("hosts known", float64(r.HostsKnown), "")
	run.Add("links found", float64(r.URLsFound), "")
	run.Add("URLs queued at the end", float64(r.URLsQueued), "")
	run.Add("peak resident memory", float64(r.RSSPeakBytes)/(1<<20), "MiB")
	run.Add("checkpoints", float64(r.Checkpoints), "")
	run.Add("pause for a checkpoint, 99 in 100", r.CheckpointPauseP99*1e3, "ms")
	run.Add("pause for a checkpoint, the longest", r.CheckpointPauseMost*1e3, "ms")
	run.AddGarbage(w.collector.Read(), pages(r)-w.before)
	return &growth.Result{Name: "frontier", Runs: []*growth.Run{run}}
}

// size is how many bytes the frontier's files take on disk.
func size(dir string) (sum int64) {
	_ = filepath.WalkDir(filepath.Join(dir, "frontier"), func(_ string, f fs.DirEntry, err error) error {
		if err == nil && f.Type().IsRegular() {
			if info, err := f.Info(); err == nil { // it may have gone since
				sum += info.Size()
			}
		}
		return nil
	})
	return sum
}

// seedRange is the first pages of the web.
type seedRange struct{ web *web }

// Each implements engine.SeedSource.
func (s seedRange) Each(f func(where string, url []byte) error) error {
	for n := range uint64(seeds) {
		if err := f(fmt.Sprintf("page %d", n), s.web.appendURL(nil, n)); err != nil {
			return err
		}
	}
	return nil
}
