package vitro

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"orbweaver/bench/growth"
	"orbweaver/bench/load"
	"orbweaver/bench/simweb"
	"orbweaver/dnsres"
	"orbweaver/engine"
	"orbweaver/engine/fetch"
	"orbweaver/engine/politeness"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// Options of a run.
type Options struct {
	Program   string // the orbweaver binary, to serve the web with
	Dir       string // crawl directory; made anew
	World     simweb.Config
	HostDelay time.Duration
	IPDelay   time.Duration
	KeepAlive time.Duration // how long a connection waits for the next exchange; 0 for one connection a page
	Fetchers  int
	Mixed     *Mixed // hostile hosts beside the world's; nil for none
	Proxies   int    // addresses of the one proxy; 0 for one, which takes some 28,000 connections at a time
	Seeds     int    // 0 for a hundred
	Level     int    // of gzip
	Metadata  engine.Metadata
	Via       bool
	Outlinks  bool
	MaxPages  int64         // 0 for all
	MaxTime   time.Duration // 0 for no limit
	Version   string        // of the program
	Log       *slog.Logger
	Usage     func() (cpu time.Duration, rssPeak int64)

	// OnStart is called with the open engine before it runs; what it returns is called when the crawl has ended.
	OnStart func(e *engine.Engine) (onEnd func())
	// DigestEvery compares one payload of so many with the truth; 0 means every one.
	DigestEvery int
	SkipVerify  bool
	BarePages   int    // run the bare loop over so many first, and say where the difference goes; 0 for no
	Profile     string // directory for CPU profiles of both, or for the heap's of a soak; "" for none
}

// Result is what a run found and what it cost.
type Result struct {
	Name           string          `json:"name"`
	Pages          int64           `json:"pages"`
	PagesPerSecond float64         `json:"pages_per_second"`
	CPUPerPage     float64         `json:"cpu_us_per_page"`
	WebCPUPerPage  float64         `json:"web_cpu_us_per_page"`
	Coverage       float64         `json:"coverage"`
	Overlap        float64         `json:"overlap"`
	BytesReceived  int64           `json:"bytes_received"`
	BytesText      int64           `json:"bytes_text,omitempty"`   // of the pages that the web packed, before that
	BytesPacked    int64           `json:"bytes_packed,omitempty"` // and after
	BytesStored    int64           `json:"bytes_stored"`
	RSSPeak        int64           `json:"rss_peak_bytes"`
	WallSeconds    float64         `json:"wall_seconds"`
	Level          int             `json:"gzip_level"`
	Report         engine.Report   `json:"report"`
	Verdict        *simweb.Verdict `json:"verdict"`
	Archive        *warc.Report    `json:"archive"`
	LoopCPUPerPage float64         `json:"loop_cpu_us_per_page,omitempty"` // of the bare loop
	Ratio          float64         `json:"ratio,omitempty"`                // of the crawl's CPU a page to the loop's
	Where          []Where         `json:"where,omitempty"`
	Loops          []Loop          `json:"loops,omitempty"`
	Locks          float64         `json:"locks_cpu_share,omitempty"` // of the CPU time, in finding locks taken
	Garbage        growth.Garbage  `json:"garbage"`
}

// Sound says that nothing at all is wrong.
func (r *Result) Sound() bool {
	return r.Verdict != nil && r.Verdict.Sound() && (r.Archive == nil || r.Archive.OK())
}

