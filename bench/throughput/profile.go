package throughput

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
)

// Profile is the distribution of CPU time over the parts of the program.
type Profile struct {
	total  int64
	shares map[string]int64 // nanoseconds by part
	locks  int64            // nanoseconds in contended locks: spinning, queueing, waking
	held   map[string]int64 // nanoseconds while a lock of the crawl is held, by lock
	// nanoseconds by loop of the engine, as its goroutines are labelled; "" for those without a label
	loops map[string]int64
}

// profiled runs f under the CPU profiler, and writes DIR/NAME.pprof unless dir is empty. The result is nil if another
// profile is being taken.
func profiled(dir, name string, f func() error) (*Profile, error) {
	var buf bytes.Buffer
	if pprof.StartCPUProfile(&buf) != nil {
		return nil, f()
	}
	err := f()
	pprof.StopCPUProfile()
	if dir != "" && err == nil {
		if err = os.MkdirAll(dir, 0o755); err == nil {
			err = os.WriteFile(filepath.Join(dir, name+".pprof"), buf.Bytes(), 0o644) //nolint:gosec // a profile is no secret
		}
	}
	if err != nil {
		return nil, err
	}
	p, err := profile.Parse(&buf)
	if err != nil {
		return nil, fmt.Errorf("throughput: profile: %w", err)
	}
	return sharesOf(p)
}

// sharesOf adds up the samples by part.
func sharesOf(p *profile.Profile) (*Profile, error) {
	cpu := -1
	for i, t := range p.SampleType {
		if t.Type == "cpu" {
			cpu = i
		}
	}
	if cpu < 0 {
		return nil, errors.New("throughput: profile: no CPU time in it")
	}
	s := &Profile{shares: map[string]int64{}, loops: map[string]int64{}, held: map[string]int64{}}
	locks := crawlLocks()
	for _, sample := range p.Sample {
		s.total += sample.Value[cpu]
		s.shares[partOf(sample)] += sample.Value[cpu]
		if contended(sample) {
			s.locks += sample.Value[cpu]
		} else {
			for _, l := range locks {
				if l.isHeld(sample) {
					s.held[l.name] += sample.Value[cpu]
				}
			}
		}
		s.loops[strings.Join(sample.Label["loop"], " ")] += sample.Value[cpu]
	}
	return s, nil
}

// lockShare is the part of the CPU time in contended locks.
func (p *Profile) lockShare() float64 {
	if p.total == 0 {
		return 0
	}
	return float64(p.locks) / float64(p.total)
}

// contended reports whether a sample was taken in a contended lock.
func contended(sample *profile.Sample) bool {
	for name := range functionsOf(sample) {
		switch name {
		case "sync.(*Mutex).lockSlow", "sync.(*Mutex).unlockSlow", "internal/sync.(*Mutex).lockSlow",
			"internal/sync.(*Mutex).unlockSlow",
			"sync.(*RWMutex).rUnlockSlow", "sync.runtime_SemacquireRWMutexR", "sync.runtime_SemacquireRWMutex",
			"sync.runtime_Semrelease",
			"runtime.lock2", "runtime.unlock2Wake", "runtime.procyield", "runtime.osyield":
			return true
		}
	}
	return false
}

// partOf is the part of a sample: that of the innermost function that has one. Some functions claim all their callees.
func partOf(sample *profile.Sample) string {
	for _, at := range sample.Location {
		for _, line := range at.Line {
			switch name := line.Function.Name; {
			case strings.HasPrefix(name,
				"orbweaver/engine/net/fetch.(*connector).tunnel"), name == "orbweaver/bench/throughput.tunnel":
				return partTunnel
			case strings.HasPrefix(name, "orbweaver/engine/net/fetch.(*Page).Decoded"), strings.HasPrefix(name,
				"orbweaver/bench/throughput.(*bareBuffers).inflate"):
				return partInflate
			}
		}
	}
	for _, at := range sample.Location {
		for _, line := range at.Line {
			if part := partOfFunction(line.Function.Name); part != "" {
				return part
			}
		}
	}
	return partRest
}

// The parts, in the order of the table.
const (
	partNetwork   = "connect, write, read, close"
	partTunnel    = "tunnel through the proxy: CONNECT"
	partTLS       = "TLS: handshake, decryption"
	partInflate   = "decompression"
	partDigest    = "digests"
	partPack      = "gzip"
	partLinks     = "links: scan, resolve, fingerprint"
	partRecords   = "records"
	partDisk      = "files: write, sync"
	partFrontier  = "admission, cache, sieve, disk queues"
	partBench     = "workbench and its queues"
	partSeen      = "payload deduplication"
	partLog       = "journal and log"
	partEngine    = "the engine's loops"
	partScheduler = "scheduler and poller"
	partGarbage   = "memory: allocation and collector"
	partRest      = "the rest"
)

func partsInOrder() []string {
	return []string{
		partNetwork, partTunnel, partTLS, partInflate, partDigest, partPack, partLinks, partRecords, partDisk, partFrontier,
		partBench, partSeen, partLog, partEngine,
		partScheduler, partGarbage, partRest,
	}
}

