package main

import (
	"context"

	"orbweaver/bench/growth"
	"orbweaver/bench/rooms"
)

type benchSieveCmd struct {
	roomFlags   `embed:""`
	SieveMemory size `help:"Memory of the sieve's buckets." default:"64MiB" placeholder:"SIZE" least:"1"`
}

// Help says what it does.
func (*benchSieveCmd) Help() string {
	return "Adds a stream of URLs, every second one known already, while another goroutine flushes and cuts; --hosts is not used.\n\n" +
		"Examples:\n  orbweaver bench sieve\n  orbweaver bench sieve --urls 1_000_000_000 --sieve-memory 1GiB"
}

// Run measures.
func (c *benchSieveCmd) Run(w *world) error {
	return c.measure(w, func(ctx context.Context, o rooms.Options) (*growth.Result, error) {
		return rooms.Sieve(ctx, o, c.SieveMemory.bytes)
	})
}
