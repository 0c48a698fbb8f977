package throughput

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"orbweaver/engine"
	"orbweaver/internal/trial"
)

// Setting is what differs between the crawls of a sweep.
type Setting struct {
	Fetchers  int
	Hosts     int
	IPs       int
	HostDelay time.Duration
	IPDelay   time.Duration
}

// SweepCrawl is the result of one crawl of a sweep. Rates and costs are those of its last two thirds, or of less:
// before that the crawl fetches the robots.txt of every site, and the front grows.
type SweepCrawl struct {
	Fetchers           int      `json:"fetchers"`
	Hosts              int      `json:"hosts"`
	IPs                int      `json:"ips"`
	HostDelay          float64  `json:"host_delay_seconds"`
	IPDelay            float64  `json:"ip_delay_seconds"`
	Pages              int64    `json:"pages"` // from its beginning to its end
	PagesPerSecond     float64  `json:"pages_per_second"`
	RobotsShare        float64  `json:"robots_share"` // of the exchanges, those that brought no page
	CPUPerPage         float64  `json:"cpu_us_per_page"`
	CPUPerExchange     float64  `json:"cpu_us_per_exchange"`
	WebCPUPerPage      float64  `json:"web_cpu_us_per_page"` // of all its time
	RSSPeak            int64    `json:"rss_peak_bytes"`
	StacksPerGoroutine float64  `json:"stack_bytes_per_goroutine"`
	Goroutines         int      `json:"goroutines"`
	Descriptors        int      `json:"descriptors"` // the most
	Fetching           float64  `json:"fetching"`    // fetchers in an exchange, mean
	Front              float64  `json:"front"`       // mean
	Coverage           float64  `json:"coverage"`    // of what was answered
	LocalFaults        int64    `json:"local_faults"`
	Sound              bool     `json:"sound"`  // all records are right, and the crawl was polite
	Limit              string   `json:"limit"`  // what limited it at the end
	Reason             string   `json:"reason"` // why it ended
	Samples            []Sample `json:"samples"`
}

// SweepResult is a series of crawls of one web.
type SweepResult struct {
	Name   string        `json:"name"`
	Think  float64       `json:"think_seconds"` // mean pause before an answer
	Crawls []*SweepCrawl `json:"rungs"`
}

// sweepSamples is how many samples are taken of one crawl.
const sweepSamples = 60

