package engine

import (
	"context"

	"orbweaver/engine/filter"
	"orbweaver/engine/urlx"
	"orbweaver/sieve"
	"orbweaver/sieve/fpcache"
)

// Frontier is the one door for URLs: seeds, links of pages and what the operator adds all come through Add. It owns the
// fingerprint cache and the way into the sieve. Safe for many goroutines.
type Frontier struct {
	scope    *filter.Scope
	exclude  *filter.HostSet
	maxDepth int // -1 for no limit
	hashSeed uint64
	cache    *fpcache.Cache
	sieve    *sieve.Sieve
	n        *counters
}

// door is a user's scratch space at the door: one per goroutine, never shared.
type door struct {
	payload []byte
}

// WaitRoom blocks while the sieve has no room, and must be called outside the cut's shared lock: nobody waits inside.
func (f *Frontier) WaitRoom(ctx context.Context) error { return f.sieve.WaitRoom(ctx) }

// Add offers one URL in normal form, with its item's Seed, Depth and Hops. It borrows url, never blocks, and must be
// called under the cut's shared lock. The fingerprint enters the cache only after the sieve has taken the URL.
func (f *Frontier) Add(d *door, url []byte, it Item) {
	f.n.found.Add(1)
	if f.maxDepth >= 0 && it.Depth > f.maxDepth {
		f.n.droppedDepth.Add(1)
		return
	}
	site, _ := urlx.Split(url)
	if f.exclude.Excludes(urlx.Host(site)) || !f.scope.Admits(url, it.Depth) {
		f.n.droppedScope.Add(1)
		return
	}
	fp := urlx.Fingerprint(f.hashSeed, url)
	if f.cache.Seen(fp) {
		f.n.droppedCache.Add(1)
		return
	}
	it.Rest = url
	d.payload = appendItem(d.payload[:0], &it)
	f.sieve.Add(fp, d.payload)
	f.n.sieved.Add(1)
	f.cache.Put(fp)
}

// Refuse counts a reference that is no URL we can fetch.
func (f *Frontier) Refuse() {
	f.n.found.Add(1)
	f.n.droppedSyntax.Add(1)
}
