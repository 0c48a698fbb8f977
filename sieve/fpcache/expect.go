package fpcache

import "github.com/zeebo/xxh3"

// Expect reads ahead what Seen will need for each of fps. It changes nothing: it is for who is about to ask for many, since
// to fetch from memory the sets of many at once takes hardly longer than to fetch one. The result means nothing; it is there
// so that the reading is not left out.
func (c *Cache) Expect(fps []xxh3.Uint128) (sum uint64) {
	for _, fp := range fps {
		s := &c.sets[c.index(fp)]
		sum += s.meta.Load() + s.lo[0].Load()
	}
	return sum
}
