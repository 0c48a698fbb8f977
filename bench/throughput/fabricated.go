package throughput

import (
	"context"
	"fmt"
	"io/fs"
	"net/netip"
	"path/filepath"
	"runtime"
	"time"

	"orbweaver/bench/components"
	"orbweaver/dnsres"
	"orbweaver/engine"
	"orbweaver/engine/net/fetch"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/traps"
	"orbweaver/internal/cputime"
	"orbweaver/internal/trial"
)

// Fabricated is a web of fabricated responses in the memory of this process. The crawl ends at a number of known URLs.
// A crawl directory of an earlier run is resumed.
type Fabricated struct {
	URLs    int64 // known at the end
	Hosts   int64
	IPs     int64
	Think   time.Duration // mean pause before a response, exponential
	Sockets time.Duration // at the end, fetch and store over real sockets for so long; 0 for not at all
	Alone   bool          // every page draws a host of its own: as many hosts as possible
	Idle    bool          // at the end, measure the memory while all fetchers are idle
	Archive bool          // write records
	Seed    uint64

	// OnMeasured, if not nil, is called with the result while the crawl still runs.
	OnMeasured func(*Result)

	curve *components.Run
}

// Frontier crawls the fabricated web, and measures the cost at each size.
func Frontier(ctx context.Context, o trial.Options, web *Fabricated) (*Result, error) {
	o.Web = web
	r, err := trial.Run(ctx, o)
	return &Result{Result: r, Curve: web.curve}, err
}

const (
	fabricatedTick  = 100 * time.Millisecond // between two checks of the number of known URLs
	fabricatedSeeds = 1000
	socketsSettle   = 10 * time.Second // until responses from memory are handled
	idleTicks       = 10               // in a row without a fetch
)

// Open makes the web.
func (f *Fabricated) Open(_ context.Context, o *trial.Options) (trial.OpenWeb, error) {
	w := &fabricatedWeb{Fabricated: f, o: o, web: &web{hosts: uint64(f.Hosts), seed: f.Seed, alone: f.Alone},
		began: time.Now()}
	w.web.makeText()
	w.dialer = &dialer{web: w.web, think: f.Think}
	return w, nil
}

// fabricatedWeb is the web while it runs.
type fabricatedWeb struct {
	*Fabricated
	o      *trial.Options
	web    *web
	dialer *dialer
	began  time.Time
	meter  *components.Meter
}

// Configure implements trial.OpenWeb.
func (w *fabricatedWeb) Configure(cfg *engine.Config, seams *engine.Seams) error {
	proxy := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), proxyPort)
	cfg.Seeds, cfg.Filters.Store = seedRange{w.web}, w.store()
	cfg.Fetch.Proxy = &fetch.Proxy{URL: "http://" + proxy.String(), Addr: proxy}
	seams.Dialer, seams.Resolver = w.dialer, dnsres.Hashed{N: uint32(w.IPs)}
	cfg.Traps.Novelty = traps.NoveltyOff // all pages share their words
	return nil
}

// store is the store filter. Only the pages that come over sockets are large.
func (w *fabricatedWeb) store() string {
	switch {
	case w.Archive:
		return "all"
	case w.Sockets > 0:
		return fmt.Sprintf("size > %d", wholeText)
	default:
		return "none"
	}
}

// Close adds the curve, and compares the pages requested with the pages fetched.
func (w *fabricatedWeb) Close(r *trial.Result) error {
	if r == nil {
		return nil
	}
	w.Fabricated.curve = w.curve(&r.Report)
	if requested, fetched := w.dialer.pages.Load(), r.Garbage.Pages; requested != fetched {
		return fmt.Errorf("throughput: %d pages were requested, and %d were fetched", requested, fetched)
	}
	if left := r.Report.Skipped; len(left) > 0 {
		return fmt.Errorf("throughput: URLs of the fabricated web were left out: %v", left)
	}
	return nil
}

// Watch marks a point at each size, and ends the crawl after the last.
func (w *fabricatedWeb) Watch(ctx context.Context, e *engine.Engine, end func(), measure func() *trial.Result) {
	defer end()
	report := e.Report()
	counted := trial.Pages(&report)
	w.meter = components.NewMeter("pages fetched, by URLs known", "URLs", func() int64 { return frontierSize(w.o.Dir) })
	tick := time.NewTicker(fabricatedTick)
	defer tick.Stop()
	for sizes := components.Sizes(w.URLs); len(sizes) > 0; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		r := e.Report()
		w.meter.Done(trial.Pages(&r)-counted, 0)
		counted = trial.Pages(&r)
		// A resumed crawl may know enough URLs before its first fetch.
		if r.URLsAdmitted < sizes[0] || w.dialer.first.Load() == nil {
			continue
		}
		w.point(&r)
		for len(sizes) > 0 && r.URLsAdmitted >= sizes[0] {
			sizes = sizes[1:]
		}
	}
	if w.Sockets > 0 {
		w.overSockets(ctx, e)
	}
	if w.Idle {
		w.idle(ctx, e)
	}
	if w.OnMeasured != nil {
		r := measure()
		w.OnMeasured(&Result{Result: r, Curve: w.curve(&r.Report)})
	}
}

