package recovery

import (
	"sync"

	"github.com/zeebo/xxh3"
)

// unfetchedMost is how many URLs are remembered as not fetched: some MiB.
const unfetchedMost = 1 << 16

// UnfetchedURLs are URLs that no other agent has, by all that were asked in the current view, after it had settled. A
// Visit asks for all the items that it brings and fetches one of them: the items that it returns need not be asked for
// again. The zero value is empty.
type UnfetchedURLs struct {
	mu   sync.Mutex
	view int64                     // guarded by mu: the number of the view that the answers are from
	fps  map[xxh3.Uint128]struct{} // guarded by mu
}

// Has says whether no agent had a URL in a view, by the number of the view.
func (c *UnfetchedURLs) Has(view int64, fp xxh3.Uint128) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.fps[fp]
	return ok && c.view == view
}

// Add adds a URL. If it is full, or the view is new, it forgets all others.
func (c *UnfetchedURLs) Add(view int64, fp xxh3.Uint128) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fps == nil || c.view != view || len(c.fps) == unfetchedMost {
		c.view, c.fps = view, make(map[xxh3.Uint128]struct{})
	}
	c.fps[fp] = struct{}{}
}

// Drop removes a URL that this agent has fetched.
func (c *UnfetchedURLs) Drop(fp xxh3.Uint128) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.fps, fp)
}
