package agents

import (
	"context"
	"fmt"
	"os/exec"
	"syscall"
	"time"
)

// faults is what has been done to a fleet so far.
type faults struct {
	onceDone  bool      // what happens once, in the middle, has happened
	next      time.Time // of the kills
	turn      int       // whose it is
	kills     int
	lostPages int64 // on the disk that was deleted, as its agent last reported
}

// killUntil is the part of the pages up to which agents are killed: later the crawl may end while one of them is down.
const killUntil = 0.9

// victim is the agent that is lost, leaves or comes late: the last.
func (f *fleet) victim() *agent { return f.agents[len(f.agents)-1] }

// late says that the agent is not there from the beginning.
func (f *fleet) late(a *agent) bool { return f.p.scenario == Join && a == f.victim() }

// step does what is due.
func (f *fleet) step(ctx context.Context, now time.Time) error {
	for _, a := range f.agents {
		if a.state == down && !now.Before(a.back) {
			if err := f.start(ctx, a); err != nil {
				return err
			}
		}
	}
	switch f.p.scenario {
	case Kill:
		return f.killNext(now)
	case Lose, Leave, Depart, Join:
		return f.once(ctx)
	case Partition:
		return f.net.step(ctx, f, now)
	case Plain, Capacity:
	}
	return nil
}

// stored is the part of the world's pages that the agents report.
func (f *fleet) stored() (float64, error) {
	var n int64
	for _, a := range f.agents {
		t, err := a.readReport()
		if err != nil {
			return 0, err
		}
		n += t.pages()
	}
	return float64(n) / float64(max(f.pages, 1)), nil
}

// killNext kills whose turn it is, if it is time.
func (f *fleet) killNext(now time.Time) error {
	if now.Before(f.faults.next) {
		return nil
	}
	f.faults.next = now.Add(f.o.KillEvery)
	if part, err := f.stored(); err != nil || part > killUntil {
		return err
	}
	for range f.agents {
		a := f.agents[f.faults.turn%len(f.agents)]
		f.faults.turn++
		if a.state == running {
			a.state = dying
			f.faults.kills++
			return a.kill()
		}
	}
	return nil
}

// once does what happens once, if half of the pages are there.
func (f *fleet) once(ctx context.Context) error {
	if f.faults.onceDone {
		return nil
	}
	if part, err := f.stored(); err != nil || part < 0.5 {
		return err
	}
	a := f.victim()
	f.faults.onceDone = true
	if f.p.scenario == Join {
		return f.start(ctx, a)
	}
	if a.state != running {
		return fmt.Errorf("agents: %s is %v when half of the pages are there: nothing can happen to it", a.id, a.state)
	}
	if f.p.scenario == Lose {
		t, err := a.readReport()
		if err != nil {
			return err
		}
		f.faults.lostPages, a.state = t.pages(), dying
		return a.kill()
	}
	a.state = leaving
	if f.p.scenario == Depart {
		said, err := exec.CommandContext(ctx, f.o.Program, "ctl", "leave", "--dir", a.dir).CombinedOutput()
		if err != nil {
			return fmt.Errorf("agents: ask %s to leave the cluster: %w: %s", a.id, err, said)
		}
		return nil
	}
	if err := a.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("agents: ask %s to stop: %w", a.id, err)
	}
	return nil
}

// happened is an error if the run was over before its faults.
func (s *faults) happened(f *fleet) error {
	switch f.p.scenario {
	case Kill:
		if s.kills > 0 {
			return nil
		}
		return fmt.Errorf(
			"agents: the run was over before the first agent was killed, after %v: give it more pages or longer delays",
			f.o.KillEvery,
		)
	case Lose, Leave, Depart, Join:
		if s.onceDone {
			return nil
		}
		return fmt.Errorf(
			"agents: the run was over before half of its pages were reported: give it more pages or longer delays",
		)
	case Partition:
		return f.net.checkPlayed(f)
	case Plain, Capacity:
	}
	return nil
}