// point marks a Point and prints it.
func (w *fabricatedWeb) point(r *report.Report) {
	p := w.meter.Mark(r.URLsAdmitted)
	_, rss := w.o.Usage()
	fmt.Fprintf(w.o.Progress, "%d URLs known on %d hosts, %d pages fetched, %.0f pages/s, %.1f CPU us a page, "+
		"%.1f bytes of disk a URL, peak memory %d MiB; %s\n",
		r.URLsAdmitted, r.HostsKnown, trial.Pages(r), p.PerSecond, p.CPUPerItem/1e3, p.DiskPerItem, rss>>20, r.Waiting)
}

// curve is the cost at each size, with what the frontier holds at the end.
func (w *fabricatedWeb) curve(r *report.Report) *components.Run {
	run := w.meter.Run
	if first := w.dialer.first.Load(); first != nil {
		run.Add("from the start to the first fetch", first.Sub(w.began).Seconds(), "s")
	}
	run.Add("hosts known", float64(r.HostsKnown), "")
	run.Add("links found", float64(r.URLsFound), "")
	run.Add("URLs queued at the end", float64(r.URLsQueued), "")
	return run
}

// overSockets uses real connections for a while, and measures the cost of pages.
func (w *fabricatedWeb) overSockets(ctx context.Context, e *engine.Engine) {
	l, err := openSockets(ctx, w.web, func() { w.dialer.pages.Add(1) })
	if err != nil {
		w.o.Log.Error("the fabricated web cannot listen", "error", err)
		return
	}
	w.dialer.sockets.Store(l)
	defer func() {
		w.dialer.sockets.Store(nil)
		if err := l.close(); err != nil {
			w.o.Log.Error("cannot close the sockets of the fabricated web", "error", err)
		}
	}()
	if !wait(ctx, socketsSettle) {
		return
	}
	before, begin, cpu := e.Report(), time.Now(), cputime.Process()
	if !wait(ctx, w.Sockets) {
		return
	}
	r := e.Report()
	cpu = cputime.Process() - cpu
	n := float64(max(trial.Pages(&r)-trial.Pages(&before), 1))
	robots := float64(r.RobotsFetched - before.RobotsFetched)
	run := w.meter.Run
	run.Add("over sockets: URLs known", float64(r.URLsAdmitted), "")
	run.Add("over sockets: hosts known", float64(r.HostsKnown), "")
	run.Add("over sockets: pages a second", n/time.Since(begin).Seconds(), "")
	run.Add("over sockets: CPU a page, both ends", float64(cpu.Microseconds())/n, "us")
	run.Add("over sockets: CPU an exchange, both ends", float64(cpu.Microseconds())/(n+robots), "us")
	run.Add("over sockets: robots.txt a page", robots/n, "")
	fmt.Fprintf(w.o.Progress,
		"over sockets: %d URLs known on %d hosts, %.0f pages/s, %.1f CPU us a page, both ends of the socket included, %.2f "+
			"robots.txt a page; %s\n",
		r.URLsAdmitted, r.HostsKnown, n/time.Since(begin).Seconds(), float64(cpu.Microseconds())/n, robots/n, r.Waiting)
}

// wait returns after d, or false when ctx ends.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// idle pauses the crawl and measures the memory when every fetcher is idle. Garbage collections shrink the stacks.
func (w *fabricatedWeb) idle(ctx context.Context, e *engine.Engine) {
	e.Operator().Pause()
	tick := time.NewTicker(fabricatedTick)
	defer tick.Stop()
	for still := 0; still < idleTicks; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if r := e.Report(); r.URLsInFlight > 0 || r.ActiveFetches > 0 {
			still = 0
			continue
		}
		runtime.GC()
		still++
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	run := w.meter.Run
	run.Add("idle: heap", float64(m.HeapAlloc)/(1<<20), "MiB")
	run.Add("idle: of it buffers for pages", float64(e.Report().PageMemory)/(1<<20), "MiB")
	run.Add("idle: stacks", float64(m.StackInuse)/(1<<20), "MiB")
	run.Add("idle: goroutines", float64(runtime.NumGoroutine()), "")
}

// frontierSize is the length of the frontier's files.
func frontierSize(dir string) (sum int64) {
	_ = filepath.WalkDir(filepath.Join(dir, "frontier"), func(_ string, f fs.DirEntry, err error) error {
		if err == nil && f.Type().IsRegular() {
			if info, err := f.Info(); err == nil { // it may be gone already
				sum += info.Size()
			}
		}
		return nil
	})
	return sum
}

// seedRange is the source of the first pages of the web.
type seedRange struct{ web *web }

// Each implements admission.SeedSource.
func (s seedRange) Each(f func(where string, url []byte) error) error {
	for n := range uint64(fabricatedSeeds) {
		if err := f(fmt.Sprintf("page %d", n), s.web.appendURL(nil, n)); err != nil {
			return err
		}
	}
	return nil
}