// Run serves the world, crawls it, verifies the archive and asks the oracle.
func Run(ctx context.Context, o Options) (_ *Result, err error) {
	if _, err := os.Stat(filepath.Join(o.Dir, "report.json")); err == nil {
		if err := os.RemoveAll(o.Dir); err != nil {
			return nil, fmt.Errorf("vitro: %w", err)
		}
	}
	if o.DigestEvery == 0 {
		o.DigestEvery = 1
	}
	judge := []string{"--judge", o.Dir, "--host-delay", o.HostDelay.String(), "--ip-delay", o.IPDelay.String(),
		"--digest-every", fmt.Sprint(o.DigestEvery)}
	if o.MaxPages > 0 || o.MaxTime > 0 {
		judge = append(judge, "--partial", "--under-way", fmt.Sprint(2*o.Fetchers))
	}
	var bare float64
	var loop, whole *Profile
	if o.BarePages > 0 {
		if bare, loop, err = measureLoop(ctx, &o); err != nil {
			return nil, err
		}
	}
	if o.Mixed != nil {
		judge = append(judge, "--hostile", strings.Join(o.Mixed.Cases, ","), "--hostile-hosts", fmt.Sprint(o.Mixed.Hosts))
	}
	if o.Seeds > 0 {
		judge = append(judge, "--seed-count", fmt.Sprint(o.Seeds))
	}
	web, err := load.StartChild(ctx, o.Program, o.World, o.Proxies, judge...)
	if err != nil {
		return nil, err
	}
	var report engine.Report
	var garbage growth.Garbage
	run := func() (err error) {
		collector := growth.NewCollector()
		report, err = crawl(ctx, &o, web)
		garbage = collector.Read()
		return err
	}
	if o.BarePages > 0 {
		whole, err = profiled(o.Profile, "crawl", run)
	} else {
		err = run()
	}
	sum, serr := web.Stop()
	if err = errors.Join(err, serr); err != nil {
		return nil, err
	}
	r := summarise(&report, &sum)
	r.Level, r.Garbage = o.Level, garbage
	if o.BarePages > 0 {
		r.LoopCPUPerPage, r.Ratio = bare, r.CPUPerPage/max(bare, 0.1)
		r.Locks = whole.lockShare()
		r.Where, r.Loops = compare(loop, whole, bare, r.CPUPerPage), byLoop(whole, r.CPUPerPage)
	}
	if !o.SkipVerify {
		if r.Archive, err = verify(o.Dir + "/warc"); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func summarise(report *engine.Report, sum *load.Summary) *Result {
	pages := report.PagesStored + report.RevisitsStored + report.PagesNotStored
	each := 1e6 / float64(max(pages, 1))
	r := &Result{
		Name: "crawl", Pages: pages, PagesPerSecond: float64(pages) / max(report.WallSeconds, 1e-9),
		CPUPerPage: report.CPUSeconds * each, WebCPUPerPage: sum.CPU * each,
		BytesText: sum.Stats.Text, BytesPacked: sum.Stats.Packed, BytesReceived: report.BytesReceived, BytesStored: report.BytesStored, RSSPeak: report.RSSPeakBytes,
		WallSeconds: report.WallSeconds, Report: *report, Verdict: sum.Verdict,
	}
	if v := sum.Verdict; v != nil {
		r.Coverage, r.Overlap = v.Coverage, v.Overlap
	}
	return r
}

// crawl runs the engine against the web.
func crawl(ctx context.Context, o *Options, w *load.Child) (engine.Report, error) {
	var none engine.Report
	proxy, err := netip.ParseAddrPort(strings.TrimPrefix(w.Where.Proxy, "http://"))
	if err != nil {
		return none, fmt.Errorf("vitro: the simulated web listens nowhere: %w", err)
	}
	dialer, err := newSpread(fetch.LoopbackOnly(), proxy, w.Where.More)
	if err != nil {
		return none, err
	}
	cfg := engine.Config{
		Dir: o.Dir, Seeds: seedFile(w.Seeds), MaxDepth: -1, MaxPages: o.MaxPages, MaxTime: o.MaxTime, Fetchers: o.Fetchers, ProxyMode: true,
		Version: o.Version, StallWait: time.Minute, KeepAlive: o.KeepAlive,
	}
	cfg.Politeness = politeness.Default()
	cfg.Politeness.HostDelay, cfg.Politeness.IPDelay = o.HostDelay, o.IPDelay
	cfg.WARC.Level, cfg.WARC.Metadata, cfg.WARC.Via, cfg.WARC.Outlinks = o.Level, o.Metadata, o.Via, o.Outlinks
	cfg.Fetch = fetch.Options{
		UserAgent: "orbweaver/" + o.Version + " (+https://example.org/in-vitro)",
		Proxy:     &fetch.Proxy{URL: w.Where.Proxy, Addr: proxy},
	}.WithDefaults()
	if cfg.Fetch.RootCAs, err = w.Roots(); err != nil {
		return none, err
	}
	guard := fetch.NewGuard(nil, nil, []netip.AddrPort{proxy}) // as a crawl has: hostile hosts name addresses that none may be asked for
	e, err := engine.Open(cfg, engine.Seams{
		FS: engine.Disk(cfg.Dir), Dialer: dialer, Allowed: guard.Through, Resolver: dnsres.Hashed{N: uint32(w.Where.IPs)}, Usage: o.Usage, Log: o.Log,
	})
	if err != nil {
		return none, err
	}
	onEnd := func() {}
	if o.OnStart != nil {
		onEnd = o.OnStart(e)
	}
	err = e.Run(ctx)
	report := e.Report()
	onEnd()
	return report, errors.Join(err, e.Close())
}

// seedFile is a SeedSource that reads one URL a line.
type seedFile string

// Each implements engine.SeedSource.
func (s seedFile) Each(f func(where string, url []byte) error) error {
	b, err := os.ReadFile(string(s))
	if err != nil {
		return err
	}
	n := 0
	for line := range strings.Lines(string(b)) {
		n++
		if err := f(fmt.Sprintf("%s:%d", s, n), []byte(strings.TrimSpace(line))); err != nil {
			return err
		}
	}
	return nil
}

// verify reads the whole archive: framing, fields, digests, references.
func verify(dir string) (*warc.Report, error) {
	files, err := warc.Files(vfs.Disk(), dir)
	if err != nil {
		return nil, err
	}
	v := warc.NewVerifier(warc.VerifyOptions{})
	for _, info := range files {
		if err := verifyFile(v, filepath.Join(dir, info.Name)); err != nil {
			return nil, err
		}
	}
	r := v.Finish()
	return &r, nil
}

func verifyFile(v *warc.Verifier, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(v.File(name, io.Reader(f)), f.Close())
}
