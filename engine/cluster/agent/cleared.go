package agent

import (
	"sync"

	"github.com/zeebo/xxh3"
)

// clearedMost is how many URLs are remembered as cleared: some MiB.
const clearedMost = 1 << 16

// cleared are URLs that nobody else has, by all who were asked since the circle last changed. A Visit asks for all the
// items that it brings, and uses one: those that it gives back need not be asked for again. The zero value is empty.
type cleared struct {
	mu   sync.Mutex
	turn int64                     // guarded by mu: the change of the circle that it is about
	fps  map[xxh3.Uint128]struct{} // guarded by mu
}

// has says that nobody else has a URL, since a change of the circle.
func (c *cleared) has(turn int64, fp xxh3.Uint128) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.fps[fp]
	return ok && c.turn == turn
}

// add notes that. When it is full it forgets all.
func (c *cleared) add(turn int64, fp xxh3.Uint128) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fps == nil || c.turn != turn || len(c.fps) == clearedMost {
		c.turn, c.fps = turn, make(map[xxh3.Uint128]struct{})
	}
	c.fps[fp] = struct{}{}
}

// drop forgets a URL that is fetched now.
func (c *cleared) drop(fp xxh3.Uint128) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.fps, fp)
}
