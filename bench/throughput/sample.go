package throughput

import (
	"os"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"

	"orbweaver/engine"
)

// Sample is the state of a crawl and of its process at one moment.
type Sample struct {
	Seconds     float64 `json:"seconds"`
	Pages       int64   `json:"pages"`
	Exchanges   int64   `json:"exchanges"`   // pages, attempts that brought none, and robots.txt
	CPU         float64 `json:"cpu_seconds"` // of the crawl so far; of a soak, with verifying its files
	Files       int     `json:"files,omitempty"`
	RSS         int64   `json:"rss_bytes"`         // 0 where the system does not tell
	MappedFiles int64   `json:"mapped_file_bytes"` // of these, in memory that the kernel can take back
	Sites       int64   `json:"sites"`             // known
	PageMemory  int64   `json:"page_memory_bytes"` // buffers for pages, in use or free
	Stacks      int64   `json:"stack_bytes"`
	Descriptors int     `json:"descriptors"`
	Goroutines  int     `json:"goroutines"`
	Front       int64   `json:"front"`        // addresses with something due soon
	FrontWanted int64   `json:"front_wanted"` // how many should have
	Fetching    int64   `json:"fetching"`     // fetchers in an exchange
	Stopping    bool    `json:"stopping,omitempty"`
	Waiting     string  `json:"waiting"`
}

// newSample takes a sample of a crawl that began at start.
func newSample(e *engine.Engine, start time.Time) Sample {
	r := e.Report()
	rss, ofFiles := resident()
	return Sample{
		Seconds: time.Since(start).Seconds(), Pages: r.PagesStored + r.RevisitsStored,
		Exchanges: r.Attempts + r.RobotsFetched, CPU: r.CPUSeconds,
		RSS: rss, MappedFiles: ofFiles, Sites: r.HostsKnown, PageMemory: r.PageMemory, Stacks: stacks(),
		Descriptors: descriptors(), Goroutines: runtime.NumGoroutine(),
		Front: r.Front, FrontWanted: r.FrontWanted, Fetching: r.ActiveFetches, Stopping: r.Reason != "",
		Waiting: r.Waiting,
	}
}

// stacks is how many bytes the stacks of all goroutines take.
func stacks() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return int64(s[0].Value.Uint64())
}

// resident is the resident memory of this process, and how much of it are pages of mapped files, where /proc tells.
func resident() (all, ofFiles int64) {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, 0
	}
	fields := strings.Fields(string(b))
	if len(fields) < 3 {
		return 0, 0
	}
	pages, _ := strconv.ParseInt(fields[1], 10, 64) // 0 if it is no number
	shared, _ := strconv.ParseInt(fields[2], 10, 64)
	return pages * int64(os.Getpagesize()), shared * int64(os.Getpagesize())
}

// descriptors is how many files this process has open, where /proc tells.
func descriptors() int {
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(names)
}
