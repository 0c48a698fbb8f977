//go:build scenario

package storage

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/simweb"
	"orbweaver/internal/vfs/faultfs"
)

// scarcity is a machine that has no file descriptors at times.
type scarcity struct {
	none atomic.Bool // none at all
	odds int         // one in so many tries fails otherwise
	err  syscall.Errno
	met  atomic.Int64
}

func (s *scarcity) fault() error {
	if s.none.Load() || rand.IntN(s.odds) == 0 {
		s.met.Add(1)
		return s.err
	}
	return nil
}

// For a quarter of an hour there is no file descriptor for a connection or a question, and all the time one in ten
// tries meets none. It is counted and said; no host is blamed, nothing is given up, and no host is asked sooner or
// twice.
func TestHostile_S12_aMachineWithoutFileDescriptorsBlamesNobodyAndGoesSlower(t *testing.T) {
	scarcely(t, syscall.EMFILE)
}

// The same without local ports: all wait in TIME_WAIT. There is one source address: they are not spread over
// more.
func TestHostile_N18_aMachineWithoutPortsBlamesNobodyAndGoesSlower(t *testing.T) {
	scarcely(t, syscall.EADDRNOTAVAIL)
}

func scarcely(t *testing.T, errno syscall.Errno) {
	for _, proxy := range []bool{true, false} {
		t.Run(fmt.Sprintf("proxy %v", proxy), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				world := testbed.SmallWorld(*testbed.FirstSeed+960, simweb.Plain())
				rig := testbed.MustRig(t, world, proxy)
				cfg := rig.Config()
				scarce := &scarcity{odds: 10, err: errno}
				rig.Net.SetLocal(scarce.fault)
				e, err := engine.Open(cfg, rig.Seams(rig.FS))
				if err != nil {
					t.Fatal(err)
				}
				done := make(chan error, 1)
				go func() { done <- e.Run(t.Context()) }()
				testbed.Wait(4 * time.Second)
				scarce.none.Store(true)
				before := scarce.met.Load()
				testbed.Wait(15 * time.Minute)
				if r := e.Report(); r.State != lifecycle.Running || !strings.HasPrefix(r.Waiting, "this machine: ") ||
					r.LocalFaults == 0 {
					t.Errorf("%s, waiting for %s, %d local faults", r.State, r.Waiting, r.LocalFaults)
				}
				if tries := scarce.met.Load() - before; tries > 16*60*int64(
					cfg.Workers.Fetchers+cfg.Workers.Resolvers,
				) {
					t.Errorf("%d tries in a quarter of an hour: it does not hold back", tries)
				}
				scarce.none.Store(false)
				r := testbed.WaitEnd(t, rig, e, done)
				testbed.JudgeSound(t, rig, cfg, testbed.Promise(cfg))
				testbed.NoSiteBlamed(t, r)
				if n := strings.Count(rig.EngineLog.String(), "no file descriptor or port for a connection"); n == 0 ||
					n > 4 {
					t.Errorf("it was said %d times", n)
				}
			})
		})
	}
}

// The disk's calls, too, meet the limit of file descriptors: the crawl pauses, so that connections give theirs back,
// and goes on.
func TestHostile_S12_aFileThatCannotBeOpenedForWantOfDescriptorsIsWaitedFor(t *testing.T) {
	seen := map[diskCall]bool{}
	for _, s := range stages(*testbed.FirstSeed + 970) {
		for c, n := range census(t, s, faultfs.Create, faultfs.Open, faultfs.List) {
			if seen[c] {
				continue
			}
			seen[c] = true
			for _, nth := range moments(c, n) {
				t.Run(
					fmt.Sprintf("%s, op %d of %s, call %d of %d", s.name, c.op, strings.ReplaceAll(c.file, "*", "N"),
						nth, n),
					func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) {
							a := newAiling(t, s)
							a.script.Add(faultfs.Rule{Op: c.op, Name: c.file, From: nth, Count: 3, Err: syscall.EMFILE})
							if err := a.start(); err != nil { // at the start no descriptor is released
								if !strings.Contains(err.Error(), "too many open files") {
									t.Fatal(err)
								}
								a.script.Clear()
								if err := a.start(); err != nil {
									t.Fatal(err)
								}
							}
							r, err := a.end()
							if err != nil {
								t.Fatal(err)
							}
							a.over(r, 0)
						})
					},
				)
			}
		}
	}
}
