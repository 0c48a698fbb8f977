package vitro

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"orbweaver/bench/load"
	"orbweaver/bench/simweb"
	"orbweaver/engine"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// SoakResult is what a soak found.
type SoakResult struct {
	Name     string   `json:"name"`
	Pages    int64    `json:"pages"`
	Rate     float64  `json:"pages_per_second"`
	Early    float64  `json:"pages_per_second_early"` // of the sixth of the time after the first sixth
	Late     float64  `json:"pages_per_second_late"`  // of the last sixth
	Ratio    float64  `json:"late_to_early"`
	Files    int      `json:"files"` // closed, read whole unless Unread, and deleted
	Records  int64    `json:"records_verified"`
	Faults   int64    `json:"faults"`
	CPU      float64  `json:"cpu_us_per_page"`
	WebCPU   float64  `json:"web_cpu_us_per_page"`
	Unread   bool     `json:"unread"` // files were deleted and not verified
	Polite   bool     `json:"polite"`
	Samples  []Sample `json:"samples"`
	verdict  *simweb.Verdict
	finished bool
}

const samples = 180 // of one soak

// Soak crawls for so long at full speed. Archive files are verified, unless o says otherwise, and deleted as soon as they are
// closed, so that the disk is no limit.
func Soak(ctx context.Context, o Options, length time.Duration, say io.Writer) (*SoakResult, error) {
	web, err := load.StartChild(ctx, o.Program, o.World, o.Proxies, "--host-delay", o.HostDelay.String(), "--ip-delay", o.IPDelay.String())
	if err != nil {
		return nil, err
	}
	s := &soak{dir: o.Dir, unread: o.SkipVerify, heaps: o.Profile, say: say, start: time.Now(), length: length, stop: make(chan struct{})}
	watch := o.OnStart
	o.OnStart = func(e *engine.Engine) func() {
		end := func() {}
		if watch != nil {
			end = watch(e)
		}
		s.watchers.Go(func() { s.sample(e) })
		s.watchers.Go(s.eat)
		return func() {
			close(s.stop)
			s.watchers.Wait()
			end()
		}
	}
	o.MaxTime = length
	report, err := crawl(ctx, &o, web)
	sum, serr := web.Stop()
	if err = errors.Join(err, serr, s.err, s.heapErr); err != nil {
		return nil, err
	}
	s.sweep(true)
	r := s.result(&report, length)
	r.verdict, r.WebCPU = sum.Verdict, sum.CPU*1e6/float64(max(r.Pages, 1))
	r.Polite = r.verdict != nil && r.verdict.Polite()
	return r, s.err
}

// soak watches a crawl and eats its archive.
type soak struct {
	dir      string
	unread   bool // delete only
	say      io.Writer
	start    time.Time
	length   time.Duration
	stop     chan struct{}
	watchers sync.WaitGroup
	samples  []Sample // the sampler's, until it has ended, and so are the next three
	heaps    string   // directory of heap profiles, or ""
	heapsN   int
	heapErr  error
	files    atomic.Int64 // counted by the eater; what follows is its alone until it has ended
	records  int64
	faults   int64
	err      error
}

// sample looks at the crawl again and again, whatever the eater is at.
func (s *soak) sample(e *engine.Engine) {
	tick := time.NewTicker(max(s.length/samples, 500*time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-s.stop:
			return
		}
		p := look(e, s.start)
		p.Files = int(s.files.Load())
		s.samples = append(s.samples, p)
		if stretch := int(6 * p.Seconds / s.length.Seconds()); s.heaps != "" && stretch != s.heapsN {
			s.heapsN = stretch
			s.heapErr = errors.Join(s.heapErr, writeHeap(filepath.Join(s.heaps, fmt.Sprintf("heap-%d.pprof", stretch))))
		}
		if len(s.samples)%6 == 0 {
			fmt.Fprintf(s.say, "%4.0f s  %d pages  %d MiB  %d descriptors  %d goroutines  %d files done; %s\n",
				p.Seconds, p.Pages, p.RSS>>20, p.Descriptors, p.Goroutines, p.Files, p.Waiting)
		}
	}
}

// writeHeap writes a profile of what is in memory.
func writeHeap(name string) error {
	err := os.MkdirAll(filepath.Dir(name), 0o755)
	if err != nil {
		return fmt.Errorf("vitro: %w", err)
	}
	f, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("vitro: %w", err)
	}
	return errors.Join(pprof.Lookup("heap").WriteTo(f, 0), f.Close())
}

// eat verifies and deletes files as they are closed.
func (s *soak) eat() {
	tick := time.NewTicker(max(s.length/samples, 500*time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.sweep(false)
		case <-s.stop:
			return
		}
	}
}

