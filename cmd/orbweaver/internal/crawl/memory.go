package crawl

import (
	"fmt"
	"math"
	"runtime/debug"
	"time"

	"orbweaver/engine"
	"orbweaver/engine/net/cookie"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/traps"
	"orbweaver/internal/plural"
)

// memoryParts lists the memory of each part, in bytes.
func memoryParts(c engine.Config) []memoryPart {
	parts := []memoryPart{
		{"workbench", c.Workbench.MemoryMax},
		{"rules", c.RulesMemory()},
		{"cache", c.Admission.CacheMemory + c.Admission.CacheMemory/16},
		{"sieve", c.Sieve.BucketBytes},
		{"dedup", c.Seen.MemoryBytes},
		{"pages", c.PageMemory()},
		{"fetchers", int64(c.Workers.Fetchers) * (24 << 10)},
		{"sessions", c.Workers.SessionMemory()},
	}
	if len(c.Seen.Others.From) > 0 {
		parts = append(parts, memoryPart{"dedup-from", c.Seen.MemoryBytes})
	}
	if c.Cluster.Payloads > 0 {
		parts = append(parts, memoryPart{"dedup-agents", c.Seen.MemoryBytes})
	}
	if c.Workers.KeepAlive > 0 {
		parts = append(parts, memoryPart{"connections", c.Workers.KeptMemory()})
	}
	if c.Cookies.Mode == cookie.Site {
		parts = append(parts, memoryPart{"cookies", c.Cookies.Memory})
	}
	if c.Traps.Novelty == traps.NoveltyOn {
		parts = append(parts, memoryPart{"novelty", c.Traps.NoveltyMemory})
	}
	return append(parts, memoryPart{"rest", min(restMost, max(restLeast, sumOf(parts)/3))})
}

// The program itself, compressors, checkpoints, and what the collector has not taken back yet.
const (
	restLeast = 24 << 20
	restMost  = 128 << 20
)

type memoryPart struct {
	name  string
	bytes int64
}

// memorySum is what all of them may use together.
func memorySum(c engine.Config) int64 { return sumOf(memoryParts(c)) }

// sumOf is the sum of parts, or the largest number if it is larger.
func sumOf(parts []memoryPart) (total int64) {
	for _, p := range parts {
		total += min(p.bytes, math.MaxInt64-total)
	}
	return total
}

// memoryPlan is the limits of memory and their sum, for the log.
func memoryPlan(c engine.Config) (fields []any) {
	for _, p := range memoryParts(c) {
		fields = append(fields, p.name, plural.Bytes(p.bytes))
	}
	return append(fields, "total", plural.Bytes(memorySum(c)), "host_bytes", hostMemory,
		"host_on_disk_bytes", hostColdMemory)
}

// scopeShown is how much of --scope the first line shows.
const scopeShown = 40

// firstLine says what begins, and what a new user must know: where, how far, how fast, how much memory, how to end it.
func firstLine(cfg *engine.Config, resumes bool) string {
	begins := "crawling into"
	if resumes {
		begins = "resuming"
	}
	scope := cfg.Filters.Scope
	if len(scope) > scopeShown {
		scope = scope[:scopeShown] + "..."
	}
	return fmt.Sprintf("%s %s: scope %s; %v per host, %v per IP address; memory limit %s; "+
		"Ctrl-C stops, run it again to resume",
		begins, cfg.Dir, scope, cfg.Politeness.HostDelay, cfg.Politeness.IPDelay, plural.Bytes(memorySum(*cfg)))
}

// hostMemory is what a known host takes in memory, on the bench and in the index of its queue on disk: 152 and 57 bytes
// where it was measured, and some for garbage. Idle hosts are no more than the workbench's part has room for; the
// others are on disk, and take hostColdMemory: 13 bytes at most of the table by which they are found, and some for its
// growth.
const (
	hostMemory     = 256
	hostColdMemory = 20
)

// setMemoryLimit tells the collector to stay under the sum of the caps, with so many hosts known and on disk, and under
// what this process may have.
func setMemoryLimit(c engine.Config, known, onDisk int64) {
	debug.SetMemoryLimit(min(memorySum(c)+(known-onDisk)*hostMemory+onDisk*hostColdMemory, memoryOurs(memoryAllowed())))
}

const memoryPeriod = 10 * time.Second

// followMemory raises the limit as hosts become known, until the returned function is called.
func followMemory(c engine.Config, crawl interface{ Report() report.Report }) (end func()) {
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(memoryPeriod)
		defer tick.Stop()
		for {
			r := crawl.Report()
			setMemoryLimit(c, r.HostsKnown, r.HostsCold)
			select {
			case <-tick.C:
			case <-stop:
				return
			}
		}
	}()
	return func() {
		close(stop)
		<-done
	}
}
