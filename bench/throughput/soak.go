package throughput

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

	"orbweaver/engine"
	"orbweaver/engine/operate/report"
	"orbweaver/internal/simweb/judge"
	"orbweaver/internal/trial"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// SoakResult is what a soak found.
type SoakResult struct {
	Name      string   `json:"name"`
	Pages     int64    `json:"pages"`
	Rate      float64  `json:"pages_per_second"`
	EarlyRate float64  `json:"pages_per_second_early"` // of the sixth of the time after the first sixth
	LateRate  float64  `json:"pages_per_second_late"`  // of the last sixth
	Ratio     float64  `json:"late_to_early"`
	Files     int      `json:"files"` // closed, read whole unless Unread, and deleted
	Records   int64    `json:"records_verified"`
	Faults    int64    `json:"faults"`
	CPU       float64  `json:"cpu_us_per_page"`
	WebCPU    float64  `json:"web_cpu_us_per_page"`
	Unread    bool     `json:"unread"` // files were deleted and not verified
	Polite    bool     `json:"polite"`
	Samples   []Sample `json:"samples"`
	verdict   *judge.Verdict
	finished  bool
}

const samples = 180 // of one soak

// Soak crawls for o.MaxTime at full speed. It deletes archive files as soon as they are closed, so that the disk is no
// limit, and verifies them before unless o.SkipVerify is set. Heap profiles go to the directory heaps, unless it is "".
func Soak(ctx context.Context, o trial.Options, web *trial.Simulated, heaps string) (*SoakResult, error) {
	s := &soak{
		dir: o.Dir, unread: o.SkipVerify, heaps: heaps, progress: o.Progress, start: time.Now(), length: o.MaxTime,
		stop: make(chan struct{}),
	}
	onStart := o.OnStart
	o.OnStart = func(e *engine.Engine) func() {
		end := func() {}
		if onStart != nil {
			end = onStart(e)
		}
		s.watchers.Go(func() { s.sample(e) })
		s.watchers.Go(s.deleteFiles)
		return func() {
			close(s.stop)
			s.watchers.Wait()
			end()
		}
	}
	web.SkipJudge = true
	o.Web, o.SkipVerify = web, true
	crawled, err := trial.Run(ctx, o)
	if err = errors.Join(err, s.err, s.heapErr); err != nil {
		return nil, err
	}
	s.deleteClosed(true)
	r := s.result(&crawled.Report)
	r.verdict, r.WebCPU = crawled.Verdict, crawled.WebCPUPerPage
	if v := crawled.Verdict; v != nil {
		r.Polite = v.Polite()
	}
	return r, s.err
}

// soak samples a crawl and deletes its archive.
type soak struct {
	dir      string
	unread   bool // delete only
	progress io.Writer
	start    time.Time
	length   time.Duration
	stop     chan struct{}
	watchers sync.WaitGroup
	samples  []Sample // of the sampler until it has ended, as the next three
	heaps    string   // directory of heap profiles, or ""
	heapsN   int
	heapErr  error
	files    atomic.Int64 // deleted; the next three belong to the deleter until it has ended
	records  int64
	faults   int64
	err      error
}

// sample takes samples of the crawl until stop is closed.
func (s *soak) sample(e *engine.Engine) {
	tick := time.NewTicker(max(s.length/samples, 500*time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-s.stop:
			return
		}
		p := newSample(e, s.start)
		p.Files = int(s.files.Load())
		s.samples = append(s.samples, p)
		if stretch := int(6 * p.Seconds / s.length.Seconds()); s.heaps != "" && stretch != s.heapsN {
			s.heapsN = stretch
			s.heapErr = errors.Join(s.heapErr, writeHeap(filepath.Join(s.heaps, fmt.Sprintf("heap-%d.pprof", stretch))))
		}
		if len(s.samples)%6 == 0 {
			fmt.Fprintf(s.progress,
				"%4.0f s  %d pages  %d sites  %d MiB, %d of mapped files  %d descriptors  %d goroutines  %d files done; %s\n",
				p.Seconds, p.Pages, p.Sites, p.RSS>>20, p.MappedFiles>>20, p.Descriptors, p.Goroutines, p.Files, p.Waiting)
		}
	}
}

