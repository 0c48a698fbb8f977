package storage

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/internal/simweb"
	"orbweaver/internal/vfs"
)

// A power cut: pieces of what was written since the last sync are gone, torn, or there while others before them are
// not. bench/crash does it at each call that changes the disk.
func TestHostile_S07_aPowerCutCostsNoMoreThanWhatWasNotSynced(t *testing.T) {
	for i := range testbed.WorldSeeds() {
		seed := *testbed.FirstSeed + 700 + uint64(i)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 2))
			synctest.Test(t, func(t *testing.T) {
				killAndResume(t, seed, func(disk *vfs.Mem) *vfs.Mem { return disk.CrashClone(rng) })
			})
		})
	}
}

// SIGKILL, again and again, at any time. bench/crash does it at each call that changes the disk, and to the program
// itself.
func TestHostile_S06_aCrawlKilledAgainAndAgainEndsWithTheSameArchive(t *testing.T) {
	for i := range testbed.WorldSeeds() {
		seed := *testbed.FirstSeed + 300 + uint64(i)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { killAndResume(t, seed, testbed.Sigkill) })
		})
	}
}

func killAndResume(t *testing.T, seed uint64, death testbed.Death) {
	t.Helper()
	rig := testbed.MustRig(t, testbed.SmallWorld(seed, simweb.Faulty()), true)
	cfg := rig.Config()
	// A site that answered 503 before a kill and after it waits longer each time; the crawl is to wait for it.
	cfg.Limits.StallWait = time.Hour
	rng := rand.New(rand.NewPCG(seed, 1))
	disk, kills := rig.FS, 0
	for ; kills < 8; kills++ {
		clone, ended := testbed.Kill(t, rig, cfg, disk, time.Duration(rng.Int64N(int64(40*time.Second))), death)
		disk = clone
		if ended {
			break
		}
	}
	// what was in flight at a kill may be asked for again, and only that
	testbed.ResumeToEnd(t, rig, cfg, disk, kills*cfg.Workers.Fetchers)
}
