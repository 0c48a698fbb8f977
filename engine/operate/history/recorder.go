package history

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math"
	"path"
	"runtime/metrics"
	"sync"
	"time"

	"orbweaver/engine/operate/report"
	"orbweaver/internal/throttle"
	"orbweaver/internal/vfs"
)

// Options say what a Recorder records, and where.
type Options struct {
	FS     vfs.FS
	File   string // of the history; "" for none
	Report func() report.Report
	Log    *slog.Logger
	Name   string    // of the crawl, for people
	Ended  time.Time // when the crawl has ended; zero while it runs
}

// How often a sample is taken and the file is written, and how long a time Rates are the means of.
const (
	sampleEach = time.Second
	writeEach  = 5 * time.Minute
	ratesOver  = 10 // samples
)

// Now is the crawl at one moment.
type Now struct {
	Report report.Report `json:"report"`
	Rates  Rates         `json:"rates"`
	End    Estimate      `json:"end"`
	Memory int64         `json:"memory_bytes"`    // that the Go runtime has from the system
	Free   int64         `json:"disk_free_bytes"` // on the disk of the crawl; 0 if that is not known
	Name   string        `json:"name"`            // of the crawl: its directory
	Ended  bool          `json:"ended,omitempty"` // no process runs the crawl: this is its last state

	Distributions map[string]Distribution `json:"distributions,omitempty"` // by the name of the metric
}

// Recorder takes a sample of a crawl each second. Its methods are safe for concurrent use.
type Recorder struct {
	options  Options
	began    time.Time
	warnings throttle.Log

	mu      sync.Mutex
	history *History
	recent  []totals // of the last samples
	now     Now
	at      time.Time // when now was taken
}

// Open makes a Recorder. A file that is damaged is reported, and the history begins empty.
func Open(o Options) *Recorder {
	r := &Recorder{options: o, began: time.Now(), history: New()}
	if o.File == "" {
		return r
	}
	h, err := readFile(o.FS, o.File)
	switch {
	case err == nil:
		r.history = h
	case !errors.Is(err, fs.ErrNotExist):
		o.Log.Warn("the history of the crawl cannot be read; it begins again", "file", o.File, "error", err)
	}
	return r
}

// fileMost is the longest file that is read, in bytes. Ours have one.
const fileMost = 64 << 20

func readFile(fsys vfs.FS, name string) (*History, error) {
	size, err := fsys.Size(name)
	if err != nil {
		return nil, err
	}
	if size > fileMost {
		return nil, fmt.Errorf("%w: %d bytes", errDamaged, size)
	}
	b, err := vfs.ReadFile(fsys, name)
	if err != nil {
		return nil, err
	}
	return Decode(b)
}

// Run takes samples until ctx ends, and writes the file.
func (r *Recorder) Run(ctx context.Context) {
	sample, write := time.NewTicker(sampleEach), time.NewTicker(writeEach)
	defer sample.Stop()
	defer write.Stop()
	r.takeSample()
	for {
		select {
		case <-sample.C:
			r.takeSample()
		case <-write.C:
			r.write()
		case <-ctx.Done():
			r.write()
			return
		}
	}
}

// takeSample takes one sample.
func (r *Recorder) takeSample() {
	rep, memory, free := r.options.Report(), memoryOfRuntime(), r.freeBytes()
	at := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	t := totalsOf(&rep, at.Sub(r.began).Seconds())
	if n := len(r.recent); n > 0 {
		last := ratesOf(&r.recent[n-1], &t)
		r.history.Add(at.Unix(), valuesOf(&rep, &last, memory))
	}
	if len(r.recent) > ratesOver {
		r.recent = append(r.recent[:0], r.recent[1:]...)
	}
	r.recent = append(r.recent, t)
	r.at = at
	r.now = Now{
		Report: rep, Rates: ratesOf(&r.recent[0], &t), End: r.history.estimate(&rep, at.Unix()), Memory: int64(memory),
		Free: free, Distributions: distributionsOf(rep.Distributions),
	}
}

// freeBytes is how much may still be written on the disk of the file.
func (r *Recorder) freeBytes() int64 {
	if r.options.File == "" {
		return 0
	}
	free, err := r.options.FS.Free(path.Dir(r.options.File))
	if err != nil {
		return 0
	}
	return free
}

// memoryOfRuntime is what the Go runtime has from the system, in bytes.
func memoryOfRuntime() uint64 {
	samples := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
	}
	metrics.Read(samples)
	return samples[0].Value.Uint64() - samples[1].Value.Uint64()
}