// writeHeap writes a profile of what is in memory.
func writeHeap(name string) error {
	err := os.MkdirAll(filepath.Dir(name), 0o755)
	if err != nil {
		return fmt.Errorf("throughput: %w", err)
	}
	f, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("throughput: %w", err)
	}
	return errors.Join(pprof.Lookup("heap").WriteTo(f, 0), f.Close())
}

// deleteFiles verifies and deletes files as they are closed.
func (s *soak) deleteFiles() {
	tick := time.NewTicker(max(s.length/samples, 500*time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.deleteClosed(false)
		case <-s.stop:
			return
		}
	}
}

// deleteClosed verifies and deletes closed files. A resume would read the newest file, so that remains unless all is
// set.
func (s *soak) deleteClosed(all bool) {
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
		// the pattern is sound
		index, _ := filepath.Glob(strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".warc") + "*.cdxj")
		for _, f := range append(index, name) {
			s.err = errors.Join(s.err, os.Remove(f))
		}
	}
}

// verify reads a closed file; false if it cannot be read.
func (s *soak) verify(name string) bool {
	v := warc.NewVerifier(warc.VerifyOptions{})
	if err := trial.VerifyFile(v, name); err != nil {
		s.err = errors.Join(s.err, err)
		return false
	}
	r := v.Finish()
	s.records += int64(r.Records)
	s.faults += int64(r.Faults)
	return true
}

func (s *soak) result(r *report.Report) *SoakResult {
	pages := r.PagesStored + r.RevisitsStored
	res := &SoakResult{
		Name: "soak", Pages: pages, Rate: float64(pages) / max(r.WallSeconds,
			1e-9), CPU: r.CPUSeconds * 1e6 / float64(max(pages, 1)),
		Unread: s.unread, Files: int(s.files.Load()), Records: s.records, Faults: s.faults, Samples: s.samples,
		finished: r.WallSeconds < 0.99*s.length.Seconds(),
	}
	sixth := s.length.Seconds() / 6
	res.EarlyRate, res.LateRate = s.rate(sixth, 2*sixth), s.rate(5*sixth, 6*sixth)
	if res.EarlyRate > 0 {
		res.Ratio = res.LateRate / res.EarlyRate
	}
	return res
}

// rate is the pages a second between two times, in seconds.
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

// Sound reports whether all records are right, the crawl was polite, and the web was large enough.
func (r *SoakResult) Sound() bool { return r.Faults == 0 && r.Polite && !r.finished }

// Print writes the result as text.
func (r *SoakResult) Print(out io.Writer) {
	fmt.Fprintf(out, "soak        %d pages, %.0f pages/s, %.0f CPU µs a page, %.0f for the simulated web\n", r.Pages,
		r.Rate, r.CPU, r.WebCPU)
	fmt.Fprintf(out, "rate        %.0f pages/s in the second sixth of the time, %.0f in the last: %.1f %%\n", r.EarlyRate,
		r.LateRate, 100*r.Ratio)
	if r.finished {
		fmt.Fprintln(out, "            THE WEB WAS TOO SMALL: the crawl ended before its time")
	}
	for i, before := 1, (Sample{}); i <= 6 && len(r.Samples) >= 6; i++ {
		p := r.Samples[len(r.Samples)*i/6-1]
		pages := max(p.Pages-before.Pages, 1)
		fmt.Fprintf(out,
			"  %5.0f s   %10d pages   %5.0f/s   %4.0f CPU µs a page   %3d files done   %6d MiB, "+
				"%d of mapped files   %4d descriptors   %5d goroutines\n",
			p.Seconds, p.Pages, float64(pages)/max(p.Seconds-before.Seconds,
				1e-9), (p.CPU-before.CPU)*1e6/float64(pages), p.Files-before.Files,
			p.RSS>>20, p.MappedFiles>>20, p.Descriptors, p.Goroutines)
		before = p
	}
	if r.Unread {
		fmt.Fprintf(out, "archive     %d files closed and deleted unread\n", r.Files)
	} else {
		fmt.Fprintf(out, "archive     %d files closed, verified and deleted: %d records, %d faults\n", r.Files, r.Records,
			r.Faults)
	}
	if v := r.verdict; v != nil {
		fmt.Fprintf(out, "politeness  %v; smallest gaps %v host, %v IP; %d requests, %d repeated\n", r.Polite, v.MinHostGap,
			v.MinIPGap, v.Arrivals, v.Repeated)
	}
}
