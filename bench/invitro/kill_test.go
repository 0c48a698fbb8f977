package invitro

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/simweb"
	"orbweaver/engine"
	"orbweaver/internal/vfs"
)

// kill lets a crawl run for a while and then takes the disk as SIGKILL would leave it at that instant, a write half
// done here and there. What the dying crawl does afterwards reaches neither the disk nor the web.
func kill(t *testing.T, rig *Rig, cfg engine.Config, fsys *vfs.Mem, after time.Duration, death death) (clone *vfs.Mem, ended bool) {
	t.Helper()
	e, err := engine.Open(cfg, rig.Seams(fsys))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- e.Run(t.Context()) }()
	timer := time.NewTimer(after)
	select {
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
		ended = true
	case <-timer.C:
	}
	clone = death(fsys)
	if err := rig.Net.Close(); err != nil {
		t.Error(err)
	}
	if !ended {
		e.Abort()
		<-done // whatever it says: it is dead
	}
	_ = e.Close()
	rig.Connect()
	return clone, ended
}

// death gives the disk as it is found afterwards.
type death func(*vfs.Mem) *vfs.Mem

func sigkill(disk *vfs.Mem) *vfs.Mem { return disk.KillClone() }

// A power cut: pieces of what was written since the last sync are gone, torn, or there while others before them are not. bench/crash does
// it at each call that changes the disk.
func TestHostile_S07_aPowerCutCostsNoMoreThanWhatWasNotSynced(t *testing.T) {
	for i := range worlds() {
		seed := *firstSeed + 700 + uint64(i)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 2))
			synctest.Test(t, func(t *testing.T) {
				killAndResume(t, seed, func(disk *vfs.Mem) *vfs.Mem { return disk.CrashClone(rng) })
			})
		})
	}
}

// SIGKILL, again and again, at any time. bench/crash does it at each call that changes the disk, and to the program itself.
func TestHostile_S06_aCrawlKilledAgainAndAgainEndsWithTheSameArchive(t *testing.T) {
	for i := range worlds() {
		seed := *firstSeed + 300 + uint64(i)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { killAndResume(t, seed, sigkill) })
		})
	}
}

func killAndResume(t *testing.T, seed uint64, death death) {
	t.Helper()
	rig, err := NewRig(smallWorld(seed, simweb.Faulty()), true)
	if err != nil {
		t.Fatal(err)
	}
	cfg := rig.Config()
	// A site that answered 503 before a kill and after it waits longer each time; the crawl is to wait for it.
	cfg.StallWait = time.Hour
	rng := rand.New(rand.NewPCG(seed, 1))
	disk, kills := rig.FS, 0
	for ; kills < 8; kills++ {
		clone, ended := kill(t, rig, cfg, disk, time.Duration(rng.Int64N(int64(40*time.Second))), death)
		disk = clone
		if ended {
			break
		}
	}
	goOn(t, rig, cfg, disk, kills*cfg.Fetchers) // what was in flight at a kill may be asked for again, and only that
}
