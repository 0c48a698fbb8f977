package invitro

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/simweb"
	"orbweaver/engine"
	"orbweaver/internal/vfs"
)

// band is some agents that crawl one web together.
type band struct {
	t     *testing.T
	rig   *Rig
	hub   *hub
	names []string
	disks map[string]*vfs.Mem

	mu      sync.Mutex
	reports map[string]engine.Report
	errs    map[string]error
	wg      sync.WaitGroup
}

func newBand(t *testing.T, world simweb.Config, agents int) *band {
	t.Helper()
	rig, err := NewRig(world, true)
	if err != nil {
		t.Fatal(err)
	}
	b := &band{t: t, rig: rig, hub: newHub(), disks: map[string]*vfs.Mem{}, reports: map[string]engine.Report{}, errs: map[string]error{}}
	for i := range agents {
		name := fmt.Sprintf("agent-%d", i)
		b.names = append(b.names, name)
		b.disks[name] = vfs.NewMem(uint64(i))
	}
	return b
}

// start lets an agent crawl until it ends or ctx does.
func (b *band) start(ctx context.Context, name string, change func(*engine.Config)) {
	cfg := b.rig.Config()
	cfg.Agents = len(b.names)
	change(&cfg)
	seams := b.rig.Seams(b.disks[name])
	seams.Log = slog.New(slog.NewTextHandler(b.t.Output(), nil)).With("agent", name)
	seams.Peering = b.hub.desk(name, 1)
	b.wg.Go(func() {
		report, err := b.crawl(ctx, cfg, seams)
		b.mu.Lock()
		defer b.mu.Unlock()
		b.reports[name], b.errs[name] = report, err
	})
}

func (b *band) crawl(ctx context.Context, cfg engine.Config, seams engine.Seams) (engine.Report, error) {
	e, err := engine.Open(cfg, seams)
	if err != nil {
		return engine.Report{}, err
	}
	err = e.Run(ctx)
	report := e.Report()
	if cerr := e.Close(); err == nil {
		err = cerr
	}
	return report, err
}

// wait returns when all agents have ended.
func (b *band) wait() {
	b.t.Helper()
	b.wg.Wait()
	for name, err := range b.errs {
		if err != nil {
			b.t.Errorf("%s: %v", name, err)
		}
	}
}

// judge holds the log of the web and all archives against the truth.
func (b *band) judge() simweb.Verdict {
	b.t.Helper()
	var all []simweb.Capture
	for _, name := range b.names {
		err := Captures(b.disks[name], "crawl/warc", func(c simweb.Capture) { all = append(all, c) })
		if err != nil {
			b.t.Fatal(err)
		}
	}
	p := promise(b.rig.Config())
	p.Expect.Seeds = b.rig.Seeds
	return b.rig.World.Judge(b.rig.Log, p, func(yield func(simweb.Capture) bool) {
		for _, c := range all {
			if !yield(c) {
				return
			}
		}
	})
}

// Agents that know each other from the beginning fetch a web whole, and no page twice.
func TestAgents_shareAWebWithoutGapsOrOverlap(t *testing.T) {
	for _, agents := range []int{1, 2, 4} {
		t.Run(fmt.Sprint(agents), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBand(t, smallWorld(*firstSeed+700, simweb.Plain()), agents)
				began := time.Now()
				for _, name := range b.names {
					b.start(t.Context(), name, unchanged)
				}
				b.wait()
				if err := b.rig.Net.Close(); err != nil {
					t.Error(err)
				}
				v := b.judge()
				pages := int64(0)
				for _, name := range b.names {
					r := b.reports[name]
					checkBalance(t, r)
					t.Logf("%s: %d pages, %d hosts, %s: %s", name, r.PagesStored, r.HostsKnown, r.State, r.Reason)
					if r.State != engine.StateFinished || r.PagesStored == 0 {
						t.Errorf("%s: %s (%s) after %d pages", name, r.State, r.Reason, r.PagesStored)
					}
					pages += r.PagesStored + r.RevisitsStored
				}
				t.Logf("virtual time %v, %d pages, %d letters, %d questions", time.Since(began), pages, b.hub.letters, b.hub.asked)
				if v.HostGapViolations+v.HostConcurrency > 0 || v.Coverage != 1 || v.Overlap != 0 || v.Duplicates > 0 {
					v.Print(t.Output())
					t.Error("the oracle complains")
				}
			})
		})
	}
}

// An agent whose name another has stops in good order, and says why. What it has is whole, and it goes on when it is run again.
func TestAgents_whoIsLostStopsInOrderAndGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBand(t, smallWorld(*firstSeed+720, simweb.Plain()), 2)
		for _, name := range b.names {
			b.start(t.Context(), name, unchanged)
		}
		time.Sleep(20 * time.Second)
		lost := b.names[1]
		b.hub.expel(lost)
		for done := false; !done; {
			time.Sleep(time.Second)
			b.mu.Lock()
			_, done = b.errs[lost]
			b.mu.Unlock()
		}
		r, err := b.reports[lost], b.errs[lost]
		if !errors.Is(err, engine.ErrLost) || !errors.Is(err, errName) || r.State != engine.StateStopped || r.PagesStored == 0 || r.URLsQueued == 0 || r.URLsInFlight != 0 {
			t.Errorf("%v; %s (%s) after %d pages, %d queued, %d in flight", err, r.State, r.Reason, r.PagesStored, r.URLsQueued, r.URLsInFlight)
		}
		checkBalance(t, r)
		delete(b.errs, lost)
		b.start(t.Context(), lost, unchanged)
		b.wait()
		if err := b.rig.Net.Close(); err != nil {
			t.Error(err)
		}
		if again := b.reports[lost]; again.State != engine.StateFinished || again.PagesStored < r.PagesStored {
			t.Errorf("when it was run again: %s (%s) after %d pages", again.State, again.Reason, again.PagesStored)
		}
		if v := b.judge(); v.HostGapViolations+v.HostConcurrency > 0 || v.Coverage != 1 {
			v.Print(t.Output())
			t.Error("the oracle complains")
		}
	})
}
