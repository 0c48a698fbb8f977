package traps

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"testing"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/dnsres"
	"orbweaver/engine"
	"orbweaver/engine/operate/report"
	"orbweaver/internal/simnet"
	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/origin"
	"orbweaver/internal/vfs"
)

// web is a case beside a small simulated world, with its network.
type web struct {
	*Web
	net *simnet.Net
}

// newWeb makes the network of a case. Call it inside a bubble.
func newWeb(t testing.TB, c Case) *web {
	t.Helper()
	w := NewWeb(c)
	return &web{Web: w, net: newNet(t, w)}
}

// newNet makes a world with one guest, and its network, which ends with the test.
func newNet(t testing.TB, site simweb.Guest) *simnet.Net {
	t.Helper()
	world, err := origin.New(simweb.Config{Hosts: 1, Graph: simweb.Graph{PagesPerHostMean: 1}})
	if err != nil {
		t.Fatal(err)
	}
	world.Invite(site)
	network := simnet.New(world, simnet.Options{})
	t.Cleanup(func() {
		if err := network.Close(); err != nil {
			t.Error(err)
		}
	})
	return network
}

// seams connects an engine to a network.
func seams(t testing.TB, network *simnet.Net, fsys vfs.FS) engine.Seams {
	t.Helper()
	res, err := dnsres.New(dnsres.Options{
		Upstreams: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:53")}, IPv6: true,
	}, network)
	if err != nil {
		t.Fatal(err)
	}
	return engine.Seams{
		FS: fsys, Dialer: network, Resolver: res, Log: slog.New(slog.DiscardHandler),
		Allowed: func(netip.AddrPort) error { return nil },
	}
}

const hostDelay = 100 * time.Millisecond

func config(seeds []string) engine.Config {
	cfg := engine.Simulation()
	cfg.Seeds = testbed.Seeds(seeds)
	cfg.Intervals = engine.Intervals{Checkpoint: time.Hour, Report: time.Hour, Sync: time.Minute}
	cfg.Politeness.HostDelay, cfg.Politeness.IPDelay = hostDelay, hostDelay/2
	return cfg
}

// open opens a crawl of the web.
func (w *web) open(t testing.TB, cfg engine.Config, fsys vfs.FS) *engine.Engine {
	t.Helper()
	e, err := engine.Open(cfg, seams(t, w.net, fsys))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// crawl crawls a case in virtual time; call it inside a bubble.
func (w *web) crawl(t testing.TB, change func(*engine.Config)) report.Report {
	t.Helper()
	cfg := config(w.c.Seeds)
	change(&cfg)
	e := w.open(t, cfg, vfs.NewMem(1))
	if err := e.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := e.Report()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	return r
}

// crawlKilled is crawl with a kill after so long, and a second run from what was on disk then. The first run ends
// unheard.
func (w *web) crawlKilled(t testing.TB, after time.Duration, change func(*engine.Config)) {
	t.Helper()
	cfg := config(w.c.Seeds)
	change(&cfg)
	killed := w.runUntilKilled(t, cfg, vfs.NewMem(1), after)
	e := w.open(t, cfg, killed)
	if err := errors.Join(e.Run(t.Context()), e.Close()); err != nil {
		t.Fatal(err)
	}
}

// runUntilKilled runs a crawl for a while, and returns its disk as a kill leaves it then.
func (w *web) runUntilKilled(t testing.TB, cfg engine.Config, disk *vfs.Mem, after time.Duration) *vfs.Mem {
	t.Helper()
	e := w.open(t, cfg, disk)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	<-time.After(after)
	killed, tally := disk.KillClone(), w.copyTally()
	stop()
	if err := errors.Join(<-done, e.Close()); err != nil {
		t.Fatal(err)
	}
	w.setTally(tally)
	return killed
}