// Sweep crawls webs like the given one with each setting, for o.MaxTime. Every host is a seed, so that all fetchers are
// busy from the start. Progress has a line for each crawl.
func Sweep(ctx context.Context, o trial.Options, web trial.Simulated, settings []Setting) (*SweepResult, error) {
	r := &SweepResult{Name: "sweep", Think: web.World.Think.Seconds()}
	for i, s := range settings {
		crawled, err := sweepCrawl(ctx, o, web, s)
		if err != nil {
			return nil, err
		}
		r.Crawls = append(r.Crawls, crawled)
		fmt.Fprintf(o.Progress, "%d of %d: %d fetchers, IP delay %v: %.0f pages/s, %.0f CPU µs a page; %s\n", i+1,
			len(settings), s.Fetchers,
			s.IPDelay, crawled.PagesPerSecond, crawled.CPUPerPage, crawled.Limit)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return r, nil
}

// sweepCrawl is one crawl of a sweep.
func sweepCrawl(ctx context.Context, o trial.Options, web trial.Simulated, s Setting) (*SweepCrawl, error) {
	debug.FreeOSMemory() // return the memory of the crawl before
	o.Fetchers, o.HostDelay, o.IPDelay, o.Web = s.Fetchers, s.HostDelay, s.IPDelay, &web
	web.World.Hosts, web.World.IPs, web.Seeds = s.Hosts, s.IPs, s.Hosts
	var samples []Sample
	o.OnStart = func(e *engine.Engine) func() {
		stop := make(chan struct{})
		var sampler sync.WaitGroup
		sampler.Go(func() { samples = takeSamples(e, o.MaxTime/sweepSamples, stop) })
		return func() {
			close(stop)
			sampler.Wait()
		}
	}
	result, err := trial.Run(ctx, o)
	if err = errors.Join(err, os.RemoveAll(o.Dir)); err != nil {
		return nil, err
	}
	r := newSweepCrawl(s, samples)
	r.WebCPUPerPage, r.Coverage, r.Sound = result.WebCPUPerPage, result.Coverage, result.Sound()
	r.LocalFaults, r.Reason = result.Report.LocalFaults, result.Report.Reason
	return r, nil
}

// takeSamples takes a sample at each interval until stop is closed.
func takeSamples(e *engine.Engine, every time.Duration, stop <-chan struct{}) (samples []Sample) {
	start := time.Now()
	tick := time.NewTicker(max(every, 10*time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if s := newSample(e, start); !s.Stopping {
				samples = append(samples, s)
			}
		case <-stop:
			return samples
		}
	}
}

// warm is the first sample that counts: a third of the time is over, and nearly all robots.txt are fetched, which cost
// less than pages. At least a fifth of the time counts.
func warm(s Setting, samples []Sample) int {
	at := len(samples) / 3
	for at < 4*len(samples)/5 && float64(samples[at].Exchanges-samples[at].Pages) < 0.98*float64(s.Hosts) {
		at++
	}
	return at
}

// newSweepCrawl computes rates and costs from the samples that count.
func newSweepCrawl(s Setting, samples []Sample) *SweepCrawl {
	r := &SweepCrawl{Fetchers: s.Fetchers, Hosts: s.Hosts, IPs: s.IPs, HostDelay: s.HostDelay.Seconds(),
		IPDelay: s.IPDelay.Seconds(), Samples: samples}
	if len(samples) < 3 {
		return r
	}
	late := samples[warm(s, samples):]
	first, last := late[0], late[len(late)-1]
	for _, p := range late {
		r.RSSPeak, r.Descriptors = max(r.RSSPeak, p.RSS), max(r.Descriptors, p.Descriptors)
		r.Fetching += float64(p.Fetching) / float64(len(late))
		r.Front += float64(p.Front) / float64(len(late))
	}
	pages, exchanges := float64(last.Pages-first.Pages), float64(last.Exchanges-first.Exchanges)
	cpu := (last.CPU - first.CPU) * 1e6
	r.Pages, r.PagesPerSecond = last.Pages, pages/max(last.Seconds-first.Seconds, 1e-9)
	r.CPUPerPage, r.CPUPerExchange = cpu/max(pages, 1), cpu/max(exchanges, 1)
	r.RobotsShare = 1 - pages/max(exchanges, 1)
	r.Goroutines, r.Limit = last.Goroutines, last.Waiting
	r.StacksPerGoroutine = float64(last.Stacks) / float64(max(last.Goroutines, 1))
	return r
}

// Sound reports whether nothing was wrong with any crawl.
func (r *SweepResult) Sound() bool {
	for _, crawled := range r.Crawls {
		if !crawled.Sound {
			return false
		}
	}
	return true
}

// Print writes the result as a table.
func (r *SweepResult) Print(out io.Writer) {
	fmt.Fprintf(out, "webs that think for %v before an answer, mean of an exponential distribution\n\n",
		time.Duration(r.Think*float64(time.Second)))
	fmt.Fprintf(out, "%8s %10s %9s %8s %8s %8s %9s %7s %7s %8s %9s %7s %9s %s\n", "fetchers", "host delay", "IP delay",
		"pages/s", "CPU µs", "CPU µs", "web's CPU",
		"robots", "peak", "stack B", "mean", "mean", "goroutines", "")
	fmt.Fprintf(out, "%8s %10s %9s %8s %8s %8s %9s %7s %7s %8s %9s %7s %9s  %s\n", "", "", "", "", "a page", "exchange",
		"a page", "%", "MiB", "gorout.",
		"in flight", "front", "", "limit at the end")
	for _, p := range r.Crawls {
		sound := ""
		if !p.Sound {
			sound = "UNSOUND; "
		}
		fmt.Fprintf(out, "%8d %10v %9v %8.0f %8.0f %8.0f %9.0f %7.1f %7.0f %8.0f %9.0f %7.0f %9d  %s%s\n", p.Fetchers,
			seconds(p.HostDelay), seconds(p.IPDelay),
			p.PagesPerSecond, p.CPUPerPage, p.CPUPerExchange, p.WebCPUPerPage, 100*p.RobotsShare, float64(p.RSSPeak)/(1<<20),
			p.StacksPerGoroutine, p.Fetching, p.Front, p.Goroutines, sound, p.Limit)
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
