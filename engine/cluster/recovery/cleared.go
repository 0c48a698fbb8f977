package recovery

import (
	"sync"

	"github.com/zeebo/xxh3"
)

// clearedMost is how many URLs are remembered as cleared: some MiB.
const clearedMost = 1 << 16

// ClearedURLs are URLs that no other agent has, by all that were asked in the current view. A Visit asks for all the
// items that it brings and fetches one of them: the items that it returns need not be asked for again. The zero value
// is empty.
type ClearedURLs struct {
	mu   sync.Mutex
	view int64                     // guarded by mu: the number of the view that the answers are from
	fps  map[xxh3.Uint128]struct{} // guarded by mu
}

// Has says whether a URL was cleared in a view, by the number of the view.
func (c *ClearedURLs) Has(view int64, fp xxh3.Uint128) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.fps[fp]
	return ok && c.view == view
}

// Add adds a URL. If it is full, or the view is new, it forgets all others.
func (c *ClearedURLs) Add(view int64, fp xxh3.Uint128) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fps == nil || c.view != view || len(c.fps) == clearedMost {
		c.view, c.fps = view, make(map[xxh3.Uint128]struct{})
	}
	c.fps[fp] = struct{}{}
}

// Drop removes a URL that this agent has fetched.
func (c *ClearedURLs) Drop(fp xxh3.Uint128) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.fps, fp)
}
