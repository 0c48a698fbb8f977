package main

import (
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"orbweaver/engine"
)

// memoryParts lists who may use how much memory, in bytes.
func memoryParts(c engine.Config) []memoryPart {
	parts := []memoryPart{
		{"workbench", c.WorkbenchMemory},
		{"cache", c.CacheMemory + c.CacheMemory/16},
		{"sieve", c.SieveMemory},
		{"seen", c.SeenMemory},
		{"pages", c.PageMemory()},
		{"fetchers", int64(c.Fetchers) * (24 << 10)},
	}
	var sum int64
	for _, p := range parts {
		sum += p.bytes
	}
	return append(parts, memoryPart{"rest", min(restMost, max(restLeast, sum/3))})
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
func memorySum(c engine.Config) (total int64) {
	for _, p := range memoryParts(c) {
		total += p.bytes
	}
	return total
}

// memoryPlan is the line printed at the start: the caps and their sum.
func memoryPlan(c engine.Config) string {
	var b strings.Builder
	for _, p := range memoryParts(c) {
		fmt.Fprintf(&b, " %s %s,", p.name, human(p.bytes))
	}
	return fmt.Sprintf("memory caps:%s total %s, and %d bytes for each known host; %d fetch workers, host delay %v, IP delay %v",
		b.String(), human(memorySum(c)), hostMemory, c.Fetchers, c.Politeness.HostDelay, c.Politeness.IPDelay)
}

// hostMemory is what a known host takes in memory, on the bench and in the index of its queue on disk: 152 and 57 bytes
// where it was measured, and some for garbage.
const hostMemory = 256

// setMemoryLimit tells the collector to stay under the sum of the caps, with so many hosts known, and under what this process
// may have.
func setMemoryLimit(c engine.Config, hosts int64) {
	debug.SetMemoryLimit(min(memorySum(c)+hosts*hostMemory, memoryOurs(memoryAllowed())))
}

const memoryPeriod = 10 * time.Second

// followMemory raises the limit as hosts become known, until the returned function is called.
func followMemory(c engine.Config, crawl interface{ Report() engine.Report }) (end func()) {
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(memoryPeriod)
		defer tick.Stop()
		for {
			setMemoryLimit(c, crawl.Report().HostsKnown)
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

// human writes bytes for people.
func human(n int64) string {
	switch {
	case n >= 10<<30:
		return fmt.Sprintf("%.0f GiB", float64(n)/(1<<30))
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.0f KiB", float64(n)/(1<<10))
	default:
		return fmt.Sprintf("%d B", n)
	}
}
