package crawl

import (
	"errors"
	"fmt"
	"log/slog"
	"math"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"orbweaver/engine"
	"orbweaver/engine/net/cookie"
	"orbweaver/engine/traps"
	"orbweaver/internal/plural"
)

// memoryAllowed is how much memory this process may have: that of its cgroup, or of the machine. If both are unknown
// there is no limit.
func memoryAllowed() int64 {
	allowed := uint64(math.MaxInt64)
	for _, ask := range []memlimit.Provider{memlimit.FromCgroup, memlimit.FromSystem} {
		if n, err := ask(); err == nil && n > 0 {
			allowed = min(allowed, n)
		}
	}
	return int64(allowed)
}

// memoryOurs is the part of the allowed memory that the caps may sum up to. The rest is for what the system counts as
// ours and we do not: buffers of sockets, and those pages of files that are just being written.
func memoryOurs(allowed int64) int64 { return allowed - allowed/8 }

// memoryCaps are what is lowered when memory is short, with the least that a crawl can work with.
func memoryCaps(c *engine.Config) []memoryCap {
	caps := []memoryCap{
		{
			&c.Workbench.MemoryMax, 4 << 20,
		}, {&c.Admission.CacheMemory, 1 << 20}, {&c.Sieve.BucketBytes, 2 << 20}, {&c.Seen.MemoryBytes, 2 << 20},
	}
	if c.Cookies.Mode == cookie.Site {
		caps = append(caps, memoryCap{&c.Cookies.Memory, 1 << 20})
	}
	if c.Traps.Novelty == traps.NoveltyOn {
		caps = append(caps, memoryCap{&c.Traps.NoveltyMemory, 1 << 20})
	}
	return caps
}

type memoryCap struct {
	bytes *int64
	least int64
}

var errLittleMemory = errors.New("there is too little memory")

// fitMemory makes a crawl fit into the memory that this process may have: the largest cap gives first, and fetch
// workers go when their pages are the largest part.
func fitMemory(log *slog.Logger, c *engine.Config, allowed int64) error {
	asked, ours := memorySum(*c), memoryOurs(allowed)
	if asked <= ours {
		return nil
	}
	for memorySum(*c) > ours {
		if !shrink(c) {
			return fmt.Errorf(
				"%w: this process may have %s, and a crawl needs at least %s: "+
					"raise the limit of its cgroup, or use a larger machine",
				errLittleMemory, plural.Bytes(allowed), plural.Bytes(memorySum(*c)+memorySum(*c)/7),
			)
		}
	}
	log.Warn(
		"there is less memory than this crawl is set to use, so its caps are lower; "+
			"raise the limit of the cgroup, or ask for less",
		"allowed", plural.Bytes(allowed), "asked", plural.Bytes(asked), "workbench",
		plural.Bytes(c.Workbench.MemoryMax), "cache", plural.Bytes(c.Admission.CacheMemory), "sieve",
		plural.Bytes(c.Sieve.BucketBytes), "dedup", plural.Bytes(c.Seen.MemoryBytes), "fetchers",
		c.Workers.Fetchers,
	)
	return nil
}

// shrink takes an eighth from the largest part that can give something, and reports whether there was one.
func shrink(c *engine.Config) bool {
	var largest *int64
	var least int64
	for _, m := range memoryCaps(c) {
		if *m.bytes > m.least && (largest == nil || *m.bytes > *largest) {
			largest, least = m.bytes, m.least
		}
	}
	if pages := c.PageMemory(); c.Workers.Fetchers > fetchersLeast && (largest == nil || pages > *largest) {
		c.Workers.Fetchers = max(fetchersLeast, c.Workers.Fetchers*7/8)
		c.Workers.IdleConnsMax = min(c.Workers.IdleConnsMax, c.Workers.Fetchers)
		return true
	}
	if largest == nil {
		return false
	}
	*largest = max(least, *largest/8*7)
	return true
}