// Now returns the crawl as it was a second ago at most. The report is taken again if this one is older: no Run takes
// samples then.
func (r *Recorder) Now() Now {
	r.mu.Lock()
	now, age := r.now, time.Since(r.at)
	r.mu.Unlock()
	if age > 2*sampleEach {
		now.Report = r.options.Report()
	}
	now.Name, now.Ended = r.options.Name, !r.options.Ended.IsZero()
	return now
}

// Query returns what is known of the last seconds, as at most so many points: of those before the end, if the crawl has
// ended.
func (r *Recorder) Query(span time.Duration, points int) Series {
	to := time.Now().Unix()
	if !r.options.Ended.IsZero() {
		to = r.options.Ended.Unix()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.history.Query(to-int64(span.Seconds()), to, points)
}

// QueryAll returns all that is known, as at most so many points.
func (r *Recorder) QueryAll(points int) Series {
	r.mu.Lock()
	begin := r.history.begin()
	r.mu.Unlock()
	to := time.Now()
	if !r.options.Ended.IsZero() {
		to = r.options.Ended
	}
	return r.Query(max(to.Sub(time.Unix(begin, 0)), time.Minute), points)
}

// write replaces the file.
func (r *Recorder) write() {
	if r.options.File == "" {
		return
	}
	r.mu.Lock()
	b := r.history.Encode(nil)
	r.mu.Unlock()
	err := vfs.WriteAtomic(r.options.FS, r.options.File, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
	if err == nil {
		return
	}
	if n, ok := r.warnings.Allow(time.Now()); ok {
		r.options.Log.Warn("the history of the crawl cannot be written; the crawl goes on", "error", err, "times", n)
	}
}

// Rates say how fast the crawl is, as means of the last seconds.
type Rates struct {
	Pages     float64 `json:"pages_per_second"`          // stored, as responses or revisits, or unchanged
	Attempts  float64 `json:"attempts_per_second"`       // exchanges for pages
	Retries   float64 `json:"retries_per_second"`        // exchanges that must be repeated
	Finished  float64 `json:"urls_finished_per_second"`  // admitted URLs that got their outcome
	Admitted  float64 `json:"urls_admitted_per_second"`  // new URLs in scope
	Received  float64 `json:"received_bytes_per_second"` // as on the wire
	Stored    float64 `json:"stored_bytes_per_second"`   // of WARC files
	CPU       float64 `json:"cpu_cores"`                 // processor time for each second
	OfSeconds float64 `json:"of_seconds"`                // how long a time the means are of; 0 if nothing is known yet
}

// Names are the names of the values of a sample: those of Rates and of the report.
func Names() []string {
	return []string{
		"pages_per_second", "attempts_per_second", "retries_per_second", "urls_finished_per_second",
		"urls_admitted_per_second", "received_bytes_per_second", "stored_bytes_per_second", "cpu_cores",
		"urls_queued", "urls_in_flight", "active_fetches", "front", "hosts_known", "sync_seconds", "memory_bytes",
	}
}

// totals are what rates are made of.
type totals struct {
	seconds float64 // on a clock that is never set
	counts  [8]float64
}

func totalsOf(r *report.Report, seconds float64) totals {
	finished := int64(0)
	for _, n := range r.Outcomes {
		finished += n
	}
	return totals{seconds, [8]float64{
		float64(r.PagesStored + r.RevisitsStored + r.PagesUnchanged), float64(r.Attempts), float64(r.Retries),
		float64(finished), float64(r.URLsAdmitted), float64(r.BytesArrived), float64(r.BytesStored), r.CPUSeconds,
	}}
}

// ratesOf returns the rates between two moments.
func ratesOf(from, to *totals) (r Rates) {
	seconds := to.seconds - from.seconds
	if seconds <= 0 {
		return r
	}
	into := []*float64{&r.Pages, &r.Attempts, &r.Retries, &r.Finished, &r.Admitted, &r.Received, &r.Stored, &r.CPU}
	for i, rate := range into {
		*rate = max(to.counts[i]-from.counts[i], 0) / seconds
	}
	r.OfSeconds = math.Round(seconds*10) / 10
	return r
}

// valuesOf returns a sample, in the order of Names.
func valuesOf(r *report.Report, rates *Rates, memory uint64) []float32 {
	return []float32{
		float32(rates.Pages), float32(rates.Attempts), float32(rates.Retries), float32(rates.Finished),
		float32(rates.Admitted), float32(rates.Received), float32(rates.Stored), float32(rates.CPU),
		float32(r.URLsQueued), float32(r.URLsInFlight), float32(r.ActiveFetches), float32(r.Front),
		float32(r.HostsKnown), float32(r.SyncSeconds), float32(memory),
	}
}
