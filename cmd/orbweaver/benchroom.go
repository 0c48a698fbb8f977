package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"orbweaver/bench/growth"
	"orbweaver/bench/rooms"
)

// roomFlags are what the benchmarks of single rooms have in common.
type roomFlags struct {
	URLs  count  `name:"urls" help:"URLs at the end; the room is looked at from a million on at every power of ten." default:"10_000_000" placeholder:"N"`
	Hosts count  `help:"Hosts they are spread over." default:"1_000_000" placeholder:"N"`
	Dir   string `help:"Where the files go; made anew, and removed at the end." default:"./build/bench" placeholder:"DIR"`
	Seed  count  `help:"Which URLs." default:"1" placeholder:"N"`
	JSON  bool   `help:"Print JSON."`
}

// measure runs one benchmark and prints what it found.
func (f *roomFlags) measure(w *world, run func(context.Context, rooms.Options) (*growth.Result, error)) error {
	ctx, stop := signal.NotifyContext(w.ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	o := rooms.Options{URLs: f.URLs.n, Hosts: f.Hosts.n, Dir: f.Dir, Seed: uint64(f.Seed.n), Say: w.stderr}
	r, err := run(ctx, o)
	if err != nil {
		return err
	}
	if f.JSON {
		return printJSON(w.stdout, r)
	}
	r.Print(w.stdout)
	return nil
}
