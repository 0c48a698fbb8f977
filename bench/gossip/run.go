package gossip

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"orbweaver/bench/growth"
)

// limit is how long anything may take that is awaited, in real time at pace 1.
const limit = 2 * time.Minute

// settle is how long the last news of the building are told on.
const settle = 20 * time.Second

// Simulate runs groups of each size, one size after the other.
func Simulate(ctx context.Context, o Options) (*Result, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	r := &Result{Name: "members"}
	for _, size := range o.Sizes {
		run, err := simulate(ctx, &o, size)
		if err != nil {
			return nil, fmt.Errorf("gossip: groups of %d: %w", size, err)
		}
		r.Runs = append(r.Runs, run)
	}
	return r, nil
}

// simulation is all groups of one size.
type simulation struct {
	o     *Options
	towns []*town
	run   *Run

	mu                                      sync.Mutex
	built, death, agreed, returns, welcomed []time.Duration
}

func simulate(ctx context.Context, o *Options, size int) (_ *Run, err error) {
	groups := max(1, (o.Agents+size-1)/size)
	s := &simulation{o: o, run: &Run{Size: size, Groups: groups, Pace: o.Pace}}
	for g := range groups {
		s.towns = append(s.towns, newTown(o, size, o.Seed+uint64(g)))
	}
	defer func() {
		for _, t := range s.towns {
			err = errors.Join(err, t.close())
		}
	}()
	fmt.Fprintf(o.Say, "members: %d groups of %d\n", groups, size)
	if err := s.each(func(t *town, _ int) error { return s.build(ctx, t) }); err != nil {
		return nil, err
	}
	fmt.Fprintf(o.Say, "members: all know all, %v CPU so far\n", growth.CPU().Round(time.Second))
	if err := s.quiet(ctx); err != nil {
		return nil, err
	}
	deaths := min(max(1, o.Deaths/groups), max(1, size/5))
	if err := s.each(func(t *town, g int) error { return s.deaths(ctx, t, g, deaths) }); err != nil {
		return nil, err
	}
	s.finish()
	if s.run.Ring, err = rings(size, o.Seed); err != nil {
		return nil, err
	}
	return s.run, nil
}

// each does something with all groups at a time.
func (s *simulation) each(do func(t *town, g int) error) error {
	errs := make([]error, len(s.towns))
	var wg sync.WaitGroup
	for g, t := range s.towns {
		wg.Go(func() { errs[g] = do(t, g) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (s *simulation) build(ctx context.Context, t *town) error {
	ctx, cancel := context.WithTimeout(ctx, 10*limit)
	defer cancel()
	took, err := t.build(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.built = append(s.built, took)
	return err
}

// quiet measures what is said while nothing happens.
func (s *simulation) quiet(ctx context.Context) error {
	if err := pause(ctx, time.Duration(float64(settle)*s.o.Pace)); err != nil {
		return err
	}
	sum := func() (datagrams, bytes, streams float64) {
		for _, t := range s.towns {
			n := t.net.Traffic()
			datagrams, bytes, streams = datagrams+float64(n.Datagrams), bytes+float64(n.DatagramBytes+n.StreamBytes), streams+float64(n.Streams)
		}
		return datagrams, bytes, streams
	}
	d0, b0, s0 := sum()
	began, cpu := time.Now(), growth.CPU()
	if err := pause(ctx, time.Duration(float64(s.o.Quiet)*s.o.Pace)); err != nil {
		return err
	}
	took := time.Since(began).Seconds() / s.o.Pace * float64(len(s.towns)*s.run.Size)
	s.run.CPU = (growth.CPU() - cpu).Seconds() / took
	d1, b1, s1 := sum()
	s.run.DatagramsPerSecond, s.run.BytesPerSecond, s.run.StreamsPerSecond = (d1-d0)/took, (b1-b0)/took, (s1-s0)/took
	return nil
}

// deaths kills some agents of a group, one after the other at odd moments, and brings them back when all survivors know.
func (s *simulation) deaths(ctx context.Context, t *town, g, deaths int) error {
	rng := rand.New(rand.NewPCG(s.o.Seed, uint64(g)))
	ctx, cancel := context.WithTimeout(ctx, time.Duration(float64(limit)*s.o.Pace)*time.Duration(1+deaths))
	defer cancel()
	victims := rng.Perm(t.size)[:deaths]
	var killed []*await
	for _, n := range victims {
		if err := pause(ctx, time.Duration(rng.Float64()*2*s.o.Pace*float64(time.Second))); err != nil {
			return err
		}
		w, err := t.kill(n)
		if err != nil {
			return err
		}
		killed = append(killed, w)
	}
	for i, n := range victims {
		if err := s.collect(ctx, t, killed[i], &s.death, &s.agreed); err != nil {
			return err
		}
		w, err := t.revive(ctx, n)
		if err != nil {
			return err
		}
		if err := s.collect(ctx, t, w, &s.returns, &s.welcomed); err != nil {
			return err
		}
	}
	return nil
}

// collect waits until all have noticed, and keeps how long each took, and the last one.
func (s *simulation) collect(ctx context.Context, t *town, w *await, single, last *[]time.Duration) error {
	select {
	case <-w.all:
	case <-ctx.Done():
		t.mu.Lock()
		defer t.mu.Unlock()
		return fmt.Errorf("%s: %d have not noticed: %w", w.id, len(w.left), context.Cause(ctx))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	*single = append(*single, w.took...)
	if len(w.took) > 0 {
		*last = append(*last, w.took[len(w.took)-1])
	}
	return nil
}

func (s *simulation) finish() {
	pace := s.o.Pace
	s.run.Built, s.run.Death, s.run.Agreed = spread(s.built, pace), spread(s.death, pace), spread(s.agreed, pace)
	s.run.Return, s.run.Welcomed = spread(s.returns, pace), spread(s.welcomed, pace)
	for _, t := range s.towns {
		t.mu.Lock()
		s.run.False += t.lost
		t.mu.Unlock()
	}
}
