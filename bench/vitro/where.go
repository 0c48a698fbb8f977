package vitro

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

// Profile says where the CPU time of a stretch of the program went.
type Profile struct {
	total  int64
	shares map[string]int64 // nanoseconds by part
	locks  int64            // nanoseconds in finding a lock taken: spinning, queueing, waking
	loops  map[string]int64 // nanoseconds by loop of the engine, as its goroutines are labelled; "" for those without a label
}

// profiled runs f under the CPU profiler; the profile is kept as DIR/NAME.pprof if dir is not empty. Without a profile, since somebody
// else takes one already, the result is nil.
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
		return nil, fmt.Errorf("vitro: profile: %w", err)
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
		return nil, errors.New("vitro: profile: no CPU time in it")
	}
	s := &Profile{shares: map[string]int64{}, loops: map[string]int64{}}
	for _, sample := range p.Sample {
		s.total += sample.Value[cpu]
		s.shares[partOf(sample)] += sample.Value[cpu]
		if contended(sample) {
			s.locks += sample.Value[cpu]
		}
		s.loops[strings.Join(sample.Label["loop"], " ")] += sample.Value[cpu]
	}
	return s, nil
}

// lockShare is the part of the CPU time that went into locks that were taken.
func (p *Profile) lockShare() float64 {
	if p == nil || p.total == 0 {
		return 0
	}
	return float64(p.locks) / float64(p.total)
}

// contended says that a sample was taken where a lock was not free, or somebody waited for it.
func contended(sample *profile.Sample) bool {
	for _, at := range sample.Location {
		for _, line := range at.Line {
			switch line.Function.Name {
			case "sync.(*Mutex).lockSlow", "sync.(*Mutex).unlockSlow", "internal/sync.(*Mutex).lockSlow", "internal/sync.(*Mutex).unlockSlow",
				"sync.(*RWMutex).rUnlockSlow", "sync.runtime_SemacquireRWMutexR", "sync.runtime_SemacquireRWMutex", "sync.runtime_Semrelease",
				"runtime.lock2", "runtime.unlock2Wake", "runtime.procyield", "runtime.osyield":
				return true
			}
		}
	}
	return false
}

// partOf names the part that a sample belongs to: that of the innermost function which has one, unless a function that called it
// claims all that is done for it.
func partOf(sample *profile.Sample) string {
	for _, at := range sample.Location {
		for _, line := range at.Line {
			switch name := line.Function.Name; {
			case strings.HasPrefix(name, "orbweaver/engine/fetch.(*Fetcher).tunnel"), name == "orbweaver/bench/vitro.tunnel":
				return partTunnel
			case strings.HasPrefix(name, "orbweaver/engine/fetch.(*Page).Decoded"), strings.HasPrefix(name, "orbweaver/bench/vitro.(*bareTool).inflate"):
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

// The parts, in the order in which they are told.
const (
	partNetwork   = "connect, write, read, close"
	partTunnel    = "the way through the proxy: CONNECT"
	partTLS       = "TLS: handshake, decryption"
	partInflate   = "inflating"
	partDigest    = "digests"
	partPack      = "gzip"
	partLinks     = "links: scan, resolve, fingerprint"
	partRecords   = "records"
	partDisk      = "files: write, sync"
	partFrontier  = "door, cache, sieve, queues on disk"
	partBench     = "workbench and its queues"
	partSeen      = "content seen"
	partLog       = "journal and log"
	partEngine    = "the engine's loops"
	partScheduler = "scheduler and poller"
	partGarbage   = "memory: allocation and collector"
	partRest      = "the rest"
)

func partsInOrder() []string {
	return []string{
		partNetwork, partTunnel, partTLS, partInflate, partDigest, partPack, partLinks, partRecords, partDisk, partFrontier, partBench, partSeen, partLog, partEngine,
		partScheduler, partGarbage, partRest,
	}
}

// partPrefixes are looked through from the first to the last: of two that fit, the first counts.
func partPrefixes() []struct{ prefix, part string } {
	return []struct{ prefix, part string }{
		{"runtime.gc", partGarbage}, {"runtime.bgsweep", partGarbage}, {"runtime.bgscavenge", partGarbage}, {"runtime.mallocgc", partGarbage},
		{"runtime.netpoll", partScheduler}, {"runtime.schedule", partScheduler}, {"runtime.findRunnable", partScheduler},
		{"runtime.mcall", partScheduler}, {"runtime.mstart", partScheduler}, {"runtime.goready", partScheduler},
		{"orbweaver/internal/sha1pair.", partDigest}, {"crypto/sha1.", partDigest}, {"crypto/", partTLS}, {"vendor/golang.org/x/crypto/", partTLS}, {"encoding/asn1.", partTLS}, {"math/big.", partTLS},
		{"orbweaver/engine/fetch.(*Fetcher).inspect", partTLS}, {"orbweaver/engine/fetch.verify", partTLS},
		{"github.com/klauspost/compress/", partPack}, {"orbweaver/warc/deflate.", partPack}, {"hash/crc32.", partPack},
		{"orbweaver/engine/parse.", partLinks}, {"orbweaver/engine/urlx.", partLinks}, {"orbweaver/engine.(*linkFinder)", partLinks},
		{"orbweaver/bench/vitro.(*bareTool).links", partLinks},
		{"orbweaver/engine/fetch.", partNetwork}, {"net.", partNetwork}, {"orbweaver/bench/vitro.(*bareLoop).page", partNetwork}, {"orbweaver/bench/vitro.(*bareLoop).exchange", partNetwork}, {"orbweaver/bench/vitro.ask", partNetwork},
		{"orbweaver/internal/vfs.", partDisk}, {"os.(*File).WriteAt", partDisk}, {"os.(*File).Sync", partDisk}, {"orbweaver/bench/vitro.(*bareLoop).append", partDisk},
		{"orbweaver/warc.", partRecords},
		{"orbweaver/engine/seen.", partSeen},
		{"orbweaver/workbench", partBench}, {"orbweaver/internal/mpmc.", partBench}, {"orbweaver/engine.(*returner)", partBench},
		{"orbweaver/engine.(*feeder)", partBench}, {"orbweaver/engine.(*bench)", partBench}, {"orbweaver/engine.(*hosts)", partBench},
		{"orbweaver/sieve", partFrontier}, {"orbweaver/virtualize", partFrontier}, {"orbweaver/engine.(*Frontier)", partFrontier},
		{"orbweaver/engine.(*distributor)", partFrontier}, {"orbweaver/engine.(*flusher)", partFrontier},
		{"orbweaver/engine.(*journal)", partLog}, {"orbweaver/engine.(*crawlLog)", partLog}, {"orbweaver/engine.appendJournal", partLog},
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

// Loop is what one loop of the engine takes.
type Loop struct {
	Name string  `json:"loop"`
	CPU  float64 `json:"us_per_page"`
}

// byLoop divides the CPU time of a page by the loops, the largest first.
func byLoop(crawl *Profile, page float64) []Loop {
	if crawl == nil || crawl.total == 0 {
		return nil
	}
	var all []Loop
	for name, n := range crawl.loops {
		if name == "" {
			name = "the rest" // the runtime, and what the engine starts beside its loops
		}
		all = append(all, Loop{name, page * float64(n) / float64(crawl.total)})
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