// sweep verifies and deletes closed files: all but the newest, which a resume would want, and that one too at the end.
func (s *soak) sweep(all bool) {
	dir := filepath.Join(s.dir, "warc")
	files, err := warc.Files(vfs.Disk(), dir)
	if err != nil {
		s.err = errors.Join(s.err, err)
		return
	}
	var closed []string
	for _, f := range files {
		if !strings.HasSuffix(f.Name, ".open") {
			closed = append(closed, filepath.Join(dir, f.Name))
		}
	}
	if !all && len(closed) > 0 {
		closed = closed[:len(closed)-1]
	}
	for _, name := range closed {
		if !s.unread && !s.verify(name) {
			return
		}
		s.files.Add(1)
		index, _ := filepath.Glob(strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".warc") + "*.cdxj") // the pattern is sound
		for _, f := range append(index, name) {
			s.err = errors.Join(s.err, os.Remove(f))
		}
	}
}

// verify reads a closed file; false if it cannot be read.
func (s *soak) verify(name string) bool {
	v := warc.NewVerifier(warc.VerifyOptions{})
	if err := verifyFile(v, name); err != nil {
		s.err = errors.Join(s.err, err)
		return false
	}
	r := v.Finish()
	s.records += int64(r.Records)
	s.faults += int64(r.Faults)
	return true
}

func (s *soak) result(r *engine.Report, length time.Duration) *SoakResult {
	pages := r.PagesStored + r.RevisitsStored
	res := &SoakResult{
		Name: "soak", Pages: pages, Rate: float64(pages) / max(r.WallSeconds, 1e-9), CPU: r.CPUSeconds * 1e6 / float64(max(pages, 1)),
		Unread: s.unread, Files: int(s.files.Load()), Records: s.records, Faults: s.faults, Samples: s.samples,
		finished: r.WallSeconds < 0.99*length.Seconds(),
	}
	sixth := length.Seconds() / 6
	res.Early, res.Late = s.rate(sixth, 2*sixth), s.rate(5*sixth, 6*sixth)
	if res.Early > 0 {
		res.Ratio = res.Late / res.Early
	}
	return res
}

// rate is the pages a second between two times.
func (s *soak) rate(from, to float64) float64 {
	var first, last *Sample
	for i := range s.samples {
		p := &s.samples[i]
		if p.Seconds >= from && first == nil {
			first = p
		}
		if p.Seconds <= to {
			last = p
		}
	}
	if first == nil || last == nil || last.Seconds <= first.Seconds {
		return 0
	}
	return float64(last.Pages-first.Pages) / (last.Seconds - first.Seconds)
}

// Sound says that nothing that was stored was wrong, nobody had reason to complain, and the web was large enough.
func (r *SoakResult) Sound() bool { return r.Faults == 0 && r.Polite && !r.finished }

// Print writes the result for people.
func (r *SoakResult) Print(out io.Writer) {
	fmt.Fprintf(out, "soak        %d pages, %.0f pages/s, %.0f CPU µs a page, %.0f for the simulated web\n", r.Pages, r.Rate, r.CPU, r.WebCPU)
	fmt.Fprintf(out, "rate        %.0f pages/s in the second sixth of the time, %.0f in the last: %.1f %%\n", r.Early, r.Late, 100*r.Ratio)
	if r.finished {
		fmt.Fprintln(out, "            THE WEB WAS TOO SMALL: the crawl ended before its time")
	}
	for i, before := 1, (Sample{}); i <= 6 && len(r.Samples) >= 6; i++ {
		p := r.Samples[len(r.Samples)*i/6-1]
		pages := max(p.Pages-before.Pages, 1)
		fmt.Fprintf(out, "  %5.0f s   %10d pages   %5.0f/s   %4.0f CPU µs a page   %3d files done   %6d MiB   %4d descriptors   %5d goroutines\n",
			p.Seconds, p.Pages, float64(pages)/max(p.Seconds-before.Seconds, 1e-9), (p.CPU-before.CPU)*1e6/float64(pages), p.Files-before.Files,
			p.RSS>>20, p.Descriptors, p.Goroutines)
		before = p
	}
	if r.Unread {
		fmt.Fprintf(out, "archive     %d files closed and deleted unread\n", r.Files)
	} else {
		fmt.Fprintf(out, "archive     %d files closed, verified and deleted: %d records, %d faults\n", r.Files, r.Records, r.Faults)
	}
	if v := r.verdict; v != nil {
		fmt.Fprintf(out, "politeness  %v; smallest gaps %v host, %v IP; %d requests, %d repeated\n", r.Polite, v.MinHostGap, v.MinIPGap, v.Arrivals, v.Repeated)
	}
}