// partPrefixes are looked through from the first to the last: of two that fit, the first counts.
func partPrefixes() []struct{ prefix, part string } {
	return []struct{ prefix, part string }{
		{"runtime.gc", partGarbage}, {"runtime.bgsweep", partGarbage}, {"runtime.bgscavenge", partGarbage},
		{"runtime.mallocgc", partGarbage},
		{"runtime.netpoll", partScheduler}, {"runtime.schedule", partScheduler}, {"runtime.findRunnable", partScheduler},
		{"runtime.mcall", partScheduler}, {"runtime.mstart", partScheduler}, {"runtime.goready", partScheduler},
		{"orbweaver/internal/sha1pair.", partDigest}, {"crypto/sha1.", partDigest},
		{"crypto/", partTLS}, {"vendor/golang.org/x/crypto/", partTLS}, {"encoding/asn1.", partTLS}, {"math/big.", partTLS},
		{"orbweaver/engine/net/fetch.(*handshaker)", partTLS}, {"orbweaver/engine/net/fetch.Verify", partTLS},
		{"github.com/klauspost/compress/", partPack}, {"orbweaver/warc/deflate.", partPack}, {"hash/crc32.", partPack},
		{"orbweaver/engine/page/parse.", partLinks}, {"orbweaver/internal/urlx.", partLinks},
		{"orbweaver/engine/frontier/links.", partLinks}, {"orbweaver/bench/throughput.(*bareBuffers).links", partLinks},
		{"orbweaver/engine/net/fetch.", partNetwork}, {"net.", partNetwork},
		{"orbweaver/bench/throughput.(*bareLoop).page", partNetwork},
		{"orbweaver/bench/throughput.(*bareLoop).exchange", partNetwork},
		{"orbweaver/bench/throughput.request", partNetwork},
		{"orbweaver/internal/vfs.", partDisk}, {"os.(*File).WriteAt", partDisk}, {"os.(*File).Sync", partDisk},
		{"orbweaver/bench/throughput.(*bareLoop).append", partDisk},
		{"orbweaver/warc", partRecords},
		{"orbweaver/engine/records/dedup.", partSeen},
		{"orbweaver/workbench", partBench}, {"orbweaver/internal/handoff.", partBench},
		{"orbweaver/engine/state/visit.(*ResultQueue)", partBench},
		{"orbweaver/engine/frontier/schedule.(*Returner)", partBench},
		{"orbweaver/engine/frontier/schedule.(*Feeder)", partBench},
		{"orbweaver/engine/frontier/sites.(*Table)", partBench},
		{"orbweaver/sieve", partFrontier}, {"orbweaver/virtualize", partFrontier},
		{"orbweaver/engine/frontier/admission", partFrontier}, {"orbweaver/engine/frontier/schedule.", partFrontier},
		{"orbweaver/engine/store/journal.", partLog}, {"orbweaver/engine/store/crawllog.", partLog},
		{"orbweaver/", partEngine},
	}
}

func partOfFunction(name string) string {
	for _, p := range partPrefixes() {
		if strings.HasPrefix(name, p.prefix) {
			return p.part
		}
	}
	return ""
}

// Where compares where the time of a page goes in the crawl and in the bare loop.
type Where struct {
	Part  string  `json:"part"`
	Loop  float64 `json:"loop_us_per_page"`
	Crawl float64 `json:"crawl_us_per_page"`
}

// Loop is what one loop of the engine takes, or the work under one lock.
type Loop struct {
	Name string  `json:"name"`
	CPU  float64 `json:"us_per_page"`
}

// unlabelled is the runtime, and goroutines without a label.
const unlabelled = "the rest"

// byLoop divides the CPU time of a page by the loops, the largest first.
func byLoop(crawl *Profile, page float64) []Loop {
	if crawl == nil || crawl.total == 0 {
		return nil
	}
	return perPage(crawl.loops, page/float64(crawl.total))
}

// perPage multiplies the nanoseconds of loops or locks, and sorts them, the largest first.
func perPage(of map[string]int64, by float64) (all []Loop) {
	for name, n := range of {
		if name == "" {
			name = unlabelled
		}
		all = append(all, Loop{name, by * float64(n)})
	}
	slices.SortFunc(all, func(a, b Loop) int { return cmp.Or(cmp.Compare(b.CPU, a.CPU), strings.Compare(a.Name, b.Name)) })
	return all
}

// compare divides the CPU time of a page by the shares of two profiles.
func compare(loop, crawl *Profile, loopPage, crawlPage float64) []Where {
	if loop == nil || crawl == nil || loop.total == 0 || crawl.total == 0 {
		return nil
	}
	var all []Where
	for _, part := range partsInOrder() {
		w := Where{Part: part}
		w.Loop = loopPage * float64(loop.shares[part]) / float64(loop.total)
		w.Crawl = crawlPage * float64(crawl.shares[part]) / float64(crawl.total)
		all = append(all, w)
	}
	return all
}
