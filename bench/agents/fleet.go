package agents

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"orbweaver/internal/trial/load"
)

// fleet is the agents of one run.
type fleet struct {
	o      *Options
	p      *plan
	web    *load.Child
	agents []*agent
	exits  chan exit
	faults faults
	net    network
	pages  int // of the truth
}

// stopped is the exit status of a crawl that a signal has ended, and that can go on.
const stopped = 130

// newFleet gives each agent a directory and two ports.
func newFleet(ctx context.Context, o *Options, p *plan, net network, dir string) (*fleet, error) {
	f := &fleet{o: o, p: p, net: net, exits: make(chan exit)}
	for k := range p.agents {
		id := fmt.Sprintf("a%d", k+1)
		a := &agent{id: id, capacity: p.capacity(k), dir: filepath.Join(dir, id), output: filepath.Join(dir, id+".log")}
		if err := net.place(ctx, f, a, k); err != nil {
			return nil, err
		}
		f.agents = append(f.agents, a)
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("agents: %w", err)
	}
	return f, nil
}

// archives are the directories that are judged at the end: not that of the agent which loses its own.
func (f *fleet) archives() (dirs []string) {
	for _, a := range f.agents {
		if f.p.scenario != Lose || a != f.victim() {
			dirs = append(dirs, a.dir)
		}
	}
	return dirs
}

// args is the command line of an agent. Its contact tells its requests from the others' in the web's log. In its
// first run an agent waits for all agents before it begins, so that joining is not measured. After a restart it joins
// the agents that it finds.
func (f *fleet) args(a *agent) []string {
	args := []string{
		"crawl", "--dir", a.dir, "--scope", "all", "--speculative", "off", "--seeds", f.web.Seeds, "--proxy", a.proxy,
		"--resolver", fmt.Sprintf("hashed:%d", f.web.Where.IPs),
		"--host-delay", f.p.pace.HostDelay.String(), "--ip-delay", f.p.pace.IPDelay.String(),
		"--fetchers", fmt.Sprint(f.p.fetchers), "--stall-wait", "10s", "--contact", contactOf(a.id), "--progress", "none",
		"--workbench-memory", "32MiB", "--cache-memory", "8MiB", "--sieve-memory", "8MiB", "--dedup-memory", "16MiB",
		"--novelty-memory", "4MiB",
	}
	return f.net.complete(f, a, args)
}

// contactOf is the contact that an agent gives, by which its requests are told from the others' in the web's log.
func contactOf(id string) string { return "https://example.org/agents/" + id }

func (f *fleet) start(ctx context.Context, a *agent) error {
	return a.start(ctx, f.o.Program, f.args(a), f.exits)
}

// run starts the agents and waits until all have come to their end. Whatever comes of it, no process is left.
func (f *fleet) run(ctx context.Context, web *load.Child) (wall time.Duration, err error) {
	proxies := append([]string{web.Where.Proxy}, web.Where.More...)
	f.web = web
	for k, a := range f.agents {
		a.proxy = proxies[k%len(proxies)]
	}
	defer f.stop()
	begin := time.Now()
	for _, a := range f.agents {
		if f.late(a) {
			continue
		}
		if err := f.start(ctx, a); err != nil {
			return 0, err
		}
	}
	f.faults.next = begin.Add(f.o.KillEvery)
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	late := time.NewTimer(f.o.Most)
	defer late.Stop()
	for !f.over() {
		select {
		case e := <-f.exits:
			err = f.ended(ctx, e)
		case now := <-tick.C:
			err = f.step(ctx, now)
		case <-late.C:
			err = fmt.Errorf(
				"agents: the run is not over after %v: give it longer with --most, or see what the agents wait for",
				f.o.Most,
			)
		case <-ctx.Done():
			err = ctx.Err()
		}
		if err != nil {
			return 0, errors.Join(err, f.describe())
		}
	}
	return time.Since(begin), f.faults.happened(f)
}

// over reports whether no process runs and none will start again.
func (f *fleet) over() bool {
	return !slices.ContainsFunc(f.agents, func(a *agent) bool { return a.state.live() || a.state == down })
}

// ended notes the end of a process, and returns an error if no signal asked for it.
func (f *fleet) ended(ctx context.Context, e exit) error {
	a, life := e.a, e.a.cmd.ProcessState
	if life == nil {
		return fmt.Errorf("agents: wait for %s: %w", a.id, e.err)
	}
	a.cpu += life.UserTime() + life.SystemTime()
	was := a.state
	switch {
	case was == dying && f.p.scenario == Lose:
		a.state = lost
		if err := os.RemoveAll(a.dir); err != nil {
			return fmt.Errorf("agents: %w", err)
		}
	case life.ExitCode() == 0: // perhaps just before the kill
		a.state = done
	case was == dying:
		a.state, a.back = down, time.Now().Add(f.o.Rejoin)
	case was == leaving && life.ExitCode() == stopped:
		a.state = left
	case ctx.Err() != nil:
		a.state = lost
	default:
		a.state = lost
		return fmt.Errorf("agents: %s ended with %v without an order to stop; the end of its output, in %s:\n%s",
			a.id, life, a.output, a.lastOutput())
	}
	return nil
}

// stop ends what still runs, each process by its own number, and waits for all of it.
func (f *fleet) stop() {
	for _, a := range f.agents {
		if a.state.live() {
			_ = a.kill() // if it cannot be killed, it has ended, which is waited for
		}
	}
	for _, a := range f.agents {
		for a.state.live() {
			e := <-f.exits
			e.a.state = lost
		}
	}
}

// fsck checks every directory that is left, with the program's own check, and returns the faults found.
func (f *fleet) fsck(ctx context.Context) (faults []string, err error) {
	for _, a := range f.agents {
		if a.state == lost {
			continue
		}
		said, err := exec.CommandContext(ctx, f.o.Program, "fsck", a.dir).CombinedOutput()
		var failed *exec.ExitError
		switch {
		case errors.As(err, &failed):
			faults = append(faults, fmt.Sprintf("fsck of %s: %s", a.id, lastLine(said)))
		case err != nil:
			return nil, fmt.Errorf("agents: fsck of %s: %w", a.id, err)
		}
	}
	return faults, nil
}

func lastLine(said []byte) string {
	lines := strings.Split(strings.TrimSpace(string(said)), "\n")
	return lines[len(lines)-1]
}

// describe says how every agent is.
func (f *fleet) describe() error {
	var lines []string
	for _, a := range f.agents {
		lines = append(lines, a.describe())
	}
	return errors.New(strings.Join(lines, "\n"))
}
