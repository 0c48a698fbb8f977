package agents

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"orbweaver/internal/simweb/judge"
	"orbweaver/internal/simweb/origin"
)

// RunPrefix begins the name of each folder in Options.Dir.
const RunPrefix = "run-"

// Measure does all runs. The files of a run in which nothing was wrong are removed, unless all are kept.
func Measure(ctx context.Context, o Options) (*Result, error) {
	plans, err := o.plans()
	if err != nil {
		return nil, err
	}
	r := &Result{Name: "agents"}
	for i := range plans {
		p := &plans[i]
		fmt.Fprintf(o.Say, "%d of %d: %s: %d agents with %d fetchers each\n", i+1, len(plans), p.name, p.agents,
			p.fetchers)
		dir := filepath.Join(o.Dir, RunPrefix+p.name)
		run, err := measure(ctx, &o, p, dir)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		r.add(run)
		if o.Keep || !run.Sound() {
			continue // its files say why
		}
		if err := os.RemoveAll(dir); err != nil {
			return nil, fmt.Errorf("agents: %w", err)
		}
	}
	return r, nil
}

// measure is one run.
func measure(ctx context.Context, o *Options, p *plan, dir string) (*Run, error) {
	world, err := origin.New(p.world)
	if err != nil {
		return nil, err
	}
	seeds := min(seedCount, world.Hosts())
	given := world.Seeds(seeds)
	truth := world.Expected(judge.ExpectOptions{Seeds: given})
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	net, err := newNetwork(ctx, p, dir)
	if err != nil {
		return nil, err
	}
	defer net.close()
	f, err := newFleet(ctx, o, p, net, dir)
	if err != nil {
		return nil, err
	}
	args := []string{
		"--host-delay", p.pace.HostDelay.String(), "--ip-delay", p.pace.IPDelay.String(),
		"--seed-count", fmt.Sprint(seeds), "--digest-every", fmt.Sprint(max(o.Every, 1)),
	}
	for _, d := range f.archives() {
		args = append(args, "--judge", d)
	}
	web, err := net.serve(ctx, f, args)
	if err != nil {
		return nil, err
	}
	f.pages = truth.Pages()
	begun := time.Now()
	wall, err := f.run(ctx, web)
	if err != nil {
		cancel()
		_, _ = web.Stop() // killed: there is nothing to be judged
		return nil, err
	}
	sum, err := web.Stop()
	if err != nil {
		return nil, err
	}
	if sum.Verdict == nil {
		return nil, errors.New("agents: the simulated web got no request")
	}
	r, err := f.result(truth, given, &sum, wall)
	if err == nil {
		err = net.report(f, r, begun)
	}
	if err == nil {
		r.judge(f.p)
	}
	if err == nil && p.peering() {
		err = f.audit(ctx, r)
	}
	if err != nil || !o.Fsck {
		return r, err
	}
	faults, err := f.fsck(ctx)
	r.Faults = append(r.Faults, faults...)
	return r, err
}

func newNetwork(ctx context.Context, p *plan, dir string) (network, error) {
	if p.scenario == Partition {
		return newPartition(ctx, p, dir)
	}
	return newLoopback(), nil
}

// seedCount is how many seeds each agent is given: the same ones all.
const seedCount = 100
