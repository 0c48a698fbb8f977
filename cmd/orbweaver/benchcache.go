package main

import (
	"context"

	"orbweaver/bench/growth"
	"orbweaver/bench/rooms"
)

type benchCacheCmd struct {
	roomFlags   `embed:""`
	CacheMemory size `help:"The largest cache; smaller ones have a quarter each of the next." default:"256MiB" placeholder:"SIZE" least:"65536"`
}

// Help says what it does.
func (*benchCacheCmd) Help() string {
	return "Asks caches of four sizes for the links of a web: look-ups a second with one goroutine and with two, hits beside those of a\n" +
		"true LRU, and what a restart costs.\n\n" +
		"Examples:\n  orbweaver bench cache\n  orbweaver bench cache --urls 100_000_000 --hosts 10_000_000 --cache-memory 1GiB"
}

// Run measures.
func (c *benchCacheCmd) Run(w *world) error {
	return c.measure(w, func(ctx context.Context, o rooms.Options) (*growth.Result, error) {
		n := c.CacheMemory.bytes
		return rooms.Cache(ctx, o, []int64{n / 64, n / 16, n / 4, n})
	})
}
