package main

import (
	"context"

	"orbweaver/bench/growth"
	"orbweaver/bench/rooms"
)

type benchSeenCmd struct {
	roomFlags `embed:""`
	Memory    size `help:"Memory of the index." default:"192MiB" placeholder:"SIZE" least:"1"`
}

// Help shows an example.
func (*benchSeenCmd) Help() string {
	return "Counts digests, where other benchmarks count URLs: at the end there are so many. 10^8 take 14 GB of disk.\n\n" +
		"Example:\n  orbweaver bench seen --urls 100_000_000"
}

// Run measures.
func (c *benchSeenCmd) Run(w *world) error {
	return c.measure(w, func(ctx context.Context, o rooms.Options) (*growth.Result, error) {
		return rooms.Seen(ctx, o, c.Memory.bytes)
	})
}
